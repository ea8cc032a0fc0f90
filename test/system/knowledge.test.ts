import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as v from "valibot";
import { ended } from "./events.js";
import { type Customer, TestServer } from "./test-server.js";

let server: TestServer;
before(async () => {
  server = await TestServer.start({ environment: { ALLOW_PRIVATE_PROVIDERS: "true" } });
});
after(() => server.close());

const Document = v.object({
  id: v.string(),
  status: v.string(),
  error: v.nullable(v.string()),
  passages: v.number(),
});

async function ask({ apiKey }: Customer, path: string, init: RequestInit = {}) {
  const response = await fetch(`${server.url}/api/dashboard/knowledge/${path}`, {
    ...init,
    headers: { "x-api-key": apiKey, ...init.headers },
    signal: AbortSignal.timeout(30_000),
  });
  const answer: unknown = await response.json();
  return { status: response.status, answer };
}

async function upload(customer: Customer, name: string, body: string | Buffer) {
  const { status, answer } = await ask(customer, `documents?name=${encodeURIComponent(name)}`, {
    method: "POST",
    body,
  });
  assert.equal(status, 201, JSON.stringify(answer));
  return v.parse(Document, answer);
}

const HOURS = `# Opening hours
The shop opens at nine in the morning on weekdays. On Saturdays it closes at four in the afternoon.

# Returns
Unworn shoes can be returned within thirty days with the receipt.`;

function longText(): string {
  const sections = Array.from({ length: 60 }, (_each, index) => {
    return `## Shelf ${index}\nShelf ${index} of the warehouse holds boxes of kind ${index * 7}. Nothing else is stored there.`;
  });
  return `# Warehouse\n\n${sections.join("\n\n")}\n\n## Lost parcels\nA parcel that went missing is refunded after ten working days. Write to the parcel desk with its tracking number.`;
}

async function heardAnswer(customer: Customer, question: string): Promise<string> {
  const caller = await server.call(customer);
  await caller.until(ended);
  await caller.say(question);
  await caller.until(ended);
  await caller.hangUp();
  const call = await server.endedCall(customer);
  return call.transcript.map(({ role, text }) => `${role}: ${text}`).join("\n");
}

test("an agent answers from a small document that stands whole in its prompt", async () => {
  const customer = await server.customer();
  const { id, status } = await upload(customer, "hours.md", HOURS);
  assert.equal(status, "ready");
  await server.agent(customer, {
    persona: { greeting: "Good day." },
    knowledge: { documentIds: [id] },
  });
  const transcript = await heardAnswer(customer, "until when is the shop open on saturdays in the afternoon");
  assert.match(transcript, /assistant: .*closes at four/i);
});

test("of a large document an agent is given the passages that fit, and the turn's record has them", async () => {
  const customer = await server.customer();
  const { id, passages } = await upload(customer, "warehouse.md", longText());
  assert.ok(passages > 20);
  await server.agent(customer, {
    persona: { greeting: "Good day." },
    knowledge: { documentIds: [id] },
  });
  const transcript = await heardAnswer(customer, "my parcel is missing when am I refunded");
  assert.match(transcript, /refunded after ten working days/i);
  const call = await server.endedCall(customer);
  const record = await server.database.calls.findById(customer.tenant.organization.id, call.id);
  assert.match(JSON.stringify(record?.metadata["turns"]), /"documentName":"warehouse.md"/);
  assert.match(JSON.stringify(record?.metadata["turns"]), /"searchWaitMs":\d/);
});
