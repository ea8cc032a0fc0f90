import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Route } from "../../../api/contract/route.js";
import { ROUTES } from "../../../api/contract/route-table.js";
import { LoopbackPlatform, type Tenancy } from "./loopback-platform.js";

const KIBIBYTE = 1024;
const withBody = Object.entries<Route>(ROUTES).filter(([, { body }]) => body !== undefined);
/** Their texts and lists are long. */
const large = new Set([
  "createAgent",
  "updateAgent",
  "chatWithAgent",
  "createProvider",
  "updateProvider",
]);

let platform: LoopbackPlatform;
let tenancy: Tenancy;

before(async () => {
  platform = await LoopbackPlatform.start();
  tenancy = await platform.newTenancy();
});

after(() => platform.close());

test("every route takes a body up to its own limit, and says the limit", async () => {
  for (const [id, { method, path }] of withBody) {
    const limitBytes = (large.has(id) ? 256 : 64) * KIBIBYTE;
    const send = (raw: string) =>
      platform.client.send(method.toUpperCase(), path.replace(":id", "x"), {
        headers: tenancy.byKey,
        raw,
      });
    const whole = await send(`{}${" ".repeat(limitBytes - 2)}`);
    assert.notEqual(whole.status, 413, id);
    const over = await send(`{}${" ".repeat(limitBytes - 1)}`);
    assert.equal(over.status, 413, id);
    assert.deepEqual(over.body, { error: `body: expected at most ${limitBytes} bytes` });
  }
});

test("an agent whose instructions are as long as they may be fits", async () => {
  const persona = { systemPrompt: "語".repeat(32_000), guardrails: "語".repeat(32_000) };
  const answer = await platform.client.post(
    "/api/dashboard/agents",
    { persona, name: 1 },
    tenancy.byKey,
  );
  assert.equal(answer.status, 400);
  assert.doesNotMatch(answer.text, /persona/);
});
