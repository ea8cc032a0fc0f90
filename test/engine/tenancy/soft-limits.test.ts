import assert from "node:assert/strict";
import { test } from "node:test";
import { speakable } from "../../../engine/conversation/sentences.js";
import { requirePublicTools } from "../../../engine/tenancy/agents/agent-tools.js";
import { LoopbackPlatform } from "../../api/http/loopback-platform.js";

const ACTIVE_KEYS_MAX = 100;

test("API keys that are created concurrently do not exceed the limit together", async (t) => {
  const platform = await LoopbackPlatform.start();
  t.after(() => platform.close());
  const { byKey } = await platform.newTenancy();
  const made = await Promise.all(
    Array.from({ length: ACTIVE_KEYS_MAX + 30 }, (_, n) =>
      platform.client.post("/api/dashboard/api-keys", { name: `key ${n}` }, byKey),
    ),
  );
  const statuses = made.map(({ status }) => status);
  assert.deepEqual(new Set(statuses), new Set([201, 403]));
  const list = await platform.client.get("/api/dashboard/api-keys", byKey);
  assert.ok(Array.isArray(list.body));
  assert.equal(list.body.length, ACTIVE_KEYS_MAX);
});

for (const host of [
  "127.0.0.1",
  "2130706433",
  "0177.0.0.1",
  "0x7f.1",
  "127.1",
  "[::1]",
  "[::ffff:10.0.0.1]",
  "[fd00::1]",
  "169.254.169.254",
  "localhost",
  "LOCALHOST.",
  "a.localhost",
  "metadata.google.internal",
  "printer.local",
  "redis",
]) {
  test(`a tool at ${host} is refused when it is saved`, () => {
    assert.throws(() => requirePublicTools([toolAt(`http://${host}:8080/find`)]), {
      code: "invalid_request",
      message: /^tools\.0\.url: expected a public address/,
    });
  });
}

test("a tool at a public name or address is accepted", () => {
  for (const host of ["api.example.com", "192.0.1.1", "localhost.example.com"]) {
    requirePublicTools([toolAt(`https://${host}/find`)]);
  }
});

test("extracting the speakable part of a text takes time proportional to its length", () => {
  for (const mark of [" |", "|", "\n ", ", ", "*", "_", "[", "<a"]) {
    const text = `a${mark.repeat(100_000)}b`;
    const began = process.cpuUsage();
    speakable(text);
    const { user } = process.cpuUsage(began);
    assert.ok(user < 20_000_000, `${JSON.stringify(mark)}: ${user} µs`);
  }
});

function toolAt(url: string) {
  const parameters = { type: "object" };
  const rest = { method: "GET", timeoutMs: 1_000, speak: false } as const;
  return { type: "http", name: "find", description: "finds", parameters, url, ...rest } as const;
}
