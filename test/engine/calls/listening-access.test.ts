import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { CallFeed } from "../../../engine/calls/call-feed.js";
import { CallListening } from "../../../engine/calls/call-listening.js";
import { TokenUses } from "../../../engine/security/token-uses.js";
import { ActiveCredentials } from "../../../engine/tenancy/people/active-credentials.js";
import { openPlatform } from "../tenancy/seeded-platform.js";

const CHECK_MS = 500;
const WATCHER = { news: () => undefined, pulse: () => undefined };
const WATCHERS_PER_ORGANIZATION_MAX = 100;

async function listening(context: TestContext, usedMax?: number) {
  const platform = await openPlatform(context);
  const { clock, database, newId } = platform;
  const tenant = await platform.tenantOn("free");
  const feed = new CallFeed(clock);
  const service = new CallListening({
    supervision: {
      findLive: () => Promise.resolve({ callId: "call", isActive: true, channel: "web" as const }),
    },
    feed,
    audit: database.audit,
    standing: new ActiveCredentials({ database, clock }),
    tokenUses: new TokenUses(clock, usedMax),
    secret: "s".repeat(32),
    clock,
    newId,
  });
  const leaving = new AbortController();
  const listen = (token: string) => service.listen(token, WATCHER, leaving.signal);
  return { platform, clock, database, tenant, feed, service, listen, leaving };
}

test("an admin who becomes a member hears no more, and is told why", async (context) => {
  const { clock, database, tenant, service, listen, feed } = await listening(context);
  const { token } = await service.admit(tenant, "call");
  const stream = listen(token);
  const over = assert.rejects(stream, {
    code: "invalid_token",
    message: "token: its key or user may not listen any more",
  });
  await new Promise(setImmediate);
  clock.advance(CHECK_MS);
  await new Promise(setImmediate);
  assert.equal(feed.watcherCount, 1);
  await database.users.setRole(tenant.organization.id, tenant.userId ?? "", "member");
  clock.advance(2 * CHECK_MS);
  await over;
  assert.equal(feed.watcherCount, 0);
});

test("a stream that finds no room does not use up its token", async (context) => {
  const { tenant, service, listen, feed, leaving } = await listening(context);
  const { token } = await service.admit(tenant, "call");
  const others: AbortController[] = [];
  const orgId = tenant.organization.id;
  for (let count = 0; count < WATCHERS_PER_ORGANIZATION_MAX; count += 1) {
    const other = new AbortController();
    others.push(other);
    void feed.watch({ orgId }, WATCHER, other.signal);
  }
  await assert.rejects(listen(token), { code: "concurrency_limit_reached" });
  for (const other of others) other.abort();
  const stream = listen(token);
  await new Promise(setImmediate);
  assert.equal(feed.watcherCount, 1);
  await assert.rejects(listen(token), { code: "invalid_token", message: "token: it was used" });
  leaving.abort();
  await stream;
});

test("where no more tokens can be used at the moment, the refusal says that", async (context) => {
  const { tenant, service, listen } = await listening(context, 0);
  const { token } = await service.admit(tenant, "call");
  await assert.rejects(listen(token), {
    code: "overloaded",
    message: "too many tokens are in use; try again in a minute",
  });
});
