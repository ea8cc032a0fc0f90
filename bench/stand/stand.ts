import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { urlsAt } from "../../engine/sandbox/sandbox-urls.js";
import { readDemo } from "../../engine/tenancy/seeding/demo-file.js";
import { BenchProcess, LOAD_CORE, SERVER_CORE } from "./child-process.js";

const SandboxUrls = v.object({
  deepgram: v.string(),
  openai: v.string(),
  groq: v.string(),
  ollama: v.string(),
  elevenlabs: v.string(),
  edge: v.string(),
});
const SandboxReady = v.object({ urls: SandboxUrls, port: v.number() });

interface VendorAddresses {
  readonly urls: v.InferOutput<typeof SandboxUrls>;
  /** PEM file of the authority that the addresses with TLS need; undefined for those without. */
  readonly caFile?: string;
}

/** The simulated vendors, in their own process. */
export interface VendorStand extends VendorAddresses {
  /** The same vendors over TLS. */
  readonly tls: VendorAddresses;
  /** Where the sandbox's own pages are: its journal and its faults. */
  readonly deskUrl: string;
  readonly process: BenchProcess;
}

/** What callers are pointed at: Parley or the reference relay. */
export interface ServerStand {
  readonly url: string;
  readonly apiKey: string;
  readonly process: BenchProcess;
  /** Where its data is; undefined for the relay, which has none. */
  readonly dataDir?: string;
  /** With which the telephone company signs its requests; undefined where the server checks no signature. */
  readonly twilioAuthToken?: string | undefined;
  /** Other servers that have a part of its callers, and are measured with it. */
  readonly besides?: readonly ServerStand[];
  close(): Promise<void>;
}

/** An inspector that listens and is not used costs nothing; it is asked for full collections. */
const INSPECTED = ["--inspect=127.0.0.1:0"];
const NO_LIMIT = "1000000";
/** How fast something starts is measured elsewhere; here other work may hold it up. */
export const READY_MAX_MS = 120_000;

const CA_FILE = join(tmpdir(), `parley-bench-${process.pid}-ca.pem`);
process.once("exit", () => rmSync(CA_FILE, { force: true }));

/** The vendors as they are reached in production. */
export function overTls(vendors: VendorStand): VendorStand {
  return { ...vendors, ...vendors.tls };
}

/** Vendors without delays. One stand at a time: those with TLS share the file of the authority. */
export async function startVendors(): Promise<VendorStand> {
  const process = await BenchProcess.start({
    script: "../engine/sandbox/main.js",
    env: { SANDBOX_JOURNAL: "1", SANDBOX_TLS: CA_FILE },
    core: LOAD_CORE,
    readyMaxMs: READY_MAX_MS,
    readyPattern: /^(\{.*\})$/,
  });
  const { urls, port } = v.parse(v.pipe(v.string(), v.parseJson(), SandboxReady), process.ready);
  const plain = urlsAt(`127.0.0.1:${port}`);
  return { urls: plain, tls: { urls, caFile: CA_FILE }, deskUrl: plain.desk, process };
}

export function serverEnvironment(
  dataDir: string,
  urls: VendorStand["urls"],
): Readonly<Record<string, string>> {
  return {
    NODE_ENV: "development",
    HOST: "127.0.0.1",
    PORT: "0",
    DATA_DIR: dataDir,
    LOG_LEVEL: "warn",
    HTTP_BACKEND: process.env["HTTP_BACKEND"] ?? "auto",
    SANDBOX: "off",
    SANDBOX_VOICE: "tones",
    VOICE_CONNECTIONS_PER_MINUTE: NO_LIMIT,
    REQUESTS_PER_MINUTE: NO_LIMIT,
    // A busy machine is to show in the numbers, not in calls that are refused.
    EVENT_LOOP_DELAY_MAX_MS: "0",
    DEEPGRAM_API_KEY: "bench",
    OPENAI_API_KEY: "bench",
    ELEVENLABS_API_KEY: "bench",
    DEEPGRAM_URL: urls.deepgram,
    OPENAI_BASE_URL: urls.openai,
    GROQ_BASE_URL: urls.groq,
    OLLAMA_BASE_URL: urls.ollama,
    ELEVENLABS_BASE_URL: urls.elevenlabs,
    EDGE_TTS_URL: urls.edge,
  };
}

/** As `npm start` has them: docs/decisions/007-garbage-collection.md. */
export const SERVER_FLAGS = [
  "--v8-pool-size=1",
  "--max-semi-space-size=8",
  "--heap-growing-percent=50",
  "--max-inlined-bytecode-size-cumulative=300",
];

/** The whole server as it is shipped, on a database of its own. */
export async function startServerStand(
  { urls, caFile }: VendorStand,
  nodeFlags: readonly string[] = INSPECTED,
  more: Readonly<Record<string, string>> = {},
): Promise<ServerStand> {
  const dataDir = await mkdtemp(join(tmpdir(), "parley-bench-"));
  const process = await BenchProcess.start({
    script: "../main.js",
    nodeFlags: [...nodeFlags, ...SERVER_FLAGS],
    env: {
      ...serverEnvironment(dataDir, urls),
      ...(caFile === undefined ? {} : { VENDOR_CA_FILE: caFile }),
      ...more,
    },
    core: SERVER_CORE,
    readyMaxMs: READY_MAX_MS,
    readyPattern: /listens on (\S+)/,
  });
  const demo = await readDemo(dataDir);
  if (demo === undefined) throw new Error("the server made no demo organization");
  return {
    url: process.ready,
    apiKey: demo.apiKey,
    process,
    dataDir,
    twilioAuthToken: more["TWILIO_AUTH_TOKEN"],
    async close() {
      await process.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export async function startRelayStand(
  { urls, caFile }: VendorStand,
  nodeFlags: readonly string[] = INSPECTED,
  script = "load/reference-relay.js",
): Promise<ServerStand> {
  const process = await BenchProcess.start({
    script,
    nodeFlags,
    env: {
      DEEPGRAM_URL: urls.deepgram,
      OPENAI_BASE_URL: urls.openai,
      ELEVENLABS_BASE_URL: urls.elevenlabs,
      ...(caFile === undefined ? {} : { NODE_EXTRA_CA_CERTS: caFile }),
    },
    core: SERVER_CORE,
    readyPattern: /listens on (\S+)/,
  });
  return { url: process.ready, apiKey: "bench", process, close: () => process.stop() };
}
