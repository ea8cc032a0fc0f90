import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type {
  ClientToolAnswer,
  ClientToolCall,
} from "../../../engine/conversation/caller-channel.js";
import { runClientTool } from "../../../engine/tools/agent-toolbox.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const TOOL = {
  type: "client",
  name: "show_order",
  description: "Shows an order",
  parameters: {
    type: "object",
    properties: { order: { type: "string" } },
    required: ["order"],
  },
  timeoutMs: 2_000,
} as const;

/** A page that answers when the test says so, and is not when the request was aborted. */
class Page {
  readonly asked: ClientToolCall[] = [];
  answer: (answer: ClientToolAnswer) => void = () => {};

  useTool(call: ClientToolCall, signal: AbortSignal): Promise<ClientToolAnswer> {
    this.asked.push(call);
    return new Promise((resolve, reject) => {
      this.answer = resolve;
      signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
    });
  }
}

let clock: VirtualClock;
let page: Page;
let caller: AbortController;
beforeEach(() => {
  clock = new VirtualClock();
  page = new Page();
  caller = new AbortController();
});

async function run(argumentsJson = '{"order":"12"}'): Promise<unknown> {
  const use = { tool: TOOL, argumentsJson };
  const { content, spoken } = await runClientTool(use, page, clock, caller.signal);
  assert.equal(spoken, undefined);
  assert.equal(clock.pendingTimerCount, 0);
  return JSON.parse(content);
}

test("the page is asked with what the model wrote, and the model is told what came of it", async () => {
  for (const [answer, told] of [
    [{ result: { items: 2 } }, { ok: true, result: { items: 2 } }],
    [{ result: undefined }, { ok: true }],
    [{ error: "no such order" }, { ok: false, error: "no such order" }],
  ] as const) {
    const result = run();
    page.answer(answer);
    assert.deepEqual(await result, told);
  }
  assert.deepEqual(page.asked[0], { name: "show_order", arguments: { order: "12" } });
});

test("arguments that do not fit are told to the model, and never to the page", async () => {
  for (const wrong of ["{}", "[]", "{half", '{"order":12}']) {
    const told = await run(wrong);
    assert.match(JSON.stringify(told), /^\{"ok":false,"error":"the arguments /);
  }
  assert.deepEqual(page.asked, []);
});

test("a page that does not answer in time is not waited for any longer", async () => {
  const result = run();
  clock.advance(TOOL.timeoutMs - 1);
  assert.equal(clock.pendingTimerCount, 1);
  clock.advance(1);
  const error = "the caller's page did not answer in time: it may have been done, or not";
  assert.deepEqual(await result, { ok: false, error });
});

test("it is stopped when nobody waits for the turn any more", async () => {
  const result = run();
  caller.abort();
  await assert.rejects(result);
  assert.equal(clock.pendingTimerCount, 0);
});

test("a page that is gone answers no more, which is no matter of time", async () => {
  const gone = new Error("the page is gone");
  page.useTool = () => Promise.reject(gone);
  await assert.rejects(run(), gone);
  assert.equal(clock.pendingTimerCount, 0);
});
