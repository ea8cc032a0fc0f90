import assert from "node:assert/strict";
import { test } from "node:test";
import { StateApi } from "./state-api.js";

const FORM = "application/x-www-form-urlencoded";

const LONGEST = "x".repeat(64);

for (const name of ["a", LONGEST, "-", "_x", "2026-01-31_main"]) {
  test(`the name ${name} is accepted`, async (t) => {
    const api = await StateApi.start(t);
    assert.equal((await api.publish(name)).status, 200);
    assert.deepEqual(await api.keys(), [name]);
  });
}

const BAD_NAMES = [
  "",
  `${LONGEST}x`,
  "..",
  ".",
  "../etc",
  "a/b",
  "/a",
  "a\\b",
  "a.b",
  "a b",
  "a\0",
  "a\n",
  "%2e%2e",
  "é",
  "a?b",
  "a#b",
  "__proto__.x",
  "<script>",
];

for (const name of BAD_NAMES) {
  test(`the name ${JSON.stringify(name)} is refused, by both webhooks`, async (t) => {
    const api = await StateApi.start(t);
    for (const answer of [await api.publish(name), await api.unpublish(name)]) {
      assert.equal(answer.status, 400);
      assert.match(answer.text, /"error":"name: expected 1 to 64 letters/);
      assert.ok(name.length < 3 || !answer.text.includes(name), answer.text);
    }
    assert.deepEqual(await api.keys(), []);
  });
}

test("names that are properties of every object are ordinary names", async (t) => {
  const api = await StateApi.start(t);
  for (const name of ["constructor", "toString", "__proto__"]) await api.publish(name);
  assert.deepEqual(await api.keys(), ["__proto__", "constructor", "toString"]);
});

test("a missing name is reported, together with all other errors", async (t) => {
  const api = await StateApi.start(t);
  const { status, body } = await api.hook("on-publish", {
    session: "a b",
    startedAt: "x",
    ttl: "0",
  });
  assert.equal(status, 400);
  assert.ok(body instanceof Object && "details" in body && Array.isArray(body.details));
  assert.deepEqual(
    body.details.map(({ path }: { path: string }) => path),
    ["name", "remoteAddr", "session", "startedAt", "ttl"],
  );
});

test("a field that occurs twice is refused", async (t) => {
  const api = await StateApi.start(t);
  const { status, text } = await api.client.send("POST", "/webhook/on-publish", {
    headers: { "content-type": FORM },
    raw: "name=alice&name=bob&remoteAddr=1.2.3.4",
  });
  assert.equal(status, 400);
  assert.match(text, /"name: expected once"/);
});

const ADDRESSES: readonly (readonly [given: string, shown: string])[] = [
  ["203.0.113.10", "203.0.113.10"],
  ["203.0.113.10:51234", "203.0.113.10"],
  ["2001:db8::7", "2001:db8::7"],
  ["[2001:db8::7]:51234", "2001:db8::7"],
  ["::ffff:203.0.113.10", "203.0.113.10"],
  ["", ""],
];

for (const [given, shown] of ADDRESSES) {
  test(`the address ${JSON.stringify(given)} is shown as ${JSON.stringify(shown)}`, async (t) => {
    const api = await StateApi.start(t);
    assert.equal((await api.publish("alice", { remoteAddr: given })).status, 200);
    assert.equal((await api.streams())[0]?.["clientIp"], shown);
  });
}

test("the address may stand under the name that nginx-rtmp has for it", async (t) => {
  const api = await StateApi.start(t);
  await api.hook("on-publish", { name: "alice", addr: "198.51.100.9" });
  assert.equal((await api.streams())[0]?.["clientIp"], "198.51.100.9");
});

test("an ingest that has lost the address does not take it away", async (t) => {
  const api = await StateApi.start(t);
  await api.publish("alice", { remoteAddr: "198.51.100.9" });
  await api.publish("alice", { remoteAddr: "" });
  assert.equal((await api.streams())[0]?.["clientIp"], "198.51.100.9");
});

for (const remoteAddr of ["localhost", "1.2.3", "1.2.3.4.5", "<b>", `${"0".repeat(61)}::1`]) {
  test(`the address ${JSON.stringify(remoteAddr)} is refused`, async (t) => {
    const api = await StateApi.start(t);
    const { status, body } = await api.publish("alice", { remoteAddr });
    assert.equal(status, 400);
    const message = "expected an IPv4 or IPv6 address";
    assert.deepEqual(body, {
      error: `remoteAddr: ${message}`,
      code: "invalid_request",
      details: [{ path: "remoteAddr", message }],
    });
  });
}
