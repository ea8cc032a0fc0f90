import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as v from "valibot";
import { ApiKey, CreatedApiKey } from "../../../api/contract/api-key.js";
import { LoopbackPlatform, type Tenancy } from "../http/loopback-platform.js";

const KEYS = "/api/dashboard/api-keys";
let platform: LoopbackPlatform;
let tenancy: Tenancy;

before(async () => {
  platform = await LoopbackPlatform.start();
  tenancy = await platform.newTenancy();
});

after(() => platform.close());

test("a key is shown once, gives access to the dashboard, and none once revoked", async () => {
  const { client } = platform;
  const answer = await client.post(KEYS, { name: "Website" }, tenancy.byToken);
  assert.equal(answer.status, 201);
  const key = v.parse(CreatedApiKey, answer.body);
  assert.match(key.rawKey, /^vk_[0-9a-f]{48}$/);
  assert.equal(key.keyPrefix, key.rawKey.slice(0, 10));
  assert.deepEqual(key.scopes, ["voice", "dashboard"]);

  const byKey = { "x-api-key": key.rawKey };
  const list = await client.get(KEYS, byKey);
  const listed = v.parse(v.array(ApiKey), list.body).find(({ id }) => id === key.id);
  assert.equal(listed?.revokedAt, null);
  assert.doesNotMatch(list.text, new RegExp(key.rawKey));
  assert.equal((await client.get(`${KEYS}?api_key=${key.rawKey}`)).status, 200);

  const revoked = await client.send("DELETE", `${KEYS}/${key.id}`, { headers: tenancy.byToken });
  assert.deepEqual([revoked.status, revoked.body], [200, { success: true }]);
  assert.equal((await client.get(KEYS, byKey)).status, 401);
  const after = v.parse(v.array(ApiKey), (await client.get(KEYS, tenancy.byToken)).body);
  const at = new Date(platform.clock.epochMs()).toISOString();
  assert.equal(after.find(({ id }) => id === key.id)?.revokedAt, at);
});

test("a key can have a single scope", async () => {
  const body = { name: "Phone", scopes: ["voice"] };
  const answer = await platform.client.post(KEYS, body, tenancy.byToken);
  const { rawKey, scopes } = v.parse(CreatedApiKey, answer.body);
  assert.deepEqual(scopes, ["voice"]);
  const refused = await platform.client.get(KEYS, { "x-api-key": rawKey });
  assert.equal(refused.status, 403);
  assert.match(refused.text, /scope/);
});

test("a key can grant at most its own scopes", async () => {
  const { byKey } = await platform.newTenancy("pro", "active", ["dashboard"]);
  const make = (body: object) => platform.client.post(KEYS, { name: "Child", ...body }, byKey);
  for (const scopes of [["voice"], ["voice", "dashboard"]]) {
    const { status, text } = await make({ scopes });
    assert.equal(status, 403, text);
    assert.match(text, /scopes: expected no .*voice.*which the API key of this request lacks/);
  }
  for (const body of [{ scopes: ["dashboard"] }, {}]) {
    const answer = await make(body);
    assert.equal(answer.status, 201);
    assert.deepEqual(v.parse(CreatedApiKey, answer.body).scopes, ["dashboard"]);
  }
  const keys = await platform.client.get(KEYS, byKey);
  assert.equal(v.parse(v.array(ApiKey), keys.body).length, 3, "a refused key is not created");
});

test("wrong names and scopes are refused", async () => {
  const wrong = [
    {},
    { name: "" },
    { name: "a", scopes: [] },
    { name: "a", scopes: ["admin"] },
    { name: "a", scopes: ["voice", "voice"] },
    { name: "a", scopes: "voice" },
  ];
  for (const body of wrong) {
    const answer = await platform.client.post(KEYS, body, tenancy.byToken);
    assert.equal(answer.status, 400, JSON.stringify(body));
  }
});
