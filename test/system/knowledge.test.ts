import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import * as v from "valibot";
import { pdf } from "../engine/knowledge/sample-pdf.js";
import { ended } from "./events.js";
import { eventually } from "./eventually.js";
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

async function ask(
  { apiKey }: Customer,
  path: string,
  init: { readonly method?: string; readonly body?: string | Buffer } = {},
) {
  const response = await fetch(`${server.url}/api/dashboard/knowledge/${path}`, {
    ...init,
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
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

test("an agent answers from a small document whose full text is in its prompt", async () => {
  const customer = await server.customer();
  const { id, status } = await upload(customer, "hours.md", HOURS);
  assert.equal(status, "ready");
  await server.agent(customer, {
    persona: { greeting: "Good day." },
    knowledge: { documentIds: [id] },
  });
  const transcript = await heardAnswer(
    customer,
    "until when is the shop open on saturdays in the afternoon",
  );
  assert.match(transcript, /assistant: .*closes at four/i);
});

test("an agent gets the matching passages of a large document, and the turn's record has them", async () => {
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

/** Serves pages by their paths, and 404 for all others. */
async function openSite(pages: Readonly<Record<string, () => string | Buffer>>) {
  const site = createServer((request, response) => {
    const page = pages[request.url ?? ""]?.();
    response.writeHead(page === undefined ? 404 : 200, { "content-type": "text/html" }).end(page);
  }).listen(0, "127.0.0.1");
  await once(site, "listening");
  const { port } = site.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => site.close() };
}

async function addPage(customer: Customer, url: string) {
  const body = JSON.stringify({ url });
  const { status, answer } = await ask(customer, "urls", { method: "POST", body });
  assert.equal(status, 201, JSON.stringify(answer));
  return v.parse(Document, answer).id;
}

function read(customer: Customer, id: string) {
  return eventually("the page to be read", async () => {
    const document = v.parse(Document, (await ask(customer, `documents/${id}`)).answer);
    return document.status === "processing" ? undefined : document;
  });
}

async function found(customer: Customer, question: string): Promise<string> {
  const body = JSON.stringify({ question });
  return JSON.stringify((await ask(customer, "search", { method: "POST", body })).answer);
}

test("a web page is fetched by a job, and again on request", async (context) => {
  let price = "ninety euros";
  const site = await openSite({ "/prices": () => `<h1>Prices</h1><p>A haircut costs ${price}.` });
  context.after(site.close);
  const customer = await server.customer();
  const id = await addPage(customer, `${site.url}/prices`);
  assert.equal((await read(customer, id)).status, "ready");
  assert.match(await found(customer, "what is a haircut"), /costs ninety euros/);
  price = "sixty euros";
  assert.equal((await ask(customer, `documents/${id}/refresh`, { method: "POST" })).status, 200);
  await read(customer, id);
  const after = await found(customer, "what is a haircut");
  assert.match(after, /costs sixty euros/);
  assert.doesNotMatch(after, /ninety/);
});

test("a PDF that its server calls text is read as a PDF", async (context) => {
  const site = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/plain;charset=UTF-8" });
    response.end(pdf(["A haircut costs ninety euros."]));
  }).listen(0, "127.0.0.1");
  await once(site, "listening");
  context.after(() => site.close());
  const customer = await server.customer();
  const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/prices.pdf`;
  const document = await read(customer, await addPage(customer, url));
  assert.deepEqual([document.status, document.error], ["ready", null]);
  assert.match(await found(customer, "what is a haircut"), /costs ninety euros/);
});

test("a page that cannot be used says why", async (context) => {
  const site = await openSite({ "/huge": () => Buffer.alloc(50 * 1024 * 1024, "<p>x") });
  context.after(site.close);
  const customer = await server.customer();
  const huge = await read(customer, await addPage(customer, `${site.url}/huge`));
  assert.match(huge.error ?? "", /\/huge" is too large or not valid HTTP: the limit is 10 MB/);
  const missing = await read(customer, await addPage(customer, `${site.url}/nothing`));
  assert.match(missing.error ?? "", /\/nothing" was answered with status 404/);
});

test("redirects on the same site are followed, others and endless ones are not", async (context) => {
  const site = createServer((request, response) => {
    const to = { "/prices": "/prices/", "/away": "http://127.0.0.2/", "/round": "/round" }[
      request.url ?? ""
    ];
    if (to !== undefined) return response.writeHead(301, { location: to }).end();
    return response.writeHead(200, { "content-type": "text/html" }).end("<p>A haircut costs ten.");
  }).listen(0, "127.0.0.1");
  await once(site, "listening");
  context.after(() => site.close());
  const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const customer = await server.customer();
  const fetched = async (path: string) => read(customer, await addPage(customer, url + path));
  assert.equal((await fetched("/prices")).status, "ready");
  assert.match((await fetched("/away")).error ?? "", /\/away" redirects to another site/);
  assert.match((await fetched("/round")).error ?? "", /\/round" redirects more than 5 times/);
});

test("a document that an agent uses cannot be deleted, and documents of unknown format or excessive size are refused", async () => {
  const customer = await server.customer();
  const { id } = await upload(customer, "hours.md", HOURS);
  const agent = await server.agent(customer, { knowledge: { documentIds: [id] } });
  const remove = () => ask(customer, `documents/${id}`, { method: "DELETE" });
  const used = await remove();
  assert.deepEqual([used.status, JSON.stringify(used.answer).includes(agent.name)], [409, true]);
  await server.database.agents.remove(customer.tenant.organization.id, agent.id);
  assert.equal((await remove()).status, 200);
  const post = (name: string, body: string | Buffer) =>
    ask(customer, `documents?name=${name}`, { method: "POST", body });
  const picture = await post("cat.png", "picture");
  assert.equal(picture.status, 400);
  assert.match(JSON.stringify(picture.answer), /name: expected a name that ends in/);
  assert.equal((await post("big.txt", Buffer.alloc(10 * 1024 * 1024 + 1, "x"))).status, 413);
  const lie = await upload(customer, "lie.pdf", "words");
  assert.match(lie.error ?? "", /"lie.pdf" is not a PDF/);
});
