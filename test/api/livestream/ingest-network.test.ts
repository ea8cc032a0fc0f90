import assert from "node:assert/strict";
import { test } from "node:test";
import { StateApi } from "./state-api.js";

test("webhooks from another network are refused", async (t) => {
  const api = await StateApi.start(t, { webhookNetworks: ["10.0.0.0/8", "::1"] });
  for (const refused of [await api.publish("alice"), await api.unpublish("alice")]) {
    assert.equal(refused.status, 403);
    assert.match(refused.text, /for the ingest only: the address is not in its network/);
    assert.doesNotMatch(refused.text, /127\.0\.0\.1/);
  }
  assert.deepEqual(await api.keys(), []);
});

test("the network of the ingest can be narrowed to one address", async (t) => {
  const api = await StateApi.start(t, { webhookNetworks: ["127.0.0.1"] });
  assert.equal((await api.publish("alice")).status, 200);
});

test("a state API that listens on IPv6 takes the webhooks of an ingest with an IPv4 address", async (t) => {
  const api = await StateApi.start(t, { host: "::", webhookNetworks: ["127.0.0.1"] });
  assert.equal((await api.publish("alice")).status, 200);
});

const TELLTALES: readonly (readonly [name: string, value: string])[] = [
  ["x-forwarded-for", "127.0.0.1"],
  ["x-real-ip", "127.0.0.1"],
  ["forwarded", "for=127.0.0.1"],
  ["via", "1.1 front"],
  ["origin", "https://elsewhere.example"],
];

for (const [name, value] of TELLTALES) {
  test(`a webhook that came with ${name} is refused: a proxy or a page sent it`, async (t) => {
    const api = await StateApi.start(t);
    const fields = { name: "alice", remoteAddr: "203.0.113.10" };
    const refused = await api.hook("on-publish", fields, { [name]: value });
    assert.equal(refused.status, 403);
    assert.ok(refused.text.includes(name));
    assert.deepEqual(await api.keys(), []);
  });
}

test("the network is looked at before the body", async (t) => {
  const api = await StateApi.start(t, { webhookNetworks: ["10.0.0.0/8"] });
  const text = await api.client.exchange(
    "POST /webhook/on-publish HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n",
    /not in its network/,
  );
  assert.match(text, /^HTTP\/1\.1 403 /);
});

test("pages of other sites are not let at the webhooks", async (t) => {
  const api = await StateApi.start(t);
  const { headers } = await api.client.send("OPTIONS", "/webhook/on-publish", {
    headers: { origin: "https://elsewhere.example", "access-control-request-method": "POST" },
  });
  assert.equal(headers["access-control-allow-origin"], undefined);
});
