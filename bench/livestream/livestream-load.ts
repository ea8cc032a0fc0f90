import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { median } from "../quantile.js";
import { type AskingPlan, type AskingResult, askRepeatedly } from "../rest/rest-client.js";
import type { Scenario, ScenarioResult } from "../scenarios.js";
import { BenchProcess, pinThisProcess, SERVER_CORE } from "../stand/child-process.js";
import { cpuMs, residentBytes } from "../stand/process-usage.js";

const STREAMS = 1_000;
const ROUNDS = 3;
/** A front proxy with its connections kept. */
const PLAN: AskingPlan = { connections: 8, warmUpMs: 300, measureMs: 1_000 };
const LISTENING = /(?:listed on|listens on) (http:\/\/[\d.:]+)/;

/** Who hangs while the list is asked for. They ask for something and then neither read nor go on. */
const SLOW_CLIENTS = 200;
const SLOW_REQUESTS: readonly string[] = [
  "GET /streams HTTP/1.1\r\nhost: x\r\n\r\n",
  "GET /streams HTTP/1.1\r\nhost: x\r\n\r\n",
  "GET /streams/events HTTP/1.1\r\nhost: x\r\n\r\n",
  "POST /webhook/on-publish HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: 99\r\n\r\nname=",
];

interface ListingMeasure extends AskingResult {
  readonly cpuMicrosPerRequest: number;
}

/** GET /streams with a thousand streams, beside a server that only sends the same bytes; and while slow clients hang. */
export class LiveStreamScenario implements Scenario {
  readonly name = `${STREAMS} live streams`;

  async run(): Promise<ScenarioResult> {
    const server = await startStateApi();
    const folder = await mkdtemp(join(tmpdir(), "parley-bench-live-"));
    const file = join(folder, "streams.json");
    await publishAll(server.ready);
    await writeFile(file, await (await fetch(`${server.ready}/streams`)).text());
    const reference = await startReference(file);
    try {
      return await compare(server, reference);
    } finally {
      await reference.stop();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    }
  }
}

/** In turns, so that a slow moment of the machine meets all three. */
async function compare(server: BenchProcess, reference: BenchProcess): Promise<ScenarioResult> {
  const ours: ListingMeasure[] = [];
  const theirs: ListingMeasure[] = [];
  const besideSlow: ListingMeasure[] = [];
  const residentBefore = residentBytes(server.pid);
  let residentWithSlow = residentBefore;
  for (let round = 0; round < ROUNDS; round += 1) {
    ours.push(await measure(server));
    theirs.push(await measure(reference));
    const slow = await openSlowClients(server.ready);
    besideSlow.push(await measure(server));
    residentWithSlow = Math.max(residentWithSlow, residentBytes(server.pid));
    for (const socket of slow) socket.destroy();
  }
  const [listed, plain, beside] = [middle(ours), middle(theirs), middle(besideSlow)];
  const grownMb = Math.round((residentWithSlow - residentBefore) / 1e6);
  return {
    measurements: [
      { name: "streamsListed", measured: listed.perSecond, reference: plain.perSecond },
      { name: "streamsListedBesideSlow", measured: beside.perSecond, reference: listed.perSecond },
    ],
    details: [
      told("state API", listed),
      told("node:http with the same bytes", plain),
      `${told(`state API beside ${SLOW_CLIENTS} slow clients`, beside)}, ${grownMb} MB more`,
    ],
  };
}

function startStateApi(): Promise<BenchProcess> {
  return BenchProcess.start({
    script: "../api/livestream/main.js",
    env: { HOST: "127.0.0.1", LIVESTREAM_PORT: "0", LOG_LEVEL: "warn" },
    core: SERVER_CORE,
    readyPattern: LISTENING,
  });
}

function startReference(file: string): Promise<BenchProcess> {
  return BenchProcess.start({
    script: "livestream/plain-listing.js",
    args: [file],
    env: {},
    core: SERVER_CORE,
    readyPattern: LISTENING,
  });
}

async function publishAll(url: string): Promise<void> {
  for (let index = 0; index < STREAMS; index += 1) {
    const body = new URLSearchParams({
      name: `stream-${index}`,
      remoteAddr: `198.51.100.${index % 250}`,
    });
    const answer = await fetch(`${url}/webhook/on-publish`, { method: "POST", body });
    if (!answer.ok) throw new Error(`a stream was refused with ${answer.status}`);
  }
}

async function openSlowClients(url: string): Promise<readonly Socket[]> {
  const { hostname, port } = new URL(url);
  const sockets = Array.from({ length: SLOW_CLIENTS }, () => connect(Number(port), hostname));
  for (const [index, socket] of sockets.entries()) {
    socket.pause();
    socket.on("error", () => undefined);
    await once(socket, "connect");
    socket.write(SLOW_REQUESTS[index % SLOW_REQUESTS.length] ?? "");
  }
  return sockets;
}

async function measure({ pid, ready }: BenchProcess): Promise<ListingMeasure> {
  const cpuBeforeMs = cpuMs(pid);
  const startMs = performance.now();
  const result = await askRepeatedly({ url: ready, path: "/streams", headers: {} }, PLAN);
  const cpuShare = (cpuMs(pid) - cpuBeforeMs) / (performance.now() - startMs);
  return { ...result, cpuMicrosPerRequest: (cpuShare * 1e6) / result.perSecond };
}

function middle(measures: readonly ListingMeasure[]): ListingMeasure {
  const of = (pick: (one: ListingMeasure) => number) => median(measures.map(pick));
  return {
    perSecond: of(({ perSecond }) => perSecond),
    p50Ms: of(({ p50Ms }) => p50Ms),
    p99Ms: of(({ p99Ms }) => p99Ms),
    bodyBytes: of(({ bodyBytes }) => bodyBytes),
    cpuMicrosPerRequest: of(({ cpuMicrosPerRequest }) => cpuMicrosPerRequest),
  };
}

function told(who: string, measure: ListingMeasure): string {
  const { perSecond, p50Ms, p99Ms, bodyBytes, cpuMicrosPerRequest } = measure;
  const spread = `p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`;
  const cost = `${Math.round(cpuMicrosPerRequest)} µs CPU each`;
  return `${who}: ${Math.round(perSecond)}/s of ${Math.round(bodyBytes / 1_000)} kB, ${spread}, ${cost}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  pinThisProcess();
  const { details } = await new LiveStreamScenario().run();
  console.log(details.join("\n"));
}
