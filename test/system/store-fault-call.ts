import assert from "node:assert/strict";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { DATABASE_FILE } from "../../config.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { closeOf, ended } from "./events.js";
import { type Customer, TestServer } from "./test-server.js";

/** Less than the time that a reader waits for a lock. */
const READ_MAX_MS = 4_000;

/** A way to make the database fail, and to repair it. */
export interface StoreRig {
  readonly dataDir?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** False if the database cannot be reached, so that reads fail, too. */
  readonly answersReaders?: false;
  breakStore(databasePath: string): Promise<void>;
  mendStore(): Promise<void>;
}

async function readiness(server: TestServer) {
  const response = await fetch(`${server.url}/api/ready`);
  const body: unknown = await response.json();
  return { status: response.status, retryAfter: response.headers.get("retry-after"), body };
}

async function rest(server: TestServer, { apiKey }: Customer, path: string, body?: object) {
  const beganMs = performance.now();
  const response = await fetch(`${server.url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  await response.text();
  const tookMs = performance.now() - beganMs;
  return { status: response.status, retryAfter: response.headers.get("retry-after"), tookMs };
}

/**
 * Makes a call before, during and after a fault of the database. The call continues, and is stored completely; no other
 * call can begin meanwhile.
 */
export async function callThrough(
  context: TestContext,
  rig: StoreRig,
  reason: RegExp,
): Promise<void> {
  const log = new RecordingLogger();
  const { dataDir, environment } = rig;
  const options = { ...(dataDir && { dataDir }), ...(environment && { environment }), log };
  const server = await TestServer.start(options);
  context.after(() => server.stop());
  context.after(() => server.sandbox.close());
  const customer = await server.customer();
  await server.agent(customer);
  const said = (words: string) => log.lines.some(({ message }) => message.includes(words));
  const caller = await server.call(customer);
  await caller.say("say before");
  await caller.until(ended);
  await rig.breakStore(join(server.dataDir, DATABASE_FILE));

  await caller.say("say during");
  await caller.until(ended, undefined);
  await caller.hangUp();
  await server.quiet();
  await server.changes.until("the log to say so", () => said("nothing can be stored"));
  const ready = await readiness(server);
  assert.deepEqual([ready.status, ready.retryAfter], [503, "5"]);
  assert.match(JSON.stringify(ready.body), reason);
  const refused = await closeOf(server.dial(customer));
  assert.equal(refused.code, 4029);
  assert.match(refused.reason, /takes no calls for the moment/);
  const writing = rest(server, customer, "/api/dashboard/api-keys", { name: "Another" });
  const read = await rest(server, customer, "/api/dashboard/calls");
  assert.equal(read.status, rig.answersReaders === false ? 503 : 200);
  assert.ok(read.tookMs < READ_MAX_MS, `a reader waited for ${read.tookMs} ms`);
  const written = await writing;
  assert.deepEqual([written.status, written.retryAfter], [503, "5"]);

  await rig.mendStore();
  const call = await server.endedCall(customer);
  assert.equal(call.status, "completed");
  assert.deepEqual(
    call.transcript.map(({ text }) => text),
    ["say before", "before", "say during", "during"],
  );
  assert.equal(call.metadata["endReason"], "callerLeft");
  await server.changes.until("calls to be taken again", () => said("everything is stored"));
  assert.equal((await readiness(server)).status, 200);
  await (await server.call(customer)).hangUp();
  await server.endedCalls(customer, 2);
}
