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
    "operator",
    ...args,
  );

test("the role is granted, listed and revoked while a server runs", async () => {
  const { email } = await server.customer();
  assert.match((await admin("list")).output, /^There is no operator/);
  const isOperator = async () => {
    const user = await server.database.users.findByEmail(email);
    return user?.isOperator;
  };
  assert.equal(
    (await admin("grant", email)).output,
    `${email} is now an operator of the platform.\n`,
  );
  assert.equal(await isOperator(), true);
  const again = await admin("grant", email);
  assert.equal(again.output, `${email} is already an operator of the platform.\n`);
  assert.match((await admin("list")).output, new RegExp(`${email} +Owner`));

  assert.equal((await admin("revoke", email)).output, `${email} is no longer an operator.\n`);
  assert.equal(await isOperator(), false);
  assert.equal((await admin("revoke", email)).output, `${email} is not an operator.\n`);
});

test("errors are reported in one line", async () => {
  const unknown = await admin("grant", "nobody@example.com");
  assert.deepEqual([unknown.exitCode, unknown.errors], [1, "no user has this e-mail\n"]);
  for (const wish of [[], ["grant"], ["revoke"], ["list", "more"], ["grant", "a@b.c", "more"]]) {
    const { exitCode, errors } = await admin(...wish);
    assert.equal(exitCode, 2);
    assert.match(errors, /is not a complete command/);
  }
});
