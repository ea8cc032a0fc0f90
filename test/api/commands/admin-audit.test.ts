import assert from "node:assert/strict";
import { userInfo } from "node:os";
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

test("an administrator's actions are recorded under the operating-system account that did them", async () => {
  const { email, apiKeyId, tenant } = await server.customer();
  await server.tenancy.organizations.rename(tenant, "Evil \u001b[2J");
  await admin("org", "plan", email, "pro");
  await admin("org", "suspend", email);
  const { exitCode, output } = await admin("audit", email);
  assert.equal(exitCode, 0);
  const [heading = "", ...lines] = output.split("\n");
  assert.match(heading, /^when +who +action +of what +fields$/);
  const who = `administrator ${userInfo().username}`;
  const when = String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ +`;
  for (const [index, entry] of [
    String.raw`${who} +organization\.suspend +Evil \[2J \(\S+\) +status$`,
    String.raw`${who} +organization\.changePlan +Evil \[2J \(\S+\) +planId$`,
    String.raw`apiKey ${apiKeyId} +organization\.rename +Evil \[2J \(\S+\) +name$`,
    String.raw`administrator server +apiKey\.create +Calls \(${apiKeyId}\)$`,
  ].entries()) {
    assert.match(lines[index] ?? "", new RegExp(when + entry));
  }
});

test("the newest entries are shown, as many as requested, with their total number", async () => {
  const { email, tenant } = await server.customer();
  for (let count = 1; count <= 24; count += 1) {
    await server.tenancy.organizations.rename(tenant, `Name ${count}`);
  }
  const { output } = await admin("audit", email.toUpperCase());
  assert.equal(output.split("\n").length, 1 + 20 + 1 + 1);
  assert.match(output, /\nThe newest 20 of 25; --limit shows more\.\n$/);
  const two = await admin("audit", email, "--limit", "2");
  assert.deepEqual(two.output.match(/Name \d+/g), ["Name 24", "Name 23"]);
  const all = await admin("audit", email, "--limit", "1000");
  assert.doesNotMatch(all.output, /--limit/);
});

test("without an e-mail, the entries of all organizations are shown, each with its organization", async () => {
  const one = await server.customer();
  const two = await server.customer();
  const { output } = await admin("audit", "--limit", "2");
  const [heading = "", ...lines] = output.trimEnd().split("\n");
  assert.match(heading, /organization$/);
  const owners = [two, one].map(({ tenant }) => tenant.organization.id);
  assert.deepEqual(
    lines.map((line) => line.split(" ").at(-1)),
    owners,
  );
});

test("an unknown owner and a wrong limit are refused", async () => {
  const unknown = await admin("audit", "nobody@example.com");
  assert.deepEqual(
    [unknown.exitCode, unknown.errors],
    [1, "no organization has an owner with this e-mail\n"],
  );
  for (const args of [
    ["a@b.c", "d@e.f"],
    ["--limit", "0"],
    ["--limit", "1001"],
    ["--limit", "x"],
  ]) {
    assert.equal((await admin("audit", ...args)).exitCode, 2, args.join(" "));
  }
});
