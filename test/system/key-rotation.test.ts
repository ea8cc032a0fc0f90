import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import * as v from "valibot";
import { adminCommand } from "../../api/commands/admin-command.js";
import { parseConfig } from "../../config.js";
import { type Sandbox, startSandbox } from "../../engine/sandbox/sandbox.js";
import { ran } from "../api/commands/recording-terminal.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { ended, repliesOf } from "./events.js";
import { type Customer, environmentOf, TestServer } from "./test-server.js";

const NEW_KEYS = { JWT_SECRET: "n".repeat(32), ENCRYPTION_KEY: "a5".repeat(32) };

interface Installation {
  readonly dataDir: string;
  readonly sandbox: Sandbox;
}

async function installation(context: TestContext): Promise<Installation> {
  const sandbox = await startSandbox({ journal: true });
  const dataDir = await mkdtemp(join(tmpdir(), "parley-keys-"));
  context.after(async () => {
    await sandbox.close();
    await rm(dataDir, { recursive: true });
  });
  return { dataDir, sandbox };
}

/** Runs the server with these keys while the work runs. */
async function running<Result>(
  place: Installation,
  environment: Readonly<Record<string, string>>,
  work: (server: TestServer) => Promise<Result>,
): Promise<Result> {
  const server = await TestServer.start({ ...place, environment });
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}

async function greetingOf(server: TestServer, customer: Customer): Promise<string | undefined> {
  const caller = await server.call(customer);
  await caller.until(ended);
  await caller.hangUp();
  await server.settled();
  return repliesOf(caller)[0];
}

async function readiness(server: TestServer) {
  const answer = await fetch(`${server.url}/api/ready`);
  const { status, reason } = v.parse(
    v.object({ status: v.string(), reason: v.optional(v.string()) }),
    await answer.json(),
  );
  return { code: answer.status, status, reason };
}

async function statusOf(server: TestServer, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${server.url}/api/auth/me`, { headers });
  await answer.body?.cancel();
  return answer.status;
}

test("both keys of a platform can be changed while users stay signed in and calls continue", async (t) => {
  const place = await installation(t);
  const before = environmentOf(place.sandbox, place.dataDir);
  const old = {
    JWT_SECRET_OLD: before["JWT_SECRET"] ?? "",
    ENCRYPTION_KEY_OLD: before["ENCRYPTION_KEY"] ?? "",
  };
  const settings = parseConfig({ ...before, ...NEW_KEYS, ...old });
  const admin = (...args: readonly string[]) =>
    ran(
      adminCommand(() => settings),
      ...args,
    );

  const { customer, token } = await running(place, {}, async (server) => {
    const owner = await server.customer();
    await server.agent(owner, { persona: { greeting: "Good day." } });
    assert.equal(await greetingOf(server, owner), "Good day.");
    const signUp = { name: "Ann", email: "ann@example.com", password: "correct horse" };
    return { customer: owner, token: (await server.tenancy.accounts.signUp(signUp)).token };
  });

  await running(place, { ...NEW_KEYS, ...old }, async (server) => {
    assert.equal(await statusOf(server, token), 200);
    assert.equal(await greetingOf(server, customer), "Good day.");
    const left = await admin("credentials", "audit");
    assert.match(left.output, /^current key +0\nold key 1 +6\nnone of the keys +0$/m);
    const moved = await admin("credentials", "reseal");
    assert.deepEqual([moved.exitCode, moved.errors], [0, ""]);
    assert.equal(moved.output, "Moved to the current key: 6 (already current: 0).\n");
    const done = await admin("credentials", "audit");
    assert.match(done.output, /^current key +6\nold key 1 +0\nnone of the keys +0$/m);
    assert.match(done.output, /you can remove ENCRYPTION_KEY_OLD/);
    assert.equal(await greetingOf(server, customer), "Good day.");
  });

  await running(place, NEW_KEYS, async (server) => {
    assert.equal(await greetingOf(server, customer), "Good day.");
    assert.equal(await statusOf(server, token), 401);
  });
});

const NOT_READY = {
  code: 503,
  status: "encryption_key",
  reason: "ENCRYPTION_KEY is not the key that encrypted the credentials in this database",
};

test("a server whose key is not its database's is not ready, with and without stored credentials", async (t) => {
  const place = await installation(t);
  const other = { ENCRYPTION_KEY: "a5".repeat(32) };
  const settings = parseConfig({ ...environmentOf(place.sandbox, place.dataDir), ...other });
  const admin = (...args: readonly string[]) =>
    ran(
      adminCommand(() => settings),
      ...args,
    );
  const ready = { code: 200, status: "ready", reason: undefined };
  await running(place, {}, async (server) => {
    assert.deepEqual(await readiness(server), ready);
  });
  await running(place, other, async (server) => {
    assert.deepEqual(await readiness(server), NOT_READY);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    assert.match(metrics, /^parley_ready 0$/m);
    const checked = await admin("check");
    assert.equal(checked.exitCode, 1);
    assert.match(checked.errors, /ENCRYPTION_KEY is not the key/);
  });
  const customer = await running(place, {}, async (server) => {
    assert.deepEqual(await readiness(server), ready);
    const owner = await server.customer();
    await server.agent(owner, { persona: { greeting: "Good day." } });
    return owner;
  });
  const log = new RecordingLogger();
  const server = await TestServer.start({ ...place, log, environment: other });
  try {
    assert.deepEqual(await readiness(server), NOT_READY);
  } finally {
    await server.stop();
  }
  const error = log.lines.find(({ level }) => level === "error");
  assert.match(error?.message ?? "", /Start it with the earlier key/);
  // The server that was not ready has encrypted nothing: with the right key all credentials can be decrypted.
  await running(place, {}, async (again) => {
    assert.deepEqual(await readiness(again), ready);
    assert.equal(await greetingOf(again, customer), "Good day.");
  });
  const accepted = await admin("credentials", "accept");
  assert.match(accepted.output, /restart the server\.\nNo key decrypts these/);
  await running(place, other, async (again) => {
    assert.deepEqual(await readiness(again), ready);
  });
});
