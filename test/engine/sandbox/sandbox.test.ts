import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startSandbox } from "../../../engine/sandbox/sandbox.js";
import { startSandboxThread } from "../../../engine/sandbox/start-sandbox-thread.js";
import { encodeSpeech } from "../../../engine/sandbox/telephone/tone-code.js";
import { Changes } from "../../doubles/changes.js";
import { giveUpOnceTaken, post, textIn, userSays } from "./chat-client.js";
import { RawDeepgramClient } from "./deepgram/deepgram-client.js";
import { join, silence } from "./sound.js";

const changes = new Changes();
const sandbox = await startSandbox({
  onChange: changes.tell,
  journal: true,
  faults: { groq: { firstTokenMs: 1 } },
});
const desk = `http://127.0.0.1:${sandbox.port}/sandbox`;
const key = { authorization: "Bearer any" };
after(() => sandbox.close());

function ask(base: string, text: string): ReturnType<typeof post> {
  const body = { model: "m", stream: true, messages: userSays(text) };
  return post(`${base}/chat/completions`, body, key);
}

function put(body: unknown): Promise<Response> {
  return fetch(`${desk}/faults`, { method: "PUT", body: JSON.stringify(body) });
}

test("faults are set and shown over HTTP, vendor by vendor", async () => {
  const changed = await put({ openai: { fault: "serverError", times: 1 } });

  assert.equal(changed.status, 200);
  assert.deepEqual(await (await fetch(`${desk}/faults`)).json(), { ...sandbox.faults });
  assert.deepEqual(sandbox.faults.openai, { fault: "serverError", times: 1 });
  assert.deepEqual(sandbox.faults.groq, { firstTokenMs: 1 });
  assert.equal((await ask(sandbox.urls.openai, "say hi")).status, 500);
  assert.equal((await ask(sandbox.urls.openai, "say hi")).status, 200);
});

test("a setting that does not exist is refused, and nothing is changed", async () => {
  for (const body of [
    { openai: { fault: "tired" } },
    { aol: {} },
    { edge: { firstByteMs: -1 } },
    7,
  ]) {
    const answer = await put(body);
    assert.equal(answer.status, 400, JSON.stringify(body));
    assert.match(await answer.text(), /error/);
  }
  assert.deepEqual(sandbox.faults.edge, {});
});

test("the journal records when each request arrived and when its first and last byte were sent", async () => {
  await fetch(`${desk}/journal`, { method: "DELETE" });
  const before = process.hrtime.bigint();
  await ask(sandbox.urls.groq, "say hello journal");
  const entries = sandbox.journal;
  const times = entries.map(({ atNs }) => BigInt(atNs));

  assert.deepEqual(
    entries.map(({ vendor, kind, text }) => [vendor, kind, text]),
    [
      ["groq", "request", "say hello journal"],
      ["groq", "firstByte", undefined],
      ["groq", "lastByte", undefined],
    ],
  );
  assert.equal(new Set(entries.map(({ request }) => request)).size, 1);
  assert.ok(times.every((time, n) => time >= (times[n - 1] ?? before)));
  assert.deepEqual(await (await fetch(`${desk}/journal`)).json(), [...entries]);
});

test("the journal records what a stream of speech received, and when its last sound arrived", async () => {
  await fetch(`${desk}/journal`, { method: "DELETE" });
  const client = await RawDeepgramClient.open(sandbox.urls.deepgram);
  client.hear(join(encodeSpeech("hello", 16_000), silence(300, 16_000)));
  await client.finish();
  await changes.until("the close", () => sandbox.journal.at(-1)?.kind === "closed");
  const entries = sandbox.journal.filter(
    ({ kind, text }) => kind !== "event" || text !== "interim: hello",
  );
  const lastSpeech = entries.find(({ kind }) => kind === "lastSpeech");
  const told = entries.find(({ text }) => text === "speech_final: hello");

  assert.deepEqual(
    entries.map(({ kind, text }) => text ?? kind),
    ["opened", "SpeechStarted", "lastSpeech", "speech_final: hello", "closed"],
  );
  assert.ok(BigInt(lastSpeech?.atNs ?? 0) < BigInt(told?.atNs ?? 0));
});

test("a request that the client gives up is noted as aborted", async () => {
  const url = `${sandbox.urls.openai}/chat/completions`;
  sandbox.faults.openai = { fault: "stallBeforeFirstByte", times: 1 };
  await giveUpOnceTaken(
    () => sandbox.faults.openai,
    (signal) => post(url, { model: "m", messages: userSays("x") }, key, { signal }),
  );
  await changes.until("its end", () => sandbox.journal.at(-1)?.kind === "aborted");

  assert.equal(sandbox.journal.at(-1)?.vendor, "openai");
});

test("an unknown path is 404, and connections are counted", async () => {
  assert.equal((await fetch(`http://127.0.0.1:${sandbox.port}/unknown`)).status, 404);
  assert.equal((await fetch(`${desk}/unknown`)).status, 404);
  assert.ok(sandbox.openConnections >= 1);
  const overview = await (await fetch(`${desk}/`)).text();
  assert.ok(overview.includes(sandbox.urls.edge));
});

test("a closed sandbox holds nothing", async () => {
  const faults = { openai: { fault: "stallBeforeFirstByte" } } as const;
  const opened = new Changes();
  const other = await startSandbox({ faults, onChange: opened.tell });
  const stalled = assert.rejects(ask(other.urls.openai, "say hi"));
  await opened.until("the connection", () => other.openConnections > 0);
  await other.close();
  await stalled;

  assert.equal(other.openConnections, 0);
});

test("it runs in a thread", async () => {
  const thread = await startSandboxThread({ faults: {} });
  const answer = await ask(thread.urls.openai, "say hello from the thread");
  await thread.close();

  assert.equal(textIn(answer.body), "hello from the thread");
  await assert.rejects(ask(thread.urls.openai, "say hi"));
});

test("it runs as a process, prints its addresses in one line, and ends on SIGTERM", async () => {
  const main = fileURLToPath(new URL("../../../engine/sandbox/main.js", import.meta.url));
  const env = { ...process.env, SANDBOX_FAULTS: '{"groq":{"fault":"overloaded"}}' };
  const child: ChildProcess = spawn(process.execPath, [main, "0"], { env });
  assert.ok(child.stdout !== null);
  const [line] = await once(createInterface(child.stdout), "line");
  const { urls } = JSON.parse(String(line));
  const healthy = await ask(urls.openai, "say hello process");
  const busy = await ask(urls.groq, "say hello process");
  child.kill("SIGTERM");
  const [code] = await once(child, "exit");

  assert.equal(textIn(healthy.body), "hello process");
  assert.equal(busy.status, 503);
  assert.equal(code, 0);
});
