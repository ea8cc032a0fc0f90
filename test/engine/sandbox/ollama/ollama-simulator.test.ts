import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import * as v from "valibot";
import { noFaults } from "../../../../engine/sandbox/faults.js";
import { startSandbox } from "../../../../engine/sandbox/sandbox.js";
import { type ChatAnswer, post, userSays } from "../chat-client.js";

const sandbox = await startSandbox({ apiKey: "not asked for" });
const { faults, urls } = sandbox;
after(() => sandbox.close());
beforeEach(() => Object.assign(faults, noFaults()));

const Line = v.looseObject({
  message: v.optional(v.object({ role: v.string(), content: v.string() })),
  done: v.optional(v.boolean()),
  done_reason: v.optional(v.string()),
  eval_count: v.optional(v.number()),
  error: v.optional(v.string()),
});

function ask(more: object = {}): Promise<ChatAnswer> {
  const body = { model: "llama3.2", messages: userSays("say a b c d e f"), ...more };
  return post(`${urls.ollama}/api/chat`, body);
}

function linesIn(body: string): v.InferOutput<typeof Line>[] {
  const lines = body.split("\n").filter((line) => line !== "");
  return lines.map((line) => v.parse(v.pipe(v.string(), v.parseJson(), Line), line));
}

test("the response is lines of JSON, without a key, and streams by default", async () => {
  const { headers, body } = await ask();
  const lines = linesIn(body);
  const whole = linesIn((await ask({ stream: false })).body);

  assert.equal(headers.get("content-type"), "application/x-ndjson");
  assert.equal(lines.map(({ message }) => message?.content ?? "").join(""), "a b c d e f");
  assert.deepEqual(
    lines.map(({ done }) => done),
    [false, false, false, false, false, false, true],
  );
  assert.equal(lines.at(-1)?.done_reason, "stop");
  assert.equal(lines.at(-1)?.eval_count, 6);
  assert.equal(whole.length, 1);
  assert.equal(whole[0]?.message?.content, "a b c d e f");
});

test("num_predict cuts the answer; a zero counter is left out", async () => {
  const short = linesIn((await ask({ options: { num_predict: 2 } })).body);
  faults.ollama = { fault: "emptyReply" };
  const empty = linesIn((await ask()).body);

  assert.equal(short.at(-1)?.done_reason, "length");
  assert.equal(short.length, 3);
  assert.equal(empty.length, 1);
  assert.equal(empty[0]?.eval_count, undefined);
});

test("no messages load the model", async () => {
  assert.equal(linesIn((await ask({ messages: [] })).body)[0]?.done_reason, "load");
});

test("the small requests of a set-up page are answered", async () => {
  assert.equal(await (await fetch(`${urls.ollama}/`)).text(), "Ollama is running");
  assert.equal((await fetch(`${urls.ollama}/api/tags`)).status, 200);
  assert.equal((await fetch(`${urls.ollama}/api/version`)).status, 200);
  assert.equal((await fetch(`${urls.ollama}/api/other`)).status, 404);
});

test("faults: unknown model, busy, a line that is an error, an end without done", async () => {
  faults.ollama = { fault: "notFound", times: 1 };
  assert.equal((await ask()).status, 404);
  faults.ollama = { fault: "overloaded", times: 1 };
  assert.equal((await ask()).status, 503);
  faults.ollama = { fault: "errorMidStream", times: 1 };
  assert.ok((linesIn((await ask()).body).at(-1)?.error ?? "") !== "");
  faults.ollama = { fault: "endWithoutDone", times: 1 };
  assert.ok(linesIn((await ask()).body).every(({ done }) => done === false));
  faults.ollama = { fault: "garbageJson", times: 1 };
  const { body } = await ask();
  assert.throws(() => linesIn(body));
  assert.equal((await ask({ model: 7 })).status, 400);
});
