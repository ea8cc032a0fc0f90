import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Sandbox, startSandbox } from "../../engine/sandbox/sandbox.js";
import { samplesOf } from "../../engine/sandbox/telephone/telephone-audio.js";
import { decodeSpeech } from "../../engine/sandbox/telephone/tone-code.js";

const VISIT = fileURLToPath(new URL("./secure-visit.js", import.meta.url));
const run = promisify(execFile);

let sandbox: Sandbox;
let folder: string;
let caFile: string;
before(async () => {
  sandbox = await startSandbox({ apiKey: "good", tls: true });
  folder = await mkdtemp(join(tmpdir(), "parley-sdks-"));
  caFile = join(folder, "ca.pem");
  await writeFile(caFile, sandbox.caCertificate ?? "");
});
after(async () => {
  await sandbox.close();
  await rm(folder, { recursive: true });
});

/** What the vendor's SDK tells of the simulator, unchanged and over TLS. */
async function visit(vendor: "assemblyai" | "cartesia", key = "good"): Promise<unknown> {
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: caFile };
  const { stdout } = await run(process.execPath, [VISIT, vendor, sandbox.urls[vendor], key], {
    env,
  });
  return JSON.parse(stdout);
}

test("AssemblyAI's SDK hears the words of a turn, and when it is over", async () => {
  assert.deepEqual(await visit("assemblyai"), { type: "Begin", ends: ["Where is my order?"] });
});

test("AssemblyAI's SDK is told that its key is wrong", async () => {
  const { failed } = Object(await visit("assemblyai", "bad"));
  assert.match(failed, /401/);
});

test("Cartesia's SDK speaks pieces of a sentence in one context, with the times of its words", async () => {
  const { words, audio } = Object(await visit("cartesia"));
  assert.deepEqual(words, ["Your", "table", "is", "booked."]);
  const pcm = Buffer.concat(audio.map((data: string) => Buffer.from(data, "base64")));
  assert.equal(decodeSpeech(samplesOf(pcm), 24_000), "Your table is booked.");
});
