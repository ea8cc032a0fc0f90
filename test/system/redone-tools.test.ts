import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { AgentInput } from "../../engine/tenancy/agents/agent-input.js";
import { ended, repliesOf } from "./events.js";
import { eventually } from "./eventually.js";
import { HeldService } from "./held-service.js";
import { closeServer, heard, PacerWatch, ring } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";

/** A stream breaks while a tool runs; the caller comes back, and the LLM asks for the same again. */
const GREETING = "Hi.";
const guests = {
  type: "object",
  properties: { guests: { type: "integer" } },
  required: ["guests"],
};

const clock = new PacerWatch();
let server: TestServer;
before(async () => {
  server = await TestServer.start({ clock, environment: { ALLOW_PRIVATE_PROVIDERS: "true" } });
});
after(() => closeServer(server, clock));

function toolsOf(service: HeldService): Pick<AgentInput, "tools" | "mcpServers"> {
  const tool = { type: "http", name: "book_table", description: "Books a table." } as const;
  const request = { url: service.url, method: "POST", timeoutMs: 10_000, speak: false } as const;
  return {
    tools: [{ ...tool, ...request, parameters: guests }],
    mcpServers: [
      {
        name: "shop",
        url: service.mcpUrl,
        auth: { type: "none" },
        allowedTools: null,
        timeoutMs: 10_000,
      },
    ],
  };
}

async function customerOf(service: HeldService): Promise<Customer> {
  const customer = await server.customer();
  const agent = await server.agent(customer, {
    ...toolsOf(service),
    persona: { greeting: GREETING },
  });
  const headers = { "x-api-key": customer.apiKey };
  const path = `${server.url}/api/dashboard/agents/${agent.id}/mcp-tools`;
  const listed = await fetch(path, { headers });
  assert.match(await listed.text(), /shop_order_table/);
  return customer;
}

for (const [kind, words] of [
  ["HTTP", "please book table for 4"],
  ["MCP", "please shop order table for 4"],
] as const) {
  test(`a tool over ${kind} that ran while a web client's connection broke is asked for with the same key`, async (context) => {
    const service = await HeldService.for(context);
    const customer = await customerOf(service);
    const first = await server.call(customer);
    await first.until(ended);
    await first.say(words);
    const [firstKey = ""] = await service.keys(1);
    first.drop();
    const again = await server.call(customer, { sessionId: first.historyKey ?? "" });
    await again.say(words);
    const [, secondKey] = await service.keys(2);
    assert.equal(secondKey, firstKey);
    const [before] = await server.calls(customer);
    assert.ok(firstKey.startsWith(`${before?.id}/`), firstKey);
    service.release();
    await again.until((event) => ended(event) && /booked/.test(repliesOf(again).join(" ")));
    await eventually("the turn to be stored", async () => {
      const [, continued] = await server.calls(customer);
      return continued?.metadata["openToolCalls"] === undefined ? true : undefined;
    });

    await again.say(words);
    const [, , thirdKey = ""] = await service.keys(3);
    assert.notEqual(thirdKey, firstKey, "the caller has heard the result, and wants another");
    service.release();
    await again.hangUp();
  });

  test(`a tool over ${kind} that ran while a telephone stream broke is asked for with the same key, also after two breaks`, async (context) => {
    const service = await HeldService.for(context);
    const customer = await customerOf(service);
    const first = await ring(server, customer);
    await heard(first, GREETING);
    await first.say(words);
    const [firstKey] = await service.keys(1);
    let caller = first;
    for (const count of [2, 3]) {
      caller.drop();
      caller = await caller.continue();
      await heard(caller, "Where were we?");
      await caller.say(words);
      const keys = await service.keys(count);
      assert.deepEqual(new Set(keys), new Set([firstKey]));
    }
    service.release();
    await heard(caller, "booked");
    await caller.hangUp();
  });
}

test("a tool whose result was not heard before the break is asked for with the same key, and another one has its own", async (context) => {
  const service = await HeldService.for(context);
  const customer = await customerOf(service);
  const first = await server.call(customer);
  await first.until(ended);
  await first.say("please book table for 4");
  const [firstKey] = await service.keys(1);
  service.release();
  await first.until((event) => event.type === "transcript" && /booked/.test(event.payload.text));
  first.drop();
  const again = await server.call(customer, { sessionId: first.historyKey ?? "" });
  for (const [count, words] of ["please book table for 4", "please book table for 5"].entries()) {
    await again.say(words);
    await service.keys(count + 2);
    service.release();
    const isBooked = () => repliesOf(again).join(" ").split("booked").length > count + 1;
    await again.until((event) => ended(event) && isBooked());
  }
  const [, sameKey, otherKey] = await service.keys(3);
  assert.equal(sameKey, firstKey);
  assert.notEqual(otherKey, firstKey);
  await again.hangUp();
});
