import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { type TestContext, test } from "node:test";
import { JobRunner } from "../../../engine/jobs/job-runner.js";
import { JobMetrics } from "../../../engine/metrics/job-metrics.js";
import { CredentialCipher } from "../../../engine/security/credential-cipher.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import { WebhookDelivery } from "../../../engine/webhooks/webhook-delivery.js";
import { sealSecrets } from "../../../engine/webhooks/webhook-secrets.js";
import { newEvent } from "../../../storage/webhooks/event-record.js";
import type { DeliveryRecord } from "../../../storage/webhooks/webhook-store.js";
import { SilentLogger } from "../../doubles/silent-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { WebhookReceiver } from "../../doubles/webhook-receiver.js";
import { insertOrganizations, NOON_MS } from "../../storage/sample-records.js";
import { temporaryDatabase } from "../../storage/temporary-file.js";
import { endpointRecord, webhookEntry } from "../../storage/webhooks/sample-endpoint.js";
import { eventually } from "../../system/eventually.js";

const HOUR_MS = 60 * 60 * 1_000;

/** The runner on a real file and real sockets, with time moved by hand. */
async function stand(context: TestContext) {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  const clock = new VirtualClock(NOON_MS);
  const log = new SilentLogger();
  const cipher = new CredentialCipher("0123456789abcdef".repeat(4));
  const connections = new Connections({ clock, allowPrivateAddresses: true });
  const receiver = await WebhookReceiver.open();
  const webhook = new WebhookDelivery({
    database,
    connections,
    cipher,
    publicBaseUrl: undefined,
    clock,
    log,
    newId: randomUUID,
    random: () => 0.5,
  });
  const runner = new JobRunner({
    store: database.jobs,
    handlers: { webhook },
    owner: "me",
    isAlone: true,
    meter: new JobMetrics(),
    clock,
    log,
  });
  const sealedSecrets = sealSecrets([{ secret: "whsec_AAAA", expiresAtMs: null }], cipher);
  const endpoint = endpointRecord({ url: receiver.url, sealedSecrets });
  await database.webhooks.insertWithin(endpoint, 10, webhookEntry());
  runner.start();
  context.after(async () => {
    receiver.close();
    await runner.close(0);
    await connections.close();
  });
  const send = (id = "evt_1") =>
    database.webhooks.addEventFor(
      "endpoint",
      newEvent({
        id,
        orgId: "org",
        type: "webhook.test",
        callId: null,
        atMs: clock.epochMs(),
        data: { message: "hello" },
      }),
    );
  const deliveries = () =>
    database.webhooks.listDeliveries("org", "endpoint", { skip: 0, limit: 50 });
  const after = (count: number): Promise<DeliveryRecord> =>
    eventually(`${count} deliveries`, async () => {
      const found = await deliveries();
      return found.length >= count && runner.runningCount === 0 ? found[0] : undefined;
    });
  /** Moves the clock until the next try was made. */
  const tryAfter = (delayMs: number, count: number) =>
    eventually(`try ${count}`, async () => {
      if ((await deliveries()).length >= count && runner.runningCount === 0) return true;
      const { queuedAtMs = Number.POSITIVE_INFINITY } = await database.jobs.nextTimes();
      // A claim of what is due may be under way, and a longer step would end its lease.
      const isDue = queuedAtMs <= clock.epochMs();
      if (runner.runningCount === 0) clock.advance(isDue ? Math.min(delayMs, 1_000) : delayMs);
      return undefined;
    });
  return { database, clock, receiver, runner, send, deliveries, after, tryAfter };
}

const WRONG: readonly (readonly [string, number | null, (response: ServerResponse) => void])[] = [
  ["answers 500", 500, (response) => void response.writeHead(500).end("no")],
  ["redirects", 302, (response) => void response.writeHead(302, { location: "/" }).end()],
  ["resets the connection", null, (response) => void response.socket?.destroy()],
  ["answers no HTTP", null, (response) => void response.socket?.end("hello\r\n\r\n")],
];

for (const [name, status, answer] of WRONG) {
  test(`a receiver that ${name} has not acknowledged`, async (context) => {
    const { database, receiver, send, after } = await stand(context);
    receiver.answer = answer;
    await send();
    assert.equal((await after(1)).status, status);
    const [job] = await database.jobs.list("org", { state: "queued", skip: 0, limit: 9 });
    assert.equal(job?.runAfterMs, NOON_MS + 5_000);
    assert.notEqual(job.lastError, null);
  });
}

const RIGHT: readonly (readonly [string, (response: ServerResponse) => void])[] = [
  [
    "lies about the length",
    (response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write("short", () => response.socket?.destroy());
    },
  ],
  [
    "answers without an end",
    (response) => {
      response.writeHead(200);
      const more = () =>
        void response.write(Buffer.alloc(64 * 1024, "x"), (error) => error ?? more());
      more();
    },
  ],
];

for (const [name, answer] of RIGHT) {
  test(`a receiver that says 200 and ${name} has acknowledged`, async (context) => {
    const { database, receiver, send, after } = await stand(context);
    receiver.answer = answer;
    await send();
    const delivery = await after(1);
    assert.equal(delivery.status, 200);
    assert.ok(delivery.answer.length <= 1_024);
    assert.deepEqual(await database.jobs.list("org", { state: "queued", skip: 0, limit: 9 }), []);
  });
}

test("a receiver that hangs is given up after 15 seconds", async (context) => {
  const { clock, receiver, runner, send, after } = await stand(context);
  receiver.answer = () => undefined;
  await send();
  await eventually("the request", () => receiver.received[0]);
  assert.equal(runner.runningCount, 1);
  clock.advance(15_000);
  const { status, error, durationMs } = await after(1);
  assert.deepEqual([status, error, durationMs], [null, "no answer within 15 s", 15_000]);
});

test("ten tries over 75 hours have one id; then the job is kept as failed", async (context) => {
  const { database, clock, receiver, send, after, tryAfter } = await stand(context);
  receiver.answer = (response) => void response.writeHead(500).end();
  await send();
  await after(1);
  for (let count = 2; count <= 10; count += 1) await tryAfter(HOUR_MS, count);
  const failed = await eventually("the failed job", async () => {
    const [job] = await database.jobs.list("org", { state: "failed", skip: 0, limit: 9 });
    return job;
  });
  assert.equal(failed.attempts, 10);
  assert.ok(clock.epochMs() - NOON_MS >= 75 * HOUR_MS);
  const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
  assert.deepEqual([ids.length, new Set(ids).size], [10, 1]);
});

test("an endpoint that is down is tried once a second, however many events wait", async (context) => {
  const { clock, database, receiver, send, after } = await stand(context);
  receiver.answer = (response) => void response.writeHead(500).end();
  for (let index = 0; index < 9; index += 1) await send(`evt_${index}`);
  await after(5);
  for (let look = 0; look < 20; look += 1) await database.jobs.nextTimes();
  assert.equal(receiver.received.length, 5);
  clock.advance(999);
  for (let look = 0; look < 20; look += 1) await database.jobs.nextTimes();
  assert.equal(receiver.received.length, 5);
  clock.advance(1);
  await after(6);
  for (let look = 0; look < 20; look += 1) await database.jobs.nextTimes();
  assert.equal(receiver.received.length, 6);
  receiver.answer = (response) => void response.writeHead(204).end();
  clock.advance(1_000);
  await after(9);
});

test("429 with Retry-After holds back all that the endpoint is to get", async (context) => {
  const { clock, receiver, send, after, tryAfter } = await stand(context);
  receiver.answer = (response, count) => {
    if (count === 1) response.writeHead(429, { "retry-after": "600" }).end();
    else response.writeHead(200).end();
  };
  await send("evt_1");
  await after(1);
  await send("evt_2");
  clock.advance(599_000 - 1_000);
  assert.equal(receiver.received.length, 1);
  await tryAfter(1_000, 3);
  assert.ok(clock.epochMs() >= NOON_MS + 600_000);
});

test("an endpoint that fails for five days is disabled", async (context) => {
  const { database, receiver, send, after } = await stand(context);
  receiver.answer = (response) => void response.writeHead(500).end();
  await database.webhooks.noteFailure("endpoint", NOON_MS - 5 * 24 * HOUR_MS);
  await send();
  await after(1);
  const endpoint = await database.webhooks.find("org", "endpoint");
  assert.equal(endpoint?.state, "disabled");
  assert.equal(endpoint.disabledReason, "nothing was acknowledged for 5 days");
  const [job] = await database.jobs.list("org", { state: "failed", skip: 0, limit: 9 });
  assert.equal(job?.lastError, "the receiver answered 500");
});
