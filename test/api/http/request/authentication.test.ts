import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Route } from "../../../../api/contract/routes/route.js";
import { ROUTES } from "../../../../api/contract/routes/route-table.js";
import { LoopbackPlatform, type Tenancy } from "../loopback-platform.js";

const guarded = Object.values<Route>(ROUTES).filter(({ auth }) => auth !== "public");
const dashboard = guarded.filter(({ auth }) => auth === "dashboard");
let platform: LoopbackPlatform;
let tenancy: Tenancy;

before(async () => {
  platform = await LoopbackPlatform.start();
  tenancy = await platform.newTenancy();
});

after(() => platform.close());

function ask({ method, path }: Route, headers: Readonly<Record<string, string>>, query = "") {
  const sent = method === "get" || method === "delete" ? { headers } : { headers, body: {} };
  return platform.client.send(method.toUpperCase(), path.replace(":id", "some-id") + query, sent);
}

test("every guarded route refuses requests without credentials, or with wrong ones", async () => {
  const [, payload = "", signature = ""] = (tenancy.byToken["authorization"] ?? "").split(".");
  const unsigned = Buffer.from('{"alg":"none","typ":"JWT"}').toString("base64url");
  const wrong: readonly Readonly<Record<string, string>>[] = [
    {},
    { authorization: "" },
    { authorization: "Bearer" },
    { authorization: "Basic YTpi" },
    { authorization: "Bearer a.b.c" },
    { authorization: `Bearer ${unsigned}.${payload}.` },
    { authorization: `Bearer ${unsigned}.${payload}.${signature}` },
    { "x-api-key": "vk_" },
    { "x-api-key": `vk_${"0".repeat(48)}` },
    { "x-api-key": "' OR 1=1 --" },
  ];
  for (const route of guarded) {
    for (const headers of wrong) {
      const answer = await ask(route, headers);
      assert.equal(answer.status, 401, `${route.method} ${route.path}`);
      assert.equal(answer.headers["www-authenticate"], 'Bearer realm="api"');
    }
  }
});

test("a wrong token is refused even with a right key", async () => {
  const headers = { ...tenancy.byKey, authorization: "Bearer wrong" };
  assert.equal((await platform.client.get("/api/dashboard/agents", headers)).status, 401);
});

test("a pending organization gets 403, by token and by key", async () => {
  const pending = await platform.newTenancy("pro", "pending");
  for (const route of dashboard) {
    assert.equal((await ask(route, pending.byToken)).status, 403, route.path);
    assert.equal((await ask(route, pending.byKey)).status, 403, route.path);
  }
  assert.equal((await platform.client.get("/api/auth/me", pending.byToken)).status, 200);
});

test("a key without the dashboard scope gets 403", async () => {
  const voiceOnly = await platform.newTenancy("pro", "active", ["voice"]);
  for (const route of dashboard) {
    const answer = await ask(route, voiceOnly.byKey);
    assert.equal(answer.status, 403);
    assert.match(answer.text, /lacks the scope \\"dashboard\\"/);
  }
});

test("a key is read from the header or the query", async () => {
  const rawKey = tenancy.byKey["x-api-key"] ?? "";
  const path = "/api/dashboard/agents";
  assert.equal((await platform.client.get(path, { "x-api-key": rawKey })).status, 200);
  assert.equal((await platform.client.get(`${path}?api_key=${rawKey}`)).status, 200);
  assert.equal((await platform.client.get(`${path}?api_key=${rawKey}0`)).status, 401);
});

test("a key is accepted as a bearer token, and next to a proxy's own credentials", async () => {
  const rawKey = tenancy.byKey["x-api-key"] ?? "";
  const path = "/api/dashboard/agents";
  const statusOf = async (headers: Readonly<Record<string, string>>) =>
    (await platform.client.get(path, headers)).status;
  assert.equal(await statusOf({ authorization: `Bearer ${rawKey}` }), 200);
  assert.equal(await statusOf({ authorization: `Bearer ${rawKey}0` }), 401);
  for (const authorization of ["Basic YTpi", "Digest username=a", "Negotiate YTpi", "ApiKey x"]) {
    assert.equal(await statusOf({ "x-api-key": rawKey, authorization }), 200, authorization);
    const refused = await platform.client.get(path, { authorization });
    assert.equal(refused.status, 401, authorization);
    assert.match(refused.text, /authentication is missing: expected a bearer token or an API key/);
  }
});

test("a key does not identify a user", async () => {
  const answer = await platform.client.get("/api/auth/me", tenancy.byKey);
  assert.equal(answer.status, 401);
});

test("a token is refused once it has expired or its organization is suspended", async () => {
  const { byToken, email } = await platform.newTenancy();
  const path = "/api/dashboard/agents";
  assert.equal((await platform.client.get(path, byToken)).status, 200);
  await platform.services.organizations.suspend(email);
  assert.equal((await platform.client.get(path, byToken)).status, 403);
  await platform.services.organizations.activate(email);
  platform.clock.advance(60 * 60 * 1_000);
  assert.equal((await platform.client.get(path, byToken)).status, 401);
});
