import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { WebSocket } from "ws";
import type { SandboxUrls } from "../../../engine/sandbox/sandbox-urls.js";
import { userSays } from "./chat-client.js";

const MAIN = fileURLToPath(new URL("../../../engine/sandbox/main.js", import.meta.url));
const HEADERS = { authorization: "Bearer any", "xi-api-key": "any" };

let child: ChildProcess;
let folder: string;
let ca: string;
let urls: SandboxUrls;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-sandbox-"));
  const caFile = join(folder, "ca.pem");
  const env = { ...process.env, SANDBOX_TLS: caFile };
  child = spawn(process.execPath, [MAIN, "0"], { env });
  assert.ok(child.stdout !== null);
  const [line] = await once(createInterface(child.stdout), "line");
  ({ urls } = JSON.parse(String(line)));
  ca = await readFile(caFile, "utf8");
});
after(async () => {
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  assert.deepEqual(await exited, [0, null]);
  await rm(folder, { recursive: true });
});

async function post(url: string, body: object, trusted?: string): Promise<Buffer> {
  const sent = request(url, { method: "POST", headers: HEADERS, ca: trusted, agent: false });
  sent.end(JSON.stringify(body));
  const [answer]: IncomingMessage[] = await once(sent, "response");
  assert.equal(answer?.statusCode, 200);
  return Buffer.concat(await answer.toArray());
}

const hello = (stream: boolean) => ({ model: "m", stream, messages: userSays("say hello tls") });

test("a sandbox with TLS answers whole and in events over it", async () => {
  const whole = await post(`${urls.openai}/chat/completions`, hello(false), ca);
  assert.match(whole.toString(), /"hello tls"/);
  const events = await post(`${urls.groq}/chat/completions`, hello(true), ca);
  assert.match(events.toString(), /data: \[DONE\]/);
  const path = "/v1/text-to-speech/21m00Tcm4TlvDq8ikWAM/stream?output_format=ulaw_8000";
  const sound = await post(`${urls.elevenlabs}${path}`, { text: "hi" }, ca);
  assert.ok(sound.length > 1_000);
});

test("it takes WebSockets over TLS", async () => {
  const url = `${urls.deepgram}/v1/listen?model=nova-3&language=en&encoding=mulaw&sample_rate=8000`;
  const socket = new WebSocket(url, { ca, headers: { authorization: "Token any" } });
  await once(socket, "open");
  socket.send(JSON.stringify({ type: "CloseStream" }));
  const [message] = await once(socket, "message");
  assert.equal(JSON.parse(String(message)).type, "Metadata");
  socket.terminate();
});

test("its certificate is not trusted without its authority", async () => {
  const refused = { code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE" };
  await assert.rejects(post(`${urls.openai}/chat/completions`, hello(false)), refused);
});

test("its own pages need no certificate", async () => {
  assert.match(urls.desk, /^http:/);
  assert.equal((await fetch(`${urls.desk}/faults`)).status, 200);
});
