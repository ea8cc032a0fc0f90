import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as v from "valibot";
import { serverAddress } from "../../api/client/call-address.js";
import { Caller } from "../../engine/sandbox/caller.js";
import { ended } from "./events.js";
import { type Customer, TestServer } from "./test-server.js";

const BASE = "https://example.com/voice";

let server: TestServer;
let customer: Customer;
before(async () => {
  // The trailing slash makes no difference.
  server = await TestServer.start({ environment: { PUBLIC_BASE_URL: `${BASE}/` } });
  customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Hello there." } });
});
after(() => server.close());

/** The two ways of proxies: one strips the prefix, the other keeps it. */
const PREFIXES = ["", "/voice"];

async function textAt(path: string): Promise<string> {
  const answer = await fetch(`${server.url}${path}`);
  assert.equal(answer.status, 200, path);
  return answer.text();
}

test("requests are served with the prefix and without it", async () => {
  for (const prefix of PREFIXES) {
    assert.equal((await fetch(`${server.url}${prefix}/api/health`)).status, 200);
    const refused = await fetch(`${server.url}${prefix}/api/health`, { method: "DELETE" });
    assert.equal(refused.status, 405);
    const start = await fetch(`${server.url}${prefix}/`, { redirect: "manual" });
    assert.equal(start.headers.get("location"), "/voice/console");
  }
  for (const path of ["/other/api/health", "/voice/voice/api/health", "/voices/api/health"]) {
    assert.equal((await fetch(`${server.url}${path}`)).status, 404, path);
  }
});

test("metrics are not served below the prefix, which a proxy exposes", async () => {
  assert.equal((await fetch(`${server.url}/metrics`)).status, 200);
  assert.equal((await fetch(`${server.url}/voice/metrics`)).status, 404);
});

test("pages and documents contain addresses with the prefix", async () => {
  const Document = v.object({ servers: v.array(v.object({ url: v.string() })) });
  for (const prefix of PREFIXES) {
    for (const page of ["/console", "/console/agents/1", "/api/docs"]) {
      const html = await textAt(`${prefix}${page}`);
      const addresses = [...html.matchAll(/ (?:src|href)="(\/[^"]*)"/g)].map(
        ([, path = ""]) => path,
      );
      assert.ok(addresses.length > 1, html);
      for (const path of addresses) {
        assert.match(path, /^\/voice\//);
        await textAt(path);
        await textAt(path.slice("/voice".length));
      }
    }
    const document: unknown = JSON.parse(await textAt(`${prefix}/api/openapi.json`));
    assert.deepEqual(v.parse(Document, document).servers, [{ url: "/voice" }]);
  }
});

test("a telephony vendor gets a stream address below the prefix", async () => {
  for (const prefix of PREFIXES) {
    const path = `${prefix}/api/telephony/voice?api_key=${customer.apiKey}`;
    const answer = await fetch(`${server.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "CallSid=CA1&From=%2B15550001111&To=%2B15550002222",
    });
    const text = await answer.text();
    assert.match(text, /<Stream url="wss:\/\/example\.com\/voice\/ws\/telephony\/stream">/);
    assert.match(text, /https:\/\/example\.com\/voice\/api\/telephony\/continue/);
  }
});

test("a call can be opened with the prefix and without it", async () => {
  for (const prefix of PREFIXES) {
    const caller = await Caller.connect({
      url: `${server.url}${prefix}`,
      apiKey: customer.apiKey,
    });
    await caller.until(ended);
    await caller.hangUp();
  }
});

test("an address on a server is below its sub-path", () => {
  const address = (base: string) => serverAddress(base, "/ws/voice").href;
  assert.equal(address("https://a.example"), "https://a.example/ws/voice");
  assert.equal(address("https://a.example/"), "https://a.example/ws/voice");
  assert.equal(address("https://a.example/x/y/?a=b#c"), "https://a.example/x/y/ws/voice");
});
