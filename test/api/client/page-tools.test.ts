import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { AgentCall } from "../../../api/client/agent-call.js";
import { CallError } from "../../../api/client/call-error.js";
import type { ToolUse } from "../../../api/client/call-events.js";
import { connected, stand } from "./call-stand.js";
import { ClientSocket } from "./client-socket.js";

const RESULT_MAX_BYTES = 16 * 1024;
const TOOLS_MAX = 64;

beforeEach(() => ClientSocket.forgetAll());

/** The agent calls the tool; resolves when the page has responded. */
function asked(call: AgentCall, name: string, given: object = {}, id = 1): Promise<ToolUse> {
  const socket = ClientSocket.last;
  return new Promise((resolve) => {
    const forget = call.on("tool", (use) => {
      forget();
      resolve(use);
    });
    socket.say({ type: "toolCall", id, name, arguments: given });
  });
}

const lastSent = () => String(ClientSocket.last.sent.at(-1));

test("the server learns which tools the page offers, initially and after each change", async () => {
  const { call } = stand();
  const withdraw = call.tool("show", () => {});
  await call.start();
  assert.deepEqual(ClientSocket.last.sent, []);
  ClientSocket.last.accept();
  call.tool("hide", () => {});
  withdraw();
  withdraw();
  assert.deepEqual(ClientSocket.last.sent, [
    '{"type":"tools","names":["show"]}',
    '{"type":"tools","names":["show","hide"]}',
    '{"type":"tools","names":["hide"]}',
  ]);
});

test("a page without tools sends no tool message, which an older server would not understand", async () => {
  await connected();
  assert.deepEqual(ClientSocket.last.sent, []);
});

test("the handler gets the arguments, and its result, sync or async, is the tool's result", async () => {
  const { call } = await connected();
  call.tool("add", ({ a, b }) => Number(a) + Number(b));
  call.tool("find", async () => ({ items: ["x"] }));
  call.tool("show", () => {});
  assert.equal((await asked(call, "add", { a: 1, b: 2 }, 7)).error, undefined);
  assert.equal(lastSent(), '{"type":"toolResult","id":7,"result":3}');
  await asked(call, "find", {}, 8);
  assert.equal(lastSent(), '{"type":"toolResult","id":8,"result":{"items":["x"]}}');
  await asked(call, "show", {}, 9);
  assert.equal(lastSent(), '{"type":"toolResult","id":9}');
});

test("an exception of a handler goes to the agent as text, and to the page unchanged", async () => {
  const { call } = await connected();
  const fault = new Error("no such order");
  call.tool("find", () => {
    throw fault;
  });
  call.tool("later", () => Promise.reject(new Error(`${"x".repeat(999)}\u{1f600}`)));
  call.tool("mute", () => Promise.reject(new Error("")));
  assert.equal((await asked(call, "find")).error, fault);
  assert.equal(lastSent(), '{"type":"toolResult","id":1,"error":"no such order"}');
  await asked(call, "later");
  // Text with half of a surrogate pair would be refused.
  assert.equal(lastSent(), `{"type":"toolResult","id":1,"error":"${"x".repeat(999)}"}`);
  await asked(call, "mute");
  assert.equal(lastSent(), '{"type":"toolResult","id":1,"error":"it failed"}');
});

test("whatever a handler throws, the agent gets a text, and the page a failure event", async () => {
  const { call } = await connected();
  const wordless: unknown = Object.create(null);
  const odd = Object.assign(new Error(), { message: 7 });
  for (const [thrown, told] of [
    [undefined, "it failed"],
    [null, "it failed"],
    [wordless, "it failed"],
    [odd, "7"],
    ["no such order", "no such order"],
  ] as const) {
    call.tool("find", () => Promise.reject(thrown));
    assert.notEqual((await asked(call, "find")).error, undefined);
    assert.equal(lastSent(), `{"type":"toolResult","id":1,"error":"${told}"}`);
  }
});

test("a result that is not JSON, or has more than 16 KiB, is an error", async () => {
  const { call } = await connected();
  const circle: { own?: object } = {};
  circle.own = circle;
  call.tool("circle", () => circle);
  call.tool("long", ({ length }) => "ü".repeat(Number(length)));
  await asked(call, "circle");
  assert.match(lastSent(), /"error":"Converting circular structure/);
  await asked(call, "long", { length: RESULT_MAX_BYTES / 2 - 1 });
  assert.match(lastSent(), /"result":"ü/);
  await asked(call, "long", { length: RESULT_MAX_BYTES / 2 });
  assert.match(lastSent(), /"error":"the result has more than 16384 bytes"/);
});

test("a call of a withdrawn tool gets an error", async () => {
  const { call } = await connected();
  await asked(call, "show");
  assert.match(lastSent(), /"error":"the page no longer offers this tool"/);
});

test("a lost connection cancels its tool calls; the next one offers the tools again", async () => {
  const { call, clock } = await connected();
  let finish: () => void = () => {};
  call.tool("show", () => new Promise<void>((resolve) => (finish = resolve)));
  const used = asked(call, "show");
  const lost = ClientSocket.last;
  lost.breakOff();
  clock.advance(1_000);
  await new Promise(setImmediate);
  ClientSocket.last.accept();
  assert.notEqual(ClientSocket.last, lost);
  const offer = '{"type":"tools","names":["show"]}';
  assert.deepEqual(ClientSocket.last.sent, [offer]);
  finish();
  assert.equal((await used).ms, 1_000);
  // On the new connection its id is unknown, or belongs to another call.
  assert.deepEqual(ClientSocket.last.sent, [offer]);
  assert.deepEqual(lost.sent, [offer]);
});

test("an invalid tool name is refused, and so is a 65th tool", async () => {
  const { call } = stand();
  for (const name of ["", "1st", "a b", "x".repeat(65)]) {
    assert.throws(() => call.tool(name, () => {}), CallError);
  }
  for (let count = 1; count <= TOOLS_MAX; count += 1) call.tool(`tool${count}`, () => {});
  assert.throws(() => call.tool("one_more", () => {}), /at most 64 tools/);
  // A tool that is already offered gets another handler.
  call.tool("tool1", () => {});
});
