import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { ClientTools } from "../../../api/voice/web-leg.js";

const PENDING_MAX = 16;
const RESULT_MAX_BYTES = 16 * 1024;
const RESULT_DEPTH_MAX = 32;
const SHOW = { name: "show", arguments: { page: 2 } };

function offering(...names: readonly string[]) {
  const sent: string[] = [];
  const tools = new ClientTools((message) => sent.push(message));
  tools.offer(names);
  return { sent, tools, stop: new AbortController() };
}

const result = (id: number, rest: object) => ({ type: "toolResult", id, ...rest }) as const;

test("results find the calls that they are for, in whatever order they come", async () => {
  const { sent, tools, stop } = offering("show", "hide");
  const first = tools.use(SHOW, stop.signal);
  const second = tools.use({ name: "hide", arguments: {} }, stop.signal);
  assert.equal(tools.take(result(2, { error: "it is not shown" })), undefined);
  assert.equal(tools.take(result(1, { result: [1] })), undefined);
  assert.deepEqual([await first, await second], [{ result: [1] }, { error: "it is not shown" }]);
  assert.deepEqual(sent, [
    '{"type":"toolCall","id":1,"name":"show","arguments":{"page":2}}',
    '{"type":"toolCall","id":2,"name":"hide","arguments":{}}',
  ]);
});

test("a tool that the client does not offer, or offers no longer, fails immediately", async () => {
  const { sent, tools, stop } = offering("hide");
  const refusal = { error: "the caller's page does not offer this" };
  assert.deepEqual(await tools.use(SHOW, stop.signal), refusal);
  tools.offer(["show"]);
  const used = tools.use(SHOW, stop.signal);
  tools.offer([]);
  assert.deepEqual(await tools.use(SHOW, stop.signal), refusal);
  tools.take(result(1, { result: "it was offered then" }));
  assert.deepEqual(await used, { result: "it was offered then" });
  assert.equal(sent.length, 1);
});

test("a client has 16 calls under way at most; the next fails at once, until one is done", async () => {
  const { sent, tools, stop } = offering("show");
  const used = Array.from({ length: PENDING_MAX }, () => tools.use(SHOW, stop.signal));
  const refusal = { error: "the caller's page has too many tools running" };
  assert.deepEqual(await tools.use(SHOW, stop.signal), refusal);
  assert.equal(sent.length, PENDING_MAX);
  tools.take(result(1, {}));
  assert.deepEqual(await used[0], { result: undefined });
  used.push(tools.use(SHOW, stop.signal));
  assert.equal(sent.length, PENDING_MAX + 1);
  stop.abort();
  await Promise.allSettled(used);
});

test("a result has at most 16 KiB; a longer one is an error for client and LLM, and is dropped", async () => {
  const { tools, stop } = offering("show");
  const longest = "x".repeat(RESULT_MAX_BYTES - 2);
  const fits = tools.use(SHOW, stop.signal);
  assert.equal(tools.take(result(1, { result: longest })), undefined);
  assert.deepEqual(await fits, { result: longest });
  const tooLong = tools.use(SHOW, stop.signal);
  const fault = tools.take(result(2, { result: `${longest}x` }));
  assert.equal(fault, "result: expected at most 16384 bytes of JSON");
  const error = "the caller's page returned more than 16384 bytes";
  assert.deepEqual(await tooLong, { error });
});

test("a result may be nested to the limit; a deeper one is an error", async () => {
  const { tools, stop } = offering("show");
  const nested = (depth: number) => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`);
  const fits = tools.use(SHOW, stop.signal);
  assert.equal(tools.take(result(1, { result: nested(RESULT_DEPTH_MAX) })), undefined);
  assert.deepEqual(await fits, { result: nested(RESULT_DEPTH_MAX) });
  const error = "the caller's page returned JSON nested more than 32 deep";
  // As deep as a frame has room for: serializing it as JSON would overflow the stack.
  for (const [id, depth] of [
    [2, RESULT_DEPTH_MAX + 1],
    [3, RESULT_MAX_BYTES - 100],
  ] as const) {
    const tooDeep = tools.use(SHOW, stop.signal);
    const fault = tools.take(result(id, { result: nested(depth) }));
    assert.equal(fault, "result: expected JSON nested at most 32 deep");
    assert.deepEqual(await tooDeep, { error });
  }
});

test("nothing listens to the turn any more when the page has answered", async () => {
  const { tools, stop } = offering("show");
  const used = tools.use(SHOW, stop.signal);
  assert.equal(getEventListeners(stop.signal, "abort").length, 1);
  tools.take(result(1, {}));
  await used;
  assert.equal(getEventListeners(stop.signal, "abort").length, 0);
});

test("a call that is stopped is forgotten: its place is free, and its late result does no harm", async () => {
  const { tools, stop } = offering("show");
  const used = Array.from({ length: PENDING_MAX }, () => tools.use(SHOW, stop.signal));
  stop.abort();
  for (const { status } of await Promise.allSettled(used)) assert.equal(status, "rejected");
  assert.equal(tools.take(result(1, { result: "too late" })), undefined);
  await assert.rejects(tools.use(SHOW, stop.signal));
  const next = tools.use(SHOW, new AbortController().signal);
  tools.take(result(PENDING_MAX + 1, { result: "in time" }));
  tools.take(result(PENDING_MAX + 1, { result: "twice" }));
  assert.deepEqual(await next, { result: "in time" });
});

test("a result without a pending call is an error", () => {
  const { tools } = offering("show");
  assert.equal(tools.take(result(1, { result: 1 })), "id: expected that of a `toolCall`");
});
