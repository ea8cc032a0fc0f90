import assert from "node:assert/strict";
import { test } from "node:test";
import {
  OPEN_TOOL_CALLS_MAX,
  type OpenToolCall,
  OpenToolCalls,
  openToolCallsIn,
  openToolCallsNote,
  REDONE_MAX_MS,
} from "../../../engine/tools/open-tool-calls.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

function begun(earlier: readonly OpenToolCall[] = [], clock = new VirtualClock()) {
  const stored: (readonly OpenToolCall[])[] = [];
  const calls = new OpenToolCalls({
    earlier,
    clock,
    store: (open) => Promise.resolve(stored.push(open)),
  });
  const keyOf = async (argumentsJson: string, newKey: string, isEnded = true) => {
    const { idempotencyKey, end } = await calls.begin({ name: "book", argumentsJson }, newKey);
    if (isEnded) end();
    return idempotencyKey;
  };
  const keys = (open: readonly OpenToolCall[] | undefined) =>
    open?.map(({ idempotencyKey }) => idempotencyKey);
  return { calls, clock, stored, keyOf, keys, exchange };
}

function exchange(argumentsJson: string, result = '{"ok":true}') {
  return { name: "book", argumentsJson, result };
}

/** What a call has left open, as the next one reads it. */
function leftBy(stored: readonly (readonly OpenToolCall[])[]): readonly OpenToolCall[] {
  return openToolCallsIn(JSON.parse(JSON.stringify(openToolCallsNote(stored.at(-1) ?? []))));
}

test("the same arguments in another order have the key of the call before, once, and others have their own", async () => {
  const first = begun();
  await first.keyOf('{"day":1,"seats":2}', "a/1");
  await first.keyOf("{}", "a/2");
  const next = begun(leftBy(first.stored));
  assert.equal(await next.keyOf('{"seats":3,"day":1}', "b/1"), "b/1");
  assert.equal(await next.keyOf('{"seats":2, "day":1}', "b/2"), "a/1");
  assert.equal(await next.keyOf('{"seats":2,"day":1}', "b/3"), "b/3");
  assert.deepEqual(next.keys(next.stored.at(-1)), ["a/2", "b/1", "a/1", "b/3"]);
});

test("the newest of several stands for all of them", async () => {
  const first = begun();
  await first.keyOf("{}", "a/1");
  await first.keyOf("{}", "a/2");
  const next = begun(leftBy(first.stored));
  assert.equal(await next.keyOf("{}", "b/1"), "a/2");
  assert.equal(await next.keyOf("{}", "b/2"), "b/2");
});

test("a result that a reply has used is kept no longer; one that runs, or has only started in the background, is", async () => {
  const { calls, keyOf, keys } = begun();
  await keyOf('{"n":1}', "a/1");
  await keyOf('{"n":2}', "a/2", false);
  await keyOf('{"n":3}', "a/3");
  const started = JSON.stringify({
    ok: true,
    status: "started",
    note: "It runs in the background. Its result comes later: do not make it up, and do not start it again.",
  });
  const used = [exchange('{"n":1}'), exchange('{"n":2}'), exchange('{"n":3}', started)];
  assert.deepEqual(keys(calls.used(used)), ["a/2", "a/3"]);
  assert.equal(calls.used(used), undefined, "nothing changes");
  assert.equal(calls.used([]), undefined);
  assert.deepEqual(keys(calls.used([exchange('{"n":3}')])), ["a/2"]);
});

test("after ten minutes the caller may want the same again", async () => {
  const first = begun();
  await first.keyOf("{}", "a/1");
  const { clock } = first;
  clock.advance(REDONE_MAX_MS);
  assert.equal(await begun(leftBy(first.stored), clock).keyOf("{}", "b/1"), "a/1");
  clock.advance(1);
  const late = begun(leftBy(first.stored), clock);
  assert.equal(await late.keyOf("{}", "b/1"), "b/1");
  assert.deepEqual(late.keys(late.stored.at(-1)), ["b/1"]);
});

test("the newest sixteen are kept, and what a record holds instead is ignored", async () => {
  const { stored, keyOf, keys } = begun();
  for (let n = 0; n <= OPEN_TOOL_CALLS_MAX; n += 1) await keyOf(`{"n":${n}}`, `a/${n}`);
  assert.equal(stored.at(-1)?.length, OPEN_TOOL_CALLS_MAX);
  assert.equal(keys(stored.at(-1))?.[0], "a/1");
  assert.deepEqual(openToolCallsIn({}), []);
  assert.deepEqual(openToolCallsIn({ openToolCalls: [{ tool: 1 }] }), []);
  assert.deepEqual(openToolCallsNote([]), { openToolCalls: null });
});

test("a store that is slow delays a request by a quarter of a second at most", async () => {
  const clock = new VirtualClock();
  const calls = new OpenToolCalls({ earlier: [], clock, store: () => new Promise(() => {}) });
  const request = calls.begin({ name: "book", argumentsJson: "not JSON" }, "a/1");
  clock.advance(250);
  assert.equal((await request).idempotencyKey, "a/1");
});
