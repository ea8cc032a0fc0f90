import { randomUUID } from "node:crypto";
import { setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import * as v from "valibot";
import { type SandboxUrls, urlsAt } from "../../../engine/sandbox/sandbox-urls.js";
import { freePorts } from "../../livestream/free-ports.js";
import { quantile } from "../../quantile.js";
import { BenchProcess, LOAD_CORE, SERVER_CORE } from "../../stand/child-process.js";
import { waitedForCoreMs } from "../../stand/process-usage.js";
import type { Attack } from "../attack.js";
import type { AttackStand } from "../attack-stand.js";
import type { AttackedServer } from "../attacked-server.js";
import type { Findings } from "../findings.js";
import { newOrganization } from "../operator.js";

const MEASURED_CALLERS = 20;
const GREEDY_CALLERS = 100;
/** As many as a model may ask for at once. */
const TOOLS = "abcdefgh";
const SILENT_AGENTS = 4;
const QUICK_AGENTS = 20;
const WARM_UP_MS = 10_000;
const RAMP_MS = 10_000;
const MEASURE_MIN_MS = 20_000;
/** Alone before, beside, and alone after. */
const PHASES = 3;
/** Fewer turns do not tell a p99. */
const TURNS_MIN = 100;
const SHARE_MAX = 1.2;
/** Two frames of 20 ms: sound moves in frames, and a turn that falls behind by one or two was not starved. */
const FLOOR_MS = 40;
/** A machine on which other work takes so much of the server's core measures that work. */
const BUSY_SHARE_MAX = 0.05;
/** The greedy organization's callers and vendors give way to those that measure: what is measured is the server. */
const GREEDY_NICE = 19;

const MODELS = {
  llm: { providerKey: "openai", modelId: "gpt-6-luna" },
  tts: { providerKey: "openai", modelId: "tts-1" },
  stt: { providerKey: "deepgram", modelId: "nova-3" },
} as const;
const Made = v.object({ _id: v.string() });
const Providers = v.array(
  v.object({ _id: v.string(), category: v.string(), providerKey: v.string() }),
);
const Listening = v.object({ port: v.number() });

export const TENANT_STARVATION: Attack = {
  name: "tenant-starvation",
  promise:
    "beside an organization with a hundred calls that use up its shares, another one's first sound comes at p99 at most 20 % and 40 ms later than alone",
  weight: 4,
  sampleMs: undefined,
  async run(stand, findings) {
    const [platform, own] = [await startVendors(stand), await startVendors(stand)];
    setPriority(own.process.pid, GREEDY_NICE);
    const server = await stand.server({ urls: platform.urls, core: SERVER_CORE });
    const measured = await startMeasured(stand, server);
    await sleep(WARM_UP_MS);
    const measureMs = Math.max(MEASURE_MIN_MS, stand.timeMs / PHASES);
    const waitedMs = waitedForCoreMs(server.process.pid);
    const alone = [...(await measured.during(measureMs))];
    const waitedShare = (waitedForCoreMs(server.process.pid) - waitedMs) / measureMs;
    const greedy = await startGreedy(stand, server, own.urls);
    await sleep(RAMP_MS);
    const beside = await measured.during(measureMs);
    const lost = greedy.lost.length;
    await greedy.process.kill();
    await sleep(RAMP_MS);
    alone.push(...(await measured.during(measureMs)));
    judge(findings, alone, beside, waitedShare);
    findings.demand(measured.missed.length === 0, measured.missed[0] ?? "");
    findings.tell(`${lost} of ${GREEDY_CALLERS} greedy calls lost`);
  },
};

function judge(
  findings: Findings,
  alone: readonly number[],
  beside: readonly number[],
  waitedShare: number,
): void {
  const enough = alone.length >= TURNS_MIN && beside.length >= TURNS_MIN;
  findings.demand(enough, "too few turns were answered to tell a p99");
  const [aloneMs, besideMs] = [quantile(alone, 0.99), quantile(beside, 0.99)];
  const maxMs = aloneMs * SHARE_MAX + FLOOR_MS;
  if (waitedShare > BUSY_SHARE_MAX) {
    const percent = Math.round(100 * waitedShare);
    findings.skip(`the server waited for its core ${percent} % of the time that it was alone`);
  } else {
    findings.demand(besideMs <= maxMs, "the first sound came too late beside the greedy calls");
  }
  const told = (values: readonly number[]) =>
    [0.5, 0.95, 0.99].map((share) => Math.round(quantile(values, share))).join("/");
  findings.tell(`first sound p50/p95/p99: alone ${told(alone)} ms of ${alone.length} turns`);
  findings.tell(`beside ${told(beside)} ms of ${beside.length}`);
}

/** Vendors with the delays of an ordinary day, in a process of their own. */
async function startVendors(stand: AttackStand) {
  const process = await BenchProcess.start({
    script: "../engine/sandbox/main.js",
    env: { SANDBOX_LIFELIKE: "1" },
    core: LOAD_CORE,
    readyPattern: /^(\{.*\})$/,
  });
  stand.after(() => process.stop());
  const { port } = v.parse(v.pipe(v.string(), v.parseJson(), Listening), process.ready);
  return { urls: urlsAt(`127.0.0.1:${port}`), process };
}

/** Callers of the first organization, whose turns are told as they happen. */
async function startMeasured(stand: AttackStand, server: AttackedServer) {
  const agentId = await agentOf(server, server.apiKey, await globalProviders(server), []);
  let turns: number[] = [];
  const missed: string[] = [];
  const process = await BenchProcess.start({
    script: "attack/tenants/turn-callers.js",
    env: {
      URL: server.url,
      API_KEY: server.apiKey,
      AGENT_ID: agentId,
      CALLERS: String(MEASURED_CALLERS),
    },
    core: LOAD_CORE,
    readyPattern: /^(ready)$/,
    onLine: (line) => {
      const [, ms] = /^turn (\S+)$/.exec(line) ?? [];
      if (ms !== undefined) turns.push(Number(ms));
      else if (line.startsWith("missed")) missed.push(line);
    },
  });
  stand.after(() => process.kill());
  return {
    missed,
    /** The ms of each turn that is answered meanwhile. */
    async during(timeMs: number): Promise<readonly number[]> {
      turns = [];
      await sleep(timeMs);
      return turns;
    },
  };
}

async function startGreedy(stand: AttackStand, server: AttackedServer, urls: SandboxUrls) {
  const apiKey = await newOrganization(server);
  const [port = 0] = await freePorts(1);
  const providers = await ownProviders(server, apiKey, urls);
  const agentIds: string[] = [];
  for (let agent = 0; agent < SILENT_AGENTS + QUICK_AGENTS; agent += 1) {
    const path = agent < SILENT_AGENTS ? "silent" : "quick";
    const origin = (tool: number) => `http://127.1.${agent}.${tool + 1}:${port}/${path}`;
    const tools = Array.from(TOOLS, (name, tool) => ({
      type: "http",
      name,
      description: "Asks a service.",
      parameters: { type: "object", properties: {} },
      url: origin(tool),
      method: "POST",
    }));
    agentIds.push(await agentOf(server, apiKey, providers, tools));
  }
  const lost: string[] = [];
  const process = await BenchProcess.start({
    script: "attack/tenants/greedy-callers.js",
    env: {
      URL: server.url,
      API_KEY: apiKey,
      AGENT_IDS: agentIds.join(","),
      PORT: String(port),
      CALLERS: String(GREEDY_CALLERS),
      TOOL_NAMES: TOOLS.split("").join(" "),
    },
    core: LOAD_CORE,
    readyPattern: /^(ready)$/,
    onLine: (line) => {
      if (line.startsWith("lost")) lost.push(line);
    },
  });
  setPriority(process.pid, GREEDY_NICE);
  stand.after(() => process.kill());
  return { process, lost };
}

type ProviderIds = Readonly<Record<keyof typeof MODELS, string>>;

async function globalProviders(server: AttackedServer): Promise<ProviderIds> {
  const all = await server.read(Providers, "GET", "/api/dashboard/providers");
  const idOf = (part: keyof typeof MODELS) =>
    all.find(
      ({ category, providerKey }) => category === part && providerKey === MODELS[part].providerKey,
    )?._id ?? "";
  return { llm: idOf("llm"), tts: idOf("tts"), stt: idOf("stt") };
}

async function ownProviders(
  server: AttackedServer,
  apiKey: string,
  { openai, deepgram }: SandboxUrls,
): Promise<ProviderIds> {
  const made = async (category: keyof typeof MODELS, baseUrl: string) => {
    const { providerKey, modelId } = MODELS[category];
    const body = {
      category,
      providerKey,
      name: `Greedy ${randomUUID()}`,
      models: [{ modelId, label: modelId }],
      settings: { baseUrl },
      credentials: { apiKey: "a-key" },
    };
    const path = "/api/dashboard/providers";
    return (await server.read(Made, "POST", path, { apiKey, body }))._id;
  };
  const [llm, tts] = [await made("llm", openai), await made("tts", openai)];
  return { llm, tts, stt: await made("stt", deepgram) };
}

async function agentOf(
  server: AttackedServer,
  apiKey: string,
  { llm, tts, stt }: ProviderIds,
  tools: readonly object[],
): Promise<string> {
  const body = {
    name: "Starvation",
    llmProviderId: llm,
    llmModelId: MODELS.llm.modelId,
    ttsProviderId: tts,
    ttsModelId: MODELS.tts.modelId,
    sttProviderId: stt,
    persona: { greeting: "" },
    thresholds: { endpointingMs: 100, fillerAfterMs: 0, idleTimeoutMs: 0 },
    tools,
  };
  return (await server.read(Made, "POST", "/api/dashboard/agents", { apiKey, body }))._id;
}
