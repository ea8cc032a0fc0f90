import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  IDEMPOTENCY_KEYS_KEPT_MS,
  IDEMPOTENCY_KEYS_MAX,
  type IdempotentRequest,
  IdempotentRequests,
  isIdempotencyKey,
  PLACING_MAX_MS,
} from "../../../engine/calls/idempotent-requests.js";
import { Changes } from "../../doubles/changes.js";
import { ORDER, outboundFor, slowOrder, TENANT } from "./outbound-stand.js";
import { CALL_START } from "./temporary-journal.js";

const REQUEST: IdempotentRequest = { key: "order 1", route: "post /calls", body: { to: "+1555" } };
const ORG = TENANT.organization.id;

type Parts = Awaited<ReturnType<typeof outboundFor>>;

function ordering({ database, clock, log, outbound }: Parts) {
  const requests = new IdempotentRequests(database.idempotencyKeys, clock, log);
  const order = (request: IdempotentRequest | undefined = REQUEST) =>
    requests.run(ORG, request, (key) => outbound.place(TENANT, ORDER, undefined, key));
  return { requests, order };
}

async function placing(context: TestContext) {
  const parts = await outboundFor(context);
  return { ...parts, ...ordering(parts) };
}

test("a request that is sent again gets the first answer, and the vendor is asked once", async (context) => {
  const { order, vendor } = await placing(context);
  const { isRepeated, answer } = await order();
  assert.equal(isRepeated, false);
  assert.deepEqual(await order(), { isRepeated: true, answer: { ...answer } });
  assert.equal(vendor.asked.length, 1);
  const other = await order({ ...REQUEST, key: "order 2" });
  assert.deepEqual([other.isRepeated, vendor.asked.length], [false, 2]);
});

test("without a key, each request takes effect", async (context) => {
  const { requests } = await placing(context);
  let count = 0;
  const perform = () => Promise.resolve(++count);
  await requests.run(ORG, undefined, perform);
  assert.deepEqual(await requests.run(ORG, undefined, perform), { isRepeated: false, answer: 2 });
});

test("a key that was used for another body or path is refused, and so names itself", async (context) => {
  const { order } = await placing(context);
  await order();
  for (const other of [{ body: { to: "+1556" } }, { route: "post /call-lists" }]) {
    await assert.rejects(order({ ...REQUEST, ...other }), {
      code: "idempotency_key_reused",
      message: "Idempotency-Key: was used for another request; expected a new key",
    });
  }
});

test("while the first request is in progress, the same one is refused for a second", async (context) => {
  const slow = await slowOrder(context);
  const { order } = ordering(slow);
  const { vendor } = slow;
  await slow.accept();
  const before = vendor.asked.length;
  const answers: (() => void)[] = [];
  vendor.answer = (response) => void answers.push(() => vendor.take(response));
  const first = order();
  await vendor.request(before + 1);
  await assert.rejects(order(), { code: "idempotency_key_in_use", retryAfterSec: 1 });
  for (const answer of answers) answer();
  const { answer } = await first;
  assert.deepEqual(await order(), { isRepeated: true, answer: { ...answer } });
  assert.equal(vendor.asked.length, before + 1);
});

test("of requests with one key in the same moment, one asks the vendor", async (context) => {
  const { order, vendor, left } = await placing(context);
  const outcomes = await Promise.allSettled([order(), order()]);
  const ofFirst = outcomes.filter(
    (outcome) => outcome.status === "fulfilled" && !outcome.value.isRepeated,
  );
  assert.equal(ofFirst.length, 1);
  assert.equal(vendor.asked.length, 1);
  assert.deepEqual(left(), [1, 1, 1, 1]);
});

test("a refusal places no call and keeps no key, so the same request may be tried again", async (context) => {
  const { order, vendor, journal } = await placing(context);
  vendor.refuse(400, { code: 21_211, message: "not a number" });
  await assert.rejects(order(), { code: "call_rejected" });
  await journal.stored();
  vendor.answer = (response) => vendor.take(response);
  assert.equal((await order()).isRepeated, false);
});

test("after the death of a process that was asking the vendor, the same request gets the call's id", async (context) => {
  const { requests, order, journal, clock, vendor } = await placing(context);
  const { callId, agentId, historyKey } = CALL_START;
  const callInfo = { direction: "outbound", to: ORDER.to, from: ORDER.from } as const;
  const answer = { id: callId, agentId, status: "queued" };
  const dying = requests.run(ORG, REQUEST, async (key) => {
    const start = { callId, orgId: ORG, agentId, historyKey, callInfo };
    const pendingUntilMs = clock.epochMs() + PLACING_MAX_MS;
    if (key === undefined) return;
    await journal.placingOnce(start, key, { subjectId: callId, answer, pendingUntilMs });
    throw new Error("the process dies");
  });
  await assert.rejects(dying, { message: "the process dies" });
  await assert.rejects(order(), { code: "idempotency_key_in_use" });
  clock.advance(PLACING_MAX_MS);
  assert.deepEqual(await order(), { isRepeated: true, answer });
  assert.equal(vendor.asked.length, 0);
});

test("a key is free again after a day, and is then purged", async (context) => {
  const { requests, order, clock, database } = await placing(context);
  const isKept = async () => (await database.idempotencyKeys.find(ORG, "", 0)).count > 0;
  await order();
  clock.advance(IDEMPOTENCY_KEYS_KEPT_MS);
  assert.ok((await order()).isRepeated);
  clock.advance(1);
  const purged = new Changes();
  const purge = database.idempotencyKeys.purge.bind(database.idempotencyKeys);
  database.idempotencyKeys.purge = (beforeMs) => purge(beforeMs).finally(purged.tell);
  context.after(requests.startPurging());
  await purged.until("the purge", async () => ((await isKept()) ? undefined : true));
  assert.equal((await order()).isRepeated, false);
});

test("an organization with as many keys as are kept is refused, with when to try again, and others are not", async (context) => {
  const { requests, database } = await placing(context);
  const find = database.idempotencyKeys.find.bind(database.idempotencyKeys);
  database.idempotencyKeys.find = async (...sought) => ({
    ...(await find(...sought)),
    count: sought[0] === ORG ? IDEMPOTENCY_KEYS_MAX : 0,
  });
  const perform = () => Promise.resolve("done");
  await assert.rejects(requests.run(ORG, REQUEST, perform), {
    code: "rate_limited",
    retryAfterSec: 3_600,
  });
  assert.equal((await requests.run(ORG, undefined, perform)).answer, "done");
  assert.equal((await requests.run("another", REQUEST, perform)).answer, "done");
});

test("a key is visible ASCII of at most 255 characters", () => {
  assert.ok(isIdempotencyKey("x".repeat(255)));
  assert.ok(isIdempotencyKey('"8e03978e-40d5-43e8-bc93-6894a57f9324"'));
  for (const key of ["x".repeat(256), "two words", "clé", "a\tb"]) {
    assert.equal(isIdempotencyKey(key), false, key);
  }
});
