import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { adminCommand } from "../../../api/commands/admin-command.js";
import { TestServer } from "../../system/test-server.js";
import { ran } from "./recording-terminal.js";

let server: TestServer;
before(async () => {
  server = await TestServer.start();
});
after(() => server.stop());

const admin = (...args: readonly string[]) =>
  ran(
    adminCommand(() => ({ dataDir: server.dataDir, port: 0 })),
    ...args,
  );

test("numbers are allowed, listed and revoked while a server runs", async () => {
  assert.match((await admin("number", "list")).output, /^No organization may call from any number/);
  const customer = await server.customer();
  const { email, tenant } = customer;
  const allowed = await admin("number", "allow", email, "+15550300001");
  assert.equal(allowed.errors, "");
  assert.equal(allowed.output, '"Customer" may now call from +15550300001.\n');
  const orgId = tenant.organization.id;
  assert.equal(await server.tenancy.phoneNumbers.isAllowed(orgId, "+15550300001"), true);
  const again = await admin("number", "allow", email, "+15550300001");
  assert.equal(again.output, '"Customer" may already call from +15550300001.\n');

  const address = await admin("number", "allow", email, "sip:desk@voice.example.com");
  assert.equal(address.output, 'Calls to sip:desk@voice.example.com now reach "Customer".\n');
  await admin("number", "revoke", "sip:desk@voice.example.com");

  const [heading = "", row = ""] = (await admin("number", "list")).output.split("\n");
  assert.match(heading, /^number +owner +organization +vendor +agent +since$/);
  assert.match(
    row,
    /^\+15550300001 +\S+@example\.com +Customer +any +first active +\d{4}-\d\d-\d\d$/,
  );

  await admin("number", "allow", email, "+15550300002", "telnyx");
  const agent = await server.agent(customer, { name: "Reception" });
  await server.tenancy.phoneNumbers.assign(tenant, "+15550300002", { agentId: agent.id });
  assert.match(
    (await admin("number", "list")).output,
    /^\+15550300002 .* Customer +telnyx +Reception /m,
  );

  const revoked = await admin("number", "revoke", "+15550300001");
  assert.equal(revoked.output, '"Customer" may no longer call from +15550300001.\n');
  assert.equal(await server.tenancy.phoneNumbers.isAllowed(orgId, "+15550300001"), false);
});

test("dial targets are allowed, listed and removed while a server runs", async () => {
  assert.match(
    (await admin("number", "targets")).output,
    /^No organization may call any target yet/,
  );
  const { email, tenant } = await server.customer();
  const orgId = tenant.organization.id;
  assert.match((await admin("number", "reach", email, "+49")).output, /may now reach \+49/);
  assert.match((await admin("number", "reach", email, "+49")).output, /may already reach \+49/);
  assert.equal(await server.tenancy.dialTargets.mayReach(orgId, "+4930901820"), true);
  assert.match((await admin("number", "targets")).output, new RegExp(`${email} +Customer +\\+49`));
  assert.match((await admin("number", "unreach", email, "+49")).output, /no longer reach \+49/);
  assert.equal(await server.tenancy.dialTargets.mayReach(orgId, "+4930901820"), false);
  const wrong = await admin("number", "reach", email, "49");
  assert.equal(wrong.exitCode, 1);
  assert.match(wrong.errors, /^target: expected a number/);
});

test("errors are reported in one line", async () => {
  const [one, other] = [await server.customer(), await server.customer()];
  await admin("number", "allow", one.email, "+15550300002");
  for (const [wish, reason] of [
    [["allow", other.email, "+15550300002"], /^the number belongs to another organization/],
    [["allow", one.email, "0555"], /^number: expected a number in E\.164/],
    [
      ["allow", "nobody@example.com", "+15550300003"],
      /^no organization has an owner with this e-mail/,
    ],
    [["revoke", "+15550300009"], /^no organization may call from this number$/],
  ] as const) {
    const { exitCode, errors } = await admin("number", ...wish);
    assert.equal(exitCode, 1);
    assert.match(errors.trimEnd(), reason);
  }
});

test("an invalid command line changes nothing", async () => {
  for (const wish of [
    [],
    ["fly"],
    ["list", "all"],
    ["allow", "a@example.com"],
    ["allow", "a@example.com", "+15550300004", "+15550300005"],
    ["allow", "a@example.com", "+15550300004", "twilio", "more"],
    ["revoke"],
    ["revoke", "+15550300004", "+15550300005"],
    ["list", "--all"],
  ]) {
    assert.equal((await admin("number", ...wish)).exitCode, 2);
  }
});
