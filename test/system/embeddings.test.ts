import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, afterEach, before, test } from "node:test";
import * as v from "valibot";
import { noFaults } from "../../engine/sandbox/faults.js";
import { ended } from "./events.js";
import { eventually } from "./eventually.js";
import { type Customer, TestServer } from "./test-server.js";

const OFFERED = "openai/text-embedding-3-large";

let server: TestServer;
before(async () => {
  server = await TestServer.start({
    environment: { ALLOW_PRIVATE_PROVIDERS: "true", EMBEDDING_MODELS: OFFERED },
  });
});
after(() => server.close());
afterEach(() => Object.assign(server.sandbox.faults, noFaults()));

const Document = v.object({
  id: v.string(),
  embedding: v.string(),
  passages: v.number(),
  embeddedPassages: v.number(),
});
const View = v.object({
  providerId: v.nullable(v.string()),
  modelId: v.nullable(v.string()),
  dimensions: v.nullable(v.number()),
  passages: v.number(),
  embeddedPassages: v.number(),
  tokens: v.number(),
  error: v.nullable(v.string()),
});
const Offer = v.object({ platformModels: v.array(v.string()) });
const Found = v.object({ passages: v.array(v.object({ text: v.string() })) });

async function ask({ apiKey }: Customer, method: string, path: string, body?: object | string) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(`${server.url}/api/dashboard/knowledge/${path}`, {
    method,
    ...(body === undefined ? {} : { body: text }),
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    signal: AbortSignal.timeout(30_000),
  });
  const answer: unknown = await response.json();
  return { status: response.status, answer };
}

async function ownProvider(customer: Customer, providerKey: string, baseUrl: string) {
  const { id } = await server.tenancy.providers.create(customer.tenant, {
    category: "llm",
    providerKey,
    name: "Embeddings",
    credentials: { apiKey: "own-key" },
    models: [{ modelId: "gpt-6-luna", label: "Luna" }],
    settings: { baseUrl },
  });
  return id;
}

function read(customer: Customer, id: string) {
  return eventually("the document to be embedded", async () => {
    const { answer } = await ask(customer, "GET", `documents/${id}`);
    const document = v.parse(Document, answer);
    return document.embedding === "pending" ? undefined : document;
  });
}

async function upload(customer: Customer, name: string, text: string) {
  const { status, answer } = await ask(customer, "POST", `documents?name=${name}`, text);
  assert.equal(status, 201, JSON.stringify(answer));
  return v.parse(Document, answer);
}

async function found(customer: Customer, question: string): Promise<readonly string[]> {
  const { answer } = await ask(customer, "POST", "search", { question });
  return v.parse(Found, answer).passages.map(({ text }) => text);
}

/** Words of one group have the same meaning; all other words have none. */
const MEANINGS = [
  ["sofa", "couch", "settee"],
  ["delivery", "shipping"],
];

function meaningOf(text: string): readonly number[] {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const counts = MEANINGS.map((group) => words.filter((word) => group.includes(word)).length);
  return [...counts, 0.01];
}

/** A server of OpenAI's protocol that knows synonyms. */
async function openMeaningServer() {
  const Asked = v.object({ input: v.array(v.string()) });
  let questions = 0;
  const site = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      const { input } = v.parse(Asked, JSON.parse(Buffer.concat(chunks).toString()));
      questions += 1;
      const data = input.map((text, index) => ({ index, embedding: meaningOf(text) }));
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ data, usage: { prompt_tokens: input.length } }));
    });
  }).listen(0, "127.0.0.1");
  await once(site, "listening");
  const { port } = site.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/v1`;
  return { url, close: () => site.close(), count: () => questions };
}

function furnitureText(): string {
  const sections = Array.from({ length: 60 }, (_each, index) => {
    return `## Shelf ${index}\nShelf ${index} of the warehouse holds boxes of kind ${index * 7}. Nothing else is stored there.`;
  });
  return `# Warehouse\n\n${sections.join("\n\n")}\n\n## Couch\nThe grey couch comes with washable covers and five years of warranty.`;
}

test("a passage is found by its meaning where it shares no word with the question", async (context) => {
  const meanings = await openMeaningServer();
  context.after(meanings.close);
  const customer = await server.customer();
  const providerId = await ownProvider(customer, "openai-compatible", meanings.url);
  const { id } = await upload(customer, "stock.md", furnitureText());
  const question = "sofa";
  assert.ok(!(await found(customer, question)).some((text) => text.includes("grey couch")));
  const chosen = await ask(customer, "POST", "embeddings", { providerId, modelId: "meaning" });
  assert.equal(chosen.status, 200, JSON.stringify(chosen.answer));
  assert.deepEqual(v.parse(View, chosen.answer).dimensions, 3);
  const { embedding, passages, embeddedPassages } = await read(customer, id);
  assert.deepEqual([embedding, embeddedPassages], ["ready", passages]);
  assert.match((await found(customer, question))[0] ?? "", /grey couch/);
  const view = v.parse(View, (await ask(customer, "GET", "embeddings")).answer);
  assert.deepEqual([view.passages, view.embeddedPassages], [passages, passages]);
  assert.ok(view.tokens >= passages);

  await server.agent(customer, {
    persona: { greeting: "Good day." },
    knowledge: { documentIds: [id] },
  });
  const caller = await server.call(customer);
  await caller.until(ended);
  await caller.say("sofa settee sofa settee sofa settee sofa settee");
  await caller.until(ended);
  await caller.hangUp();
  const call = await server.endedCall(customer);
  assert.match(JSON.stringify(call.metadata["turns"]), /grey couch/);

  assert.equal((await ask(customer, "DELETE", "embeddings")).status, 200);
  assert.equal((await ask(customer, "DELETE", "embeddings")).status, 404);
  assert.ok(!(await found(customer, question)).some((text) => text.includes("grey couch")));
  const orgId = customer.tenant.organization.id;
  await eventually("the vectors to be removed", async () => {
    const rest = await server.database.embeddings.vectors({ orgId, setId: "any" }, -1, 1);
    return rest.length === 0 ? true : undefined;
  });
});

test("another model embeds everything anew, and what is added later is embedded, too", async () => {
  const customer = await server.customer();
  const { urls } = server.sandbox;
  const providerId = await ownProvider(customer, "openai", urls.openai);
  const first = await upload(customer, "stock.md", furnitureText());
  const choose = async (body: object) => {
    const { status, answer } = await ask(customer, "POST", "embeddings", { providerId, ...body });
    assert.equal(status, 200, JSON.stringify(answer));
    return v.parse(View, answer);
  };
  assert.equal((await choose({ modelId: "text-embedding-3-small" })).dimensions, 1_536);
  assert.equal((await read(customer, first.id)).embedding, "ready");
  const shortened = await choose({ modelId: "text-embedding-3-small", dimensions: 64 });
  assert.deepEqual([shortened.dimensions, shortened.embeddedPassages], [64, 0]);
  assert.equal((await read(customer, first.id)).embedding, "ready");
  const second = await upload(customer, "more.md", furnitureText());
  assert.equal((await read(customer, second.id)).embedding, "ready");
  const small = await upload(customer, "hours.md", "# Hours\nOpen at nine.");
  assert.equal((await read(customer, small.id)).embedding, "whole");
  assert.match((await found(customer, "washable covers of couches"))[0] ?? "", /grey couch/);
});

test("a choice that cannot work is refused with the name of its field", async () => {
  const customer = await server.customer();
  const { urls, faults } = server.sandbox;
  const providerId = await ownProvider(customer, "openai", urls.openai);
  const refused = async (body: object) => {
    const { status, answer } = await ask(customer, "POST", "embeddings", {
      providerId,
      modelId: "text-embedding-3-small",
      ...body,
    });
    assert.equal(status, 400);
    return JSON.stringify(answer);
  };
  assert.match(await refused({ modelId: "gpt-6-luna" }), /modelId: openai does not know the model/);
  assert.match(await refused({ dimensions: 2_000 }), /dimensions: openai rejects.*1536/);
  assert.match(await refused({ dimensions: 0 }), /dimensions: expected/);
  const platforms = await server.providerId("llm", "openai");
  assert.match(
    await refused({ providerId: platforms }),
    /modelId: expected a model that the platform offers for embeddings: openai\/text-embedding-3-large/,
  );
  const other = await server.customer();
  const foreign = await ownProvider(other, "openai", urls.openai);
  assert.match(
    await refused({ providerId: foreign }),
    /providerId: expected .* organization's own/,
  );
  faults.openaiEmbeddings = { fault: "unauthorized", times: 1 };
  assert.match(await refused({}), /providerId: openai rejects the credentials/);
  faults.openaiEmbeddings = { fault: "missingVector", times: 1 };
  assert.match(await refused({}), /modelId: expected a model for embeddings/);
  faults.openaiEmbeddings = { fault: "shortVectors", times: 1 };
  assert.match(await refused({ dimensions: 64 }), /dimensions: expected 63 or none/);
  const view = v.parse(View, (await ask(customer, "GET", "embeddings")).answer);
  assert.equal(view.providerId, null);
});

test("an organization embeds with a model that the platform offers", async () => {
  const customer = await server.customer();
  const providerId = await server.providerId("llm", "openai");
  const offered = v.parse(Offer, (await ask(customer, "GET", "embeddings")).answer);
  assert.deepEqual(offered.platformModels, [OFFERED]);
  const body = { providerId, modelId: "text-embedding-3-large" };
  assert.equal((await ask(customer, "POST", "embeddings", body)).status, 200);
  const { id } = await upload(customer, "stock.md", furnitureText());
  assert.equal((await read(customer, id)).embedding, "ready");
  assert.match((await found(customer, "washable covers of couches"))[0] ?? "", /grey couch/);
  const { faults } = server.sandbox;
  faults.openaiEmbeddings = { fault: "quotaExceeded" };
  const more = await upload(customer, "more.md", furnitureText());
  assert.equal((await read(customer, more.id)).embedding, "failed");
  const { error } = v.parse(View, (await ask(customer, "GET", "embeddings")).answer);
  assert.equal(
    error,
    "openai says that the account has no quota left",
    "without the account's details",
  );
});

test("a vendor that fails leaves documents pending or failed, and full text answers", async () => {
  const customer = await server.customer();
  const { urls, faults } = server.sandbox;
  const providerId = await ownProvider(customer, "openai", urls.openai);
  const body = { providerId, modelId: "text-embedding-3-small" };
  assert.equal((await ask(customer, "POST", "embeddings", body)).status, 200);
  faults.openaiEmbeddings = { fault: "quotaExceeded" };
  const { id } = await upload(customer, "stock.md", furnitureText());
  assert.equal((await read(customer, id)).embedding, "failed");
  const view = v.parse(View, (await ask(customer, "GET", "embeddings")).answer);
  assert.match(view.error ?? "", /openai says that the account has no quota left/);
  assert.match((await found(customer, "washable covers"))[0] ?? "", /grey couch/);
  faults.openaiEmbeddings = {};
  assert.equal((await ask(customer, "POST", "embeddings", body)).status, 200);
  assert.equal((await read(customer, id)).embedding, "ready");
  await assert.rejects(
    server.tenancy.providers.remove(customer.tenant, providerId),
    /is embedded with the provider/,
  );
});
