import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as v from "valibot";
import { WebhookReceiver } from "../doubles/webhook-receiver.js";
import { understood } from "./events.js";
import { eventually } from "./eventually.js";
import { type Customer, TestServer } from "./test-server.js";

let server: TestServer;
before(async () => {
  server = await TestServer.start({ environment: { ALLOW_PRIVATE_PROVIDERS: "true" } });
});
after(() => server.close());

const SCHEMA = {
  type: "object",
  properties: { topic: { type: "string", enum: ["refund", "order"] }, order: { type: "integer" } },
  required: ["topic", "order"],
};
const Calls = v.object({
  items: v.array(v.looseObject({ _id: v.string(), analysis: v.optional(v.looseObject({})) })),
  total: v.number(),
});
const Runs = v.array(v.looseObject({ state: v.string() }));

async function ask({ apiKey }: Customer, path: string, body?: object, method = "POST") {
  const response = await fetch(`${server.url}/api/dashboard/${path}`, {
    method: body === undefined ? "GET" : method,
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(10_000),
  });
  const answer: unknown = await response.json();
  return { status: response.status, answer };
}

const callsOf = async (customer: Customer, query = "") =>
  v.parse(Calls, (await ask(customer, `calls${query}`)).answer);

async function callSaying(customer: Customer, words: string): Promise<void> {
  const caller = await server.call(customer);
  await caller.say(words);
  await caller.until(understood);
  await caller.hangUp();
}

test("a call is analyzed after its end: the record, an event and the list's filters have the result", async (context) => {
  const receiver = await WebhookReceiver.open();
  context.after(() => receiver.close());
  const customer = await server.customer();
  const analysis = { schema: SCHEMA, successCriteria: "The caller is content." };
  await server.agent(customer, { analysis });
  const { status } = await ask(customer, "webhooks", {
    name: "CRM",
    url: receiver.url,
    eventTypes: ["call.analyzed"],
  });
  assert.equal(status, 201);
  await callSaying(customer, "refund order 12, awful");
  const body = await eventually("call.analyzed", () => receiver.received[0]?.body);
  assert.match(body, /"type":"call.analyzed".*"topic":"refund"/);
  const [call] = (await callsOf(customer)).items;
  assert.deepEqual(call?.analysis?.["data"], { topic: "refund", order: 12 });
  assert.deepEqual([call?.analysis?.["status"], call?.analysis?.["success"]], ["completed", false]);
  const totalOf = async (query: string) => (await callsOf(customer, `?${query}`)).total;
  assert.equal(await totalOf("analysisSuccess=false"), 1);
  assert.equal(await totalOf("analysisSuccess=true"), 0);
  assert.equal(await totalOf("analysisStatus=completed&analysisField=topic:refund"), 1);
  assert.equal(await totalOf("analysisField=order:12"), 1);
  assert.equal(await totalOf("analysisField=order:1"), 0);
  assert.equal(await totalOf("analysisField=topic:Refund"), 0, "the case counts");
});

test("an analysis run analyzes past calls", async () => {
  const customer = await server.customer();
  const agent = await server.agent(customer, {});
  await callSaying(customer, "order please");
  await server.endedCalls(customer, 1);
  const path = `agents/${agent.id}/analysis/runs`;
  const day = 24 * 60 * 60 * 1_000;
  const at = (ms: number) => new Date(Date.now() + ms).toISOString();
  const range = { from: at(-day), to: at(day) };
  assert.equal((await ask(customer, path, range)).status, 409);
  const { status } = await ask(
    customer,
    `agents/${agent.id}`,
    { analysis: { schema: SCHEMA } },
    "PATCH",
  );
  assert.equal(status, 200);
  assert.equal((await ask(customer, path, range)).status, 201);
  const run = await eventually("the run to be over", async () => {
    const [found] = v.parse(Runs, (await ask(customer, path)).answer);
    return found?.state === "completed" ? found : undefined;
  });
  assert.deepEqual([run["calls"], run["completed"], run["failed"]], [1, 1, 0]);
  const [call] = (await callsOf(customer)).items;
  assert.deepEqual(call?.analysis?.["data"], { topic: "order", order: 0 });
  assert.equal(call?.analysis?.["success"], null);
});

test("invalid analysis settings are refused with the name of the field", async () => {
  const customer = await server.customer();
  const agent = await server.agent(customer, {});
  const wrong = {
    "analysis.schema": [
      { schema: { type: "object", properties: { a: { $ref: "#" } } } },
      { schema: { type: "object", description: "x".repeat(9_000) } },
      { schema: { type: "string" } },
    ],
    "analysis.sampleRate": [{ schema: SCHEMA, sampleRate: 2 }],
    "analysis.successCriterion": [{ successCriterion: "a misspelt name" }],
    "analysis.llmProviderId": [{ schema: SCHEMA, llmProviderId: "none", llmModelId: "none" }],
    analysis: [{}, { schema: SCHEMA, llmModelId: "alone" }],
  };
  for (const [path, analyses] of Object.entries(wrong)) {
    for (const analysis of analyses) {
      const { status, answer } = await ask(customer, `agents/${agent.id}`, { analysis }, "PATCH");
      assert.equal(status, 400, JSON.stringify(analysis).slice(0, 80));
      assert.match(JSON.stringify(answer), new RegExp(`"path":"${path}"`));
    }
  }
});
