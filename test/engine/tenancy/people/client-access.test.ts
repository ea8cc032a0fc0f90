import assert from "node:assert/strict";
import { test } from "node:test";
import { ClientTokens } from "../../../../engine/security/client-token.js";
import { ClientAccess } from "../../../../engine/tenancy/people/client-access.js";
import { platformOfFile, refusal } from "../seeded-platform.js";

const SHOP = "https://shop.example";
const sharedPlatform = platformOfFile();

/** An agent that pages of a shop may call. */
async function shop() {
  const platform = await sharedPlatform();
  const { clock, database, organizations } = platform;
  const clientTokens = new ClientTokens({ secret: "s".repeat(32), clock });
  const access = new ClientAccess({ database, organizations, clientTokens, clock });
  const tenant = await platform.tenantOn("free");
  const input = await platform.agentInput({ allowedOrigins: [SHOP] });
  const { id: agentId } = await platform.agents.create(tenant, input);
  return { platform, access, clientTokens, tenant, agentId };
}

test("a page with a token calls for its organization, with the scope voice only", async () => {
  const { platform, access, tenant, agentId } = await shop();
  const variables = { name: "Ada" };
  const input = { agentId, ttlSec: 60, callMaxSec: 30, origin: SHOP, variables };
  const { token, expiresAtMs } = await access.issue(tenant, input);
  assert.equal(expiresAtMs, platform.clock.epochMs() + 60_000);
  const visit = await access.byToken(token, SHOP);
  assert.ok(typeof visit !== "string");
  const { organization, plan } = tenant;
  const nobody = { userId: undefined, apiKeyId: undefined };
  assert.deepEqual(visit.tenant, { organization, plan, ...nobody, scopes: ["voice"] });
  assert.equal(visit.agentId, agentId);
  const { callMaxSec, origin } = visit.token ?? assert.fail();
  assert.deepEqual([callMaxSec, origin, visit.token?.variables], [30, SHOP, variables]);
});

test("a refused token gives a reason for the page", async () => {
  const { platform, access, clientTokens, tenant, agentId } = await shop();
  const bound = await access.issue(tenant, { agentId, ttlSec: 60, origin: SHOP });
  for (const origin of ["", "https://other.example", `${SHOP}:8443`]) {
    const words = await access.byToken(bound.token, origin);
    assert.equal(words, "the token is for pages of another origin");
  }
  assert.equal(await access.byToken("nonsense", SHOP), "the token is wrong");
  const claims = {
    orgId: "gone",
    agentId,
    callMaxSec: undefined,
    origin: undefined,
    variables: {},
  };
  const homeless = clientTokens.issue(claims, 60)?.token ?? "";
  assert.equal(await access.byToken(homeless, SHOP), "the token is wrong");
  const free = await access.issue(tenant, { agentId, ttlSec: 60 });
  for (const origin of ["", SHOP]) {
    assert.equal(typeof (await access.byToken(free.token, origin)), "object");
  }
  platform.clock.advance(60_000);
  assert.equal(await access.byToken(free.token, SHOP), "the token has expired");
});

test("a page without a token calls a public agent only from an allowed origin", async () => {
  const { platform, access, tenant, agentId } = await shop();
  const visit = await access.byOrigin(agentId, SHOP);
  assert.deepEqual([visit?.agentId, visit?.token], [agentId, undefined]);
  assert.equal(visit?.tenant.organization.id, tenant.organization.id);
  assert.deepEqual(visit?.tenant.scopes, ["voice"]);
  assert.equal(await access.byOrigin(agentId, "https://other.example"), undefined);
  assert.equal(await access.byOrigin("unknown", SHOP), undefined);
  const { id } = await platform.agents.create(
    await platform.tenantOn("free"),
    await platform.agentInput(),
  );
  assert.equal(await access.byOrigin(id, SHOP), undefined);
});

test("tokens are created only for the organization's own agents", async () => {
  const { access, agentId } = await shop();
  const stranger = await shop();
  for (const id of [agentId, "unknown"]) {
    const asked = stranger.access.issue(stranger.tenant, { agentId: id, ttlSec: 60 });
    await assert.rejects(asked, refusal("not_found"));
  }
  assert.ok(access);
});
