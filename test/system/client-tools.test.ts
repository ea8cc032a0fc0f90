import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { AgentCall } from "../../api/client/agent-call.js";
import type { CallEvents } from "../../api/client/call-events.js";
import { OwnSound } from "../../api/client/own-sound.js";
import type { ToolHandler } from "../../api/client/page-tools.js";
import type { BesideSpeech } from "../../storage/tenancy/agent-tool.js";
import { type Customer, TestServer } from "./test-server.js";

const TIMEOUT_MS = 5_000;

let server: TestServer;
before(async () => {
  server = await TestServer.start();
});
after(() => server.close());

const showOrder = (timeoutMs = TIMEOUT_MS) =>
  ({
    type: "client",
    name: "show_order",
    description: "Shows an order to the caller.",
    parameters: {
      type: "object",
      properties: { order: { type: "string" } },
      required: ["order"],
    },
    timeoutMs,
  }) as const;

/** A page in a call with an agent that has the tool. It writes instead of speaking. */
class Page {
  readonly customer: Customer;
  readonly call: AgentCall;

  static async begun(
    handler?: ToolHandler,
    timeoutMs?: number,
    beside: BesideSpeech = {},
  ): Promise<Page> {
    const customer = await server.customer();
    await server.agent(customer, { tools: [{ ...showOrder(timeoutMs), ...beside }] });
    const page = new Page(customer);
    if (handler !== undefined) page.call.tool("show_order", handler);
    const connected = page.next("connected");
    await page.call.start();
    await connected;
    return page;
  }

  constructor(customer: Customer) {
    this.customer = customer;
    const sound = new OwnSound({ onAudio: () => {} });
    const { apiKey } = customer;
    this.call = new AgentCall({ server: server.url, sound, apiKey, WebSocket });
  }

  /** Resolves with the first matching event. */
  next<Name extends keyof CallEvents>(
    name: Name,
    isIt: (event: CallEvents[Name]) => boolean = () => true,
  ): Promise<CallEvents[Name]> {
    return new Promise((resolve) => {
      const forget = this.call.on(name, (event) => {
        if (!isIt(event)) return;
        forget();
        resolve(event);
      });
    });
  }

  /** Returns the agent's reply to written text, as `said`, or as `heard` once it was played. */
  async answerTo(words: string, isIt: "said" | "heard" = "said"): Promise<string> {
    const answer = this.next("words", ({ speaker, kind }) => speaker === "agent" && kind === isIt);
    assert.ok(this.call.write(words));
    return (await answer).text;
  }

  async hangUp(): Promise<void> {
    const ended = this.next("ended");
    this.call.hangUp();
    await ended;
    await server.endedCalls(this.customer, 1);
  }
}

const ASK = 'use show_order with {"order":"12"}';

test("the page runs the LLM's tool call, and the agent continues with the result", async () => {
  const given: object[] = [];
  const page = await Page.begun((wanted) => {
    given.push(wanted);
    return `order ${String(wanted["order"])} has two items`;
  });
  assert.equal(await page.answerTo(ASK), "The tool says: order 12 has two items.");
  assert.deepEqual(given, [{ order: "12" }]);
  await page.hangUp();
});

test("the agent gets a handler's exception, and the call continues", async () => {
  const page = await Page.begun(() => {
    throw new Error("no such order");
  });
  assert.equal(await page.answerTo(ASK, "heard"), "The tool failed: no such order.");
  assert.equal(await page.answerTo("say yes"), "yes");
  await page.hangUp();
});

test("the agent says the tool's sentence when it takes long, once", async () => {
  let release = () => {};
  const handler = () =>
    new Promise<string>((resolve) => {
      release = () => resolve("shown");
    });
  const onDelay = "It takes a little longer.";
  const page = await Page.begun(handler, TIMEOUT_MS, { onDelay, onDelayMs: 500 });
  const heard = page.next("words", ({ kind }) => kind === "heard");
  assert.equal(await page.answerTo(ASK), onDelay);
  release();
  assert.equal((await heard).text, `${onDelay} The tool says: shown.`);
  await page.hangUp();
});

test("the caller hears a tool's sentences with the values of the call, and no braces", async () => {
  const onStart = "One moment {{firstName|dear}}.";
  const onFailure = "Sorry {{firstName|dear}}.";
  const handler = () => {
    throw new Error("no such order");
  };
  const page = await Page.begun(handler, TIMEOUT_MS, { onStart, onFailure });
  const heard = page.next("words", ({ speaker, kind }) => speaker === "agent" && kind === "heard");
  await page.answerTo(ASK);
  const { text } = await heard;
  assert.equal(text, "One moment dear. Sorry dear. The tool failed: no such order.");
  await page.hangUp();
});

test("the agent says the tool's sentence when it fails, and then what the LLM says of it", async () => {
  const handler = () => {
    throw new Error("no such order");
  };
  const onFailure = "I cannot show it just now.";
  const page = await Page.begun(handler, TIMEOUT_MS, { onFailure });
  const heard = await page.answerTo(ASK, "heard");
  assert.equal(heard, `${onFailure} The tool failed: no such order.`);
  await page.hangUp();
});

test("a page that never responds times out after the tool's own limit", async () => {
  const page = await Page.begun(() => new Promise(() => {}), 100);
  assert.match(await page.answerTo(ASK), /^The tool failed: .*did not answer in time/);
  await page.hangUp();
});

test("a call to a tool that the page does not offer fails at once, and a tool that is offered later is used", async () => {
  const page = await Page.begun();
  const failed = "The tool failed: the caller's page does not offer this.";
  assert.equal(await page.answerTo(ASK, "heard"), failed);
  const withdraw = page.call.tool("show_order", () => "shown");
  assert.equal(await page.answerTo(ASK, "heard"), "The tool says: shown.");
  withdraw();
  assert.equal(await page.answerTo(ASK), failed);
  await page.hangUp();
});

test("a connection lost during a tool call loses only that call: the tool works on the next connection", async () => {
  let count = 0;
  const page = await Page.begun(() => {
    count += 1;
    if (count > 1) return "shown";
    page.call.networkLost();
    return "never told";
  });
  const again = page.next("connected", ({ isAgain }) => isAgain);
  assert.ok(page.call.write(ASK));
  await again;
  assert.equal(await page.answerTo(ASK), "The tool says: shown.");
  const ended = page.next("ended");
  page.call.hangUp();
  await ended;
  await server.endedCalls(page.customer, 2);
});
