import assert from "node:assert/strict";
import { test } from "node:test";
import type { LogFields, Logger } from "../../../engine/log.js";
import { actorOf, changedFields } from "../../../engine/tenancy/audit-entry.js";
import { AuditTrail } from "../../../engine/tenancy/audit-trail.js";
import type { Database } from "../../../storage/database.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { SilentLogger } from "../../doubles/silent-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { openPlatform, platformOfFile, refusal } from "./seeded-platform.js";

const AUDIT_RETENTION_MS = 400 * 24 * 60 * 60 * 1_000;

const sharedPlatform = platformOfFile();

const HOUR_MS = 60 * 60 * 1_000;
const ALL = { limit: 100, skip: 0 };

test("entries are removed after 400 days, once an hour", async (t) => {
  const platform = await openPlatform(t);
  const { database, organizations, clock } = platform;
  const log: Logger = new SilentLogger();
  const removed = new Promise<string>((resolve) => {
    log.info = (_fields: LogFields, message: string) => resolve(message);
  });
  const trail = new AuditTrail({ database, clock });
  const tenant = await platform.tenantOn("free");
  await organizations.rename(tenant, "Old");
  clock.advance(HOUR_MS);
  await organizations.rename(tenant, "New");
  const names = async () => (await trail.list(tenant, ALL)).items.map((entry) => entry.targetName);
  clock.advance(AUDIT_RETENTION_MS - HOUR_MS);
  t.after(trail.startPurging(log));
  assert.deepEqual(await names(), ["New", "Old"]);
  clock.advance(HOUR_MS);
  assert.equal(await removed, "old audit entries were removed");
  assert.deepEqual(await names(), ["New"]);
});

test("a failed purge is logged, and the next one runs as planned", async () => {
  let count = 0;
  const purge = () => {
    count += 1;
    return Promise.reject(new Error("the disk is full"));
  };
  // The double has only the methods that are called.
  const database = { audit: { purge } } as unknown as Database;
  const clock = new VirtualClock();
  const log = new RecordingLogger();
  const stop = new AuditTrail({ database, clock }).startPurging(log);
  clock.advance(HOUR_MS);
  stop();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(count, 2);
  assert.deepEqual(
    log.lines.map(({ message }) => message),
    ["failed to remove old audit entries", "failed to remove old audit entries"],
  );
});

test("a purge is logged with the number of removed entries, and not at all if it removes none", async () => {
  const removed = [0, 1];
  const purge = async () => removed.shift() ?? 0;
  // The double has only the methods that are called.
  const database = { audit: { purge } } as unknown as Database;
  const clock = new VirtualClock();
  const log = new RecordingLogger();
  const stop = new AuditTrail({ database, clock }).startPurging(log);
  await new Promise(setImmediate);
  assert.deepEqual(log.lines, []);
  clock.advance(HOUR_MS);
  await new Promise(setImmediate);
  stop();
  assert.deepEqual(
    log.lines.map(({ fields, message }) => [fields, message]),
    [[{ count: 1 }, "old audit entries were removed"]],
  );
});

test("an entry without changes says so, and activations differ from suspensions", async (t) => {
  const platform = await openPlatform(t);
  const trail = new AuditTrail({ database: platform.database, clock: platform.clock });
  const tenant = await platform.tenantOn("free");
  const { name, ownerEmail } = tenant.organization;
  await platform.organizations.rename(tenant, name);
  await platform.organizations.rename(tenant, `${name} & Sons`);
  await platform.organizations.suspend(ownerEmail);
  await platform.organizations.activate(ownerEmail);
  await platform.organizations.activate(ownerEmail);
  const { items } = await trail.list(tenant, ALL);
  const told = items.map(({ action, changes }) => [action, ...changes].join(" "));
  // All entries have the same time, so their order is not defined.
  assert.deepEqual(
    new Set(told),
    new Set([
      "organization.activate",
      "organization.activate status",
      "organization.rename",
      "organization.rename name",
      "organization.suspend status",
    ]),
  );
  assert.equal(told.length, 5);
});

test("an administrator finds an organization's audit trail by its owner's e-mail", async () => {
  const platform = await sharedPlatform();
  const trail = new AuditTrail({ database: platform.database, clock: platform.clock });
  const { organization } = await platform.tenantOn("free");
  const email = organization.ownerEmail;
  await platform.organizations.suspend(email);
  await platform.organizations.changePlan(email, "pro");
  await platform.organizations.changePlan(email, "pro");
  const { items, total } = await trail.listOfOwner(` ${email.toUpperCase()} `, ALL);
  assert.equal(total, 3);
  assert.deepEqual(
    items.map(({ action, changes, actor }) => [action, changes, actor.id]),
    [
      ["organization.changePlan", [], "server"],
      ["organization.changePlan", ["planId"], "server"],
      ["organization.suspend", ["status"], "server"],
    ],
  );
  assert.deepEqual((await trail.listNewest(1))[0], items[0]);
  await assert.rejects(trail.listOfOwner("nobody@example.com", ALL), refusal("not_found"));
});

test("a change by a tenant without user and key is an error", () => {
  assert.deepEqual(actorOf({ userId: "u", apiKeyId: undefined }), { type: "user", id: "u" });
  assert.deepEqual(actorOf({ userId: undefined, apiKeyId: "k" }), { type: "apiKey", id: "k" });
  assert.throws(() => actorOf({ userId: undefined, apiKeyId: undefined }), /neither/);
});

test("changed fields are named with their path, whatever their values are", () => {
  const before = { name: "a", on: true, persona: { greeting: "x", language: "y" }, list: [1] };
  assert.deepEqual(changedFields(before, structuredClone(before)), []);
  const after = { name: "b", on: true, persona: { greeting: "z", language: "y" }, list: [1, 2] };
  assert.deepEqual(changedFields(before, after), ["name", "persona.greeting", "list"]);
  const nested = { name: "a" };
  assert.deepEqual(changedFields({ one: null, two: nested }, { one: nested, two: null }), [
    "one",
    "two",
  ]);
});
