import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { parseConfig } from "../../config.js";
import { type Sandbox, startSandbox } from "../../engine/sandbox/sandbox.js";
import { startParley } from "../../parley.js";
import { SilentLogger } from "../../test/doubles/silent-logger.js";

const Providers = v.array(
  v.object({ _id: v.string(), category: v.string(), providerKey: v.string() }),
);
const Made = v.object({ _id: v.string() });

/** A server of its own with vendors of its own: what one trial has broken is not broken for the next. */
export interface FaultStand {
  readonly url: string;
  readonly apiKey: string;
  readonly agentId: string;
  readonly sandbox: Sandbox;
  close(): Promise<void>;
}

/** Its agent has one vendor of each kind, and one that stands in for it unless `isAlone`. */
export async function startFaultStand(isAlone: boolean): Promise<FaultStand> {
  const sandbox = await startSandbox();
  const dataDir = await mkdtemp(join(tmpdir(), "parley-faults-"));
  const { urls } = sandbox;
  const environment = {
    NODE_ENV: "development",
    HOST: "127.0.0.1",
    PORT: "0",
    DATA_DIR: dataDir,
    SANDBOX: "off",
    SANDBOX_VOICE: "tones",
    LOG_LEVEL: "silent",
    EVENT_LOOP_DELAY_MAX_MS: "0",
    SPEECH_CACHE_MB: "0",
    VOICE_CONNECTIONS_PER_MINUTE: "1000000",
    DEEPGRAM_API_KEY: "faults",
    ASSEMBLYAI_API_KEY: "faults",
    OPENAI_API_KEY: "faults",
    GROQ_API_KEY: "faults",
    ELEVENLABS_API_KEY: "faults",
    DEEPGRAM_URL: urls.deepgram,
    ASSEMBLYAI_URL: urls.assemblyai,
    OPENAI_BASE_URL: urls.openai,
    GROQ_BASE_URL: urls.groq,
    ELEVENLABS_BASE_URL: urls.elevenlabs,
    EDGE_TTS_URL: urls.edge,
  };
  const parley = await startParley(parseConfig(environment), new SilentLogger());
  await parley.calls.warm;
  const url = `http://127.0.0.1:${parley.port}`;
  const apiKey = parley.demo?.apiKey ?? "";
  const agentId = await createAgent(url, apiKey, isAlone);
  const close = async () => {
    await parley.stop(0);
    await sandbox.close();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { url, apiKey, agentId, sandbox, close };
}

async function createAgent(url: string, apiKey: string, isAlone: boolean): Promise<string> {
  const headers = { "x-api-key": apiKey, "content-type": "application/json" };
  const listed = await fetch(`${url}/api/dashboard/providers`, { headers });
  const providers = v.parse(Providers, await listed.json());
  const idOf = (category: string, key: string) =>
    providers.find((each) => each.category === category && each.providerKey === key)?._id;
  const fallbacks = {
    llm: [{ providerId: idOf("llm", "groq"), modelId: "openai/gpt-oss-20b" }],
    tts: [{ providerId: idOf("tts", "edge"), modelId: "en-US-AriaNeural" }],
    stt: [{ providerId: idOf("stt", "assemblyai") }],
  };
  const body = JSON.stringify({
    name: "Faults",
    persona: { greeting: "" },
    llmProviderId: idOf("llm", "openai"),
    llmModelId: "gpt-6-luna",
    ttsProviderId: idOf("tts", "elevenlabs"),
    ttsModelId: "eleven_flash_v2_5",
    sttProviderId: idOf("stt", "deepgram"),
    sttModelId: "nova-3",
    // What the agent says while it waits would be taken for its answer.
    thresholds: { fillerAfterMs: 0, idleTimeoutMs: 0, endpointingMs: 100 },
    ...(isAlone ? {} : { fallbacks }),
  });
  const answer = await fetch(`${url}/api/dashboard/agents`, { method: "POST", headers, body });
  if (!answer.ok) throw new Error(`no agent: ${answer.status} ${await answer.text()}`);
  return v.parse(Made, await answer.json())._id;
}
