import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Route } from "../../../../api/contract/routes/route.js";
import { ROUTES } from "../../../../api/contract/routes/route-table.js";
import { LoopbackPlatform, type Tenancy } from "../loopback-platform.js";

const LIMIT_BYTES = 1024 * 1024;
const withBody = Object.entries<Route>(ROUTES).filter(([, { body }]) => body !== undefined);

let platform: LoopbackPlatform;
let tenancy: Tenancy;

before(async () => {
  platform = await LoopbackPlatform.start();
  tenancy = await platform.newTenancy();
  const { users } = platform.database;
  const user = await users.findByEmail(tenancy.email);
  // An unauthenticated client is refused before its body is read.
  assert.ok(user && (await users.setOperator(user.id, true)));
});

after(() => platform.close());

test("every route accepts a body of one MiB, and refuses a longer one with the limit", async () => {
  for (const [id, { method, path, auth }] of withBody) {
    const send = (raw: string) =>
      platform.client.send(method.toUpperCase(), path.replace(":id", "x"), {
        headers: ["user", "admin", "operator"].includes(auth) ? tenancy.byToken : tenancy.byKey,
        raw,
      });
    const whole = await send(`{}${" ".repeat(LIMIT_BYTES - 2)}`);
    assert.notEqual(whole.status, 413, id);
    const over = await send(`{}${" ".repeat(LIMIT_BYTES - 1)}`);
    assert.equal(over.status, 413, id);
    assert.deepEqual(over.body, {
      error: `body: expected at most ${LIMIT_BYTES} bytes`,
      code: "body_too_large",
    });
  }
});

test("an agent with instructions of the maximum length is accepted", async () => {
  const persona = { systemPrompt: "語".repeat(32_000), guardrails: "語".repeat(32_000) };
  const answer = await platform.client.post(
    "/api/dashboard/agents",
    { persona, name: 1 },
    tenancy.byKey,
  );
  assert.equal(answer.status, 400);
  assert.doesNotMatch(answer.text, /persona/);
});

test("an unknown field is ignored, however long it is", async () => {
  const named = { name: "Engines", note: "x".repeat(900_000) };
  const answer = await platform.client.send("PATCH", "/api/dashboard/organization", {
    headers: tenancy.byKey,
    raw: JSON.stringify(named),
  });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(Object(answer.body).name, "Engines");
});

test("a compressed body is refused with the expected encoding, and bounded like any other", async () => {
  const send = (encoding: string, raw: string) =>
    platform.client.send("PATCH", "/api/dashboard/organization", {
      headers: { ...tenancy.byKey, "content-encoding": encoding },
      raw,
    });
  for (const encoding of ["gzip", "br", "identity, deflate"]) {
    const refused = await send(encoding, "not looked at");
    assert.equal(refused.status, 415, encoding);
    assert.deepEqual(refused.body, {
      error: "content-encoding: expected none (identity): send the body uncompressed",
      code: "unsupported_media_type",
    });
  }
  assert.equal((await send("gzip", "x".repeat(LIMIT_BYTES + 1))).status, 413);
  assert.equal((await send("identity", JSON.stringify({ name: "Engines" }))).status, 200);
});
