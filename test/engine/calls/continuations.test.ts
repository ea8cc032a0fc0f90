import assert from "node:assert/strict";
import { test } from "node:test";
import { Continuations } from "../../../engine/calls/continuations.js";
import { failedTransferOf } from "../../../engine/calls/transfer-record.js";
import { CALLER_LEFT, type Ending } from "../../../engine/conversation/call-end.js";
import type { CallRecord, JsonObject } from "../../../storage/records.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { callRecord } from "../../storage/sample-records.js";

const HOUR_MS = 3_600_000;
const CLAIMS = {
  vendor: "twilio",
  orgId: "org",
  agentId: "agent",
  callerRef: "CA1",
  callKey: "key",
  attempt: 0,
};

function continuationsWith(call?: CallRecord) {
  const clock = new VirtualClock();
  const continuations = new Continuations({
    secret: "a secret that nobody knows",
    clock,
    calls: { findBySession: async () => call, annotateIf: async () => true },
    liveCalls: { find: () => undefined },
    journal: {
      stored: async () => undefined,
      annotate: () => undefined,
      annotateIf: () => undefined,
    },
    log: new RecordingLogger(),
  });
  return { clock, continuations };
}

function endedWith(endReason: string): CallRecord {
  return { ...callRecord(), status: "completed", metadata: { endReason } };
}

test("a vendor may ask for as long as a telephone call can last, and with no token of another's", () => {
  const { clock, continuations } = continuationsWith();
  const token = continuations.tokenFor(CLAIMS) ?? "";
  clock.advance(24 * HOUR_MS - 1);
  assert.deepEqual(continuations.claimsOf(token), CLAIMS);
  assert.equal(continuations.claimsOf(`${token}x`), undefined);
  clock.advance(1);
  assert.equal(continuations.claimsOf(token), undefined);
});

test("a call continues on a new stream, three times, also if no stream connected; a call that has ended does not", async () => {
  const next = (call?: CallRecord) => continuationsWith(call).continuations.next(CLAIMS);
  const claims = { ...CLAIMS, attempt: 1 };
  const goesOn = { kind: "goesOn", claims };
  assert.deepEqual(await next(endedWith("serverStopping")), goesOn);
  const died = endedWith("a process of the server ended during the call");
  assert.deepEqual(await next(died), goesOn);
  assert.deepEqual(await next(endedWith("agentHungUp")), { kind: "over" });
  assert.deepEqual(await next(undefined), { kind: "askedAgain", claims });
  const { continuations } = continuationsWith();
  assert.equal(continuations.mayGoOn({ ...CLAIMS, attempt: 2 }), true);
  assert.equal(continuations.tokenFor({ ...CLAIMS, attempt: 3 }), undefined);
});

/** The sessions of one telephone call, and what is noted about the first of them. */
function warmTransfer(metadata: JsonObject, sessions = 1) {
  const noted: JsonObject[] = [];
  const events: JsonObject[] = [];
  const continuations: Continuations = new Continuations({
    secret: "a secret that nobody knows",
    clock: new VirtualClock(),
    calls: {
      findBySession: async (_orgId, sessionId) => {
        const known = Array.from({ length: sessions }, (_, attempt) =>
          continuations.conversationOf({ ...CLAIMS, attempt }),
        );
        const isKnown = known.some((each) => each.sessionId === sessionId);
        return isKnown ? { ...callRecord(), status: "completed", metadata } : undefined;
      },
      annotateIf: async (_callId, isMet, note, event) => {
        if (!isMet(metadata)) return false;
        noted.push(note);
        if (event !== undefined) events.push(event.data);
        return true;
      },
    },
    liveCalls: { find: () => undefined },
    journal: {
      stored: async () => undefined,
      annotate: (_callId, note) => void noted.push(note),
      annotateIf: (_callId, isMet, note, event) => {
        if (!isMet(metadata)) return;
        noted.push(note);
        events.push(event.data);
      },
    },
    log: new RecordingLogger(),
  });
  return { continuations, noted, events };
}

const HELD = {
  endReason: "transferred",
  transfer: { to: "+15550101000", mode: "warm", result: "dialing", startedAtMs: 1, isOnHold: true },
};
const RETURNED = { ...CLAIMS, attempt: 1, failedTransfers: 1 };

test("a vendor that asks what follows the stream of a caller on hold gets the hold again, and nothing has failed", async () => {
  const { continuations, noted } = warmTransfer(HELD);
  assert.deepEqual(await continuations.next(CLAIMS), { kind: "onHold", isCertain: true });
  assert.deepEqual(noted, []);
});

test("a transfer does not fail because the store is slow to say that its call has ended", async () => {
  const { endReason: _, ...active } = HELD;
  const { continuations, noted } = warmTransfer(active);
  assert.deepEqual(await continuations.next(CLAIMS), { kind: "onHold", isCertain: false });
  assert.deepEqual(noted, []);
});

test("a caller whose stream closed before the vendor answered the order of the hold stays on hold", async () => {
  const { continuations, noted } = warmTransfer({ ...HELD, endReason: "callerLeft" });
  assert.deepEqual(await continuations.next(CLAIMS), { kind: "onHold", isCertain: false });
  assert.deepEqual(noted, []);
});

for (const result of ["busy", "failed", "answered"]) {
  test(`a vendor that asks late what follows the stream of a caller whose transfer is ${result} gets no hold again`, async () => {
    const decided = {
      endReason: result === "answered" ? "transferred" : "transferFailed",
      transfer: { ...HELD.transfer, result },
    };
    const jambonz = { ...CLAIMS, vendor: "jambonz" };
    const telnyx = { ...CLAIMS, vendor: "telnyx" };
    const { continuations, noted } = warmTransfer(decided);
    assert.deepEqual(
      await continuations.next(jambonz),
      { kind: "sentBack" },
      "it would follow the answer, after what REST has ordered",
    );
    const goesOn = { kind: "goesOn", claims: { ...RETURNED, vendor: "telnyx" } };
    assert.deepEqual(await continuations.next(telnyx), goesOn);
    assert.deepEqual(noted, []);
    const back = warmTransfer(decided, 2).continuations;
    assert.deepEqual(await back.next(telnyx), { kind: "over" }, "the agent has the caller");
    assert.deepEqual(await back.next(jambonz), { kind: "sentBack" });
  });
}

test("a caller of a dialplan who asks first when the transfer has its outcome follows it, and the record says how the call ended", async () => {
  const asterisk = { ...CLAIMS, vendor: "asterisk" };
  const at = (result: string) => warmTransfer({ ...HELD, transfer: { ...HELD.transfer, result } });
  const answered = at("answered");
  const onHold = { kind: "onHold", isCertain: true };
  assert.deepEqual(await answered.continuations.next(asterisk), onHold);
  assert.deepEqual(answered.noted, []);
  const busy = at("busy");
  const goesOn = { kind: "goesOn", claims: { ...RETURNED, vendor: "asterisk" } };
  assert.deepEqual(await busy.continuations.next(asterisk), goesOn);
  assert.equal(busy.noted[0]?.["endReason"], "transferFailed");
});

test("the report of a dialplan that the two have talked says for how long, and that of a conference says nothing of the person", async () => {
  const answered = { ...HELD, transfer: { ...HELD.transfer, result: "answered" } };
  const report = { result: "answered", reason: "ANSWER", durationSec: 42 } as const;
  const talked = warmTransfer(answered);
  const asterisk = { ...CLAIMS, vendor: "asterisk" };
  for (const isThere of [true, false]) {
    const next = await talked.continuations.afterTransfer(asterisk, report, isThere);
    assert.deepEqual(next, { kind: "over" });
    assert.deepEqual(talked.noted.at(-1), { transfer: { durationSec: 42 } });
  }
  const conference = warmTransfer(answered);
  await conference.continuations.afterTransfer(CLAIMS, report, true);
  assert.deepEqual(conference.noted, []);
});

test("a caller whose server died before the hold is back with the agent", async () => {
  const { isOnHold: _, ...transfer } = HELD.transfer;
  const { continuations, noted, events } = warmTransfer({ endReason: "callerLeft", transfer });
  assert.deepEqual(await continuations.next(CLAIMS), { kind: "goesOn", claims: RETURNED });
  assert.equal(Object(noted[0]?.["transfer"]).result, "failed");
  assert.deepEqual(
    events.map(({ result }) => result),
    ["failed"],
  );
});

test("a vendor that asks also when the server takes a caller out of the hold gets no second stream", async () => {
  const transfer = { ...HELD.transfer, result: "busy", isSentBack: true };
  const { continuations, noted } = warmTransfer({ ...HELD, transfer });
  assert.deepEqual(await continuations.afterTransfer(CLAIMS, undefined, true), {
    kind: "sentBack",
  });
  const goesOn = { kind: "goesOn", claims: RETURNED };
  assert.deepEqual(await continuations.afterTransfer(CLAIMS, undefined, true, true), goesOn);
  assert.equal(noted.length, 1);
});

test("a caller whose person accepted and never came is back with the agent; one who talked is not", async () => {
  const answered = { ...HELD, transfer: { ...HELD.transfer, result: "answered" } };
  const { continuations, noted } = warmTransfer(answered);
  const report = { result: "answered", reason: "answered", durationSec: undefined } as const;
  assert.deepEqual(await continuations.afterTransfer(CLAIMS, report, true), { kind: "over" });
  const goesOn = { kind: "goesOn", claims: RETURNED };
  assert.deepEqual(await continuations.afterTransfer(CLAIMS, undefined, true, true), goesOn);
  assert.equal(Object(noted.at(-1)?.["transfer"]).result, "failed");
  const gone = await continuations.afterTransfer(CLAIMS, undefined, false, true);
  assert.deepEqual(gone, { kind: "over" });
});

test("a caller who is taken out of the hold gets a new session, also when one has begun meanwhile", async () => {
  const failed = { ...HELD, transfer: { ...HELD.transfer, result: "failed" } };
  const { continuations } = warmTransfer(failed, 2);
  const sentBack = await continuations.afterTransfer(CLAIMS, undefined, true, true);
  assert.deepEqual(sentBack, { kind: "goesOn", claims: { ...RETURNED, attempt: 2 } });
  const asked = await continuations.afterTransfer(CLAIMS, undefined, true);
  assert.deepEqual(asked, { kind: "over" });
});

test("a person's token names one transfer of the call", () => {
  const { continuations } = continuationsWith();
  const person = { claims: CLAIMS, startedAtMs: 1_700_000_000_000 };
  const token = continuations.personTokenFor(person);
  assert.deepEqual(continuations.personClaimsOf(token), person);
  assert.equal(continuations.claimsOf(token), undefined);
  assert.equal(continuations.personClaimsOf(continuations.transferTokenFor(CLAIMS)), undefined);
});

test("the ids of a telephone call's sessions follow from its key, and each names those before it", () => {
  const { continuations } = continuationsWith();
  const [first, second, third] = [0, 1, 2].map((attempt) =>
    continuations.conversationOf({ ...CLAIMS, attempt }),
  );
  assert.ok(first && second && third);
  assert.deepEqual([first.before, second.before], [[], [first.sessionId]]);
  assert.deepEqual(third.before, [second.sessionId, first.sessionId]);
  const keys = [first, second, third].map(({ historyKey }) => historyKey);
  assert.equal(new Set(keys).size, 1);
  const sessionIds = [first, second, third].map(({ sessionId }) => sessionId);
  assert.equal(new Set([...sessionIds, ...keys]).size, 4);
  const other = continuations.conversationOf({ ...CLAIMS, callKey: "another" });
  assert.ok(other.historyKey !== first.historyKey && other.sessionId !== first.sessionId);
  assert.deepEqual(continuationsWith().continuations.conversationOf(CLAIMS), first);
});

test("a call that has lost its stream without noticing is ended, and its end is waited for", async () => {
  const clock = new VirtualClock();
  const endings: Ending[] = [];
  const asked: (readonly string[])[] = [];
  const active: CallRecord = { ...callRecord(), status: "active" };
  const continuations: Continuations = new Continuations({
    secret: "a secret that nobody knows",
    clock,
    calls: {
      findBySession: (...of) => {
        asked.push(of);
        return Promise.resolve(endings.length === 0 ? active : endedWith("agentHungUp"));
      },
      annotateIf: () => assert.fail("there is no warm transfer"),
    },
    liveCalls: {
      find: (callId) => ({ callId, end: (ending) => void endings.push(ending) }),
    },
    journal: {
      stored: () => Promise.resolve(),
      annotate: () => undefined,
      annotateIf: () => undefined,
    },
    log: new RecordingLogger(),
  });
  assert.deepEqual(await continuations.next({ ...CLAIMS, attempt: 1 }), { kind: "over" });
  assert.deepEqual(endings, [CALLER_LEFT]);
  const { sessionId } = continuations.conversationOf({ ...CLAIMS, attempt: 1 });
  assert.deepEqual(asked, [
    ["org", sessionId],
    ["org", sessionId],
  ]);
});

test("a call that is still active a second later, in a dead process, continues on another stream", async () => {
  const { clock, continuations } = continuationsWith({ ...callRecord(), status: "active" });
  const next = continuations.next(CLAIMS);
  for (let look = 0; look < 11; look += 1) {
    await new Promise(setImmediate);
    clock.advance(100);
  }
  assert.deepEqual(await next, { kind: "goesOn", claims: { ...CLAIMS, attempt: 1 } });
});

const PERSON = "+15550101000";
const DIED = "a process of the server ended during the call";
const ORDERED = { to: PERSON, result: "dialing" };

test("the order of a transfer is noted in place of all that is known of an earlier one, and its refusal in place of it", async () => {
  const earlier = { ...HELD.transfer, result: "busy", personCallId: "CA2", reason: "busy" };
  const { continuations, noted } = warmTransfer({ transfer: earlier });
  await continuations.transferOrdered(CLAIMS, PERSON);
  const note = Object(noted[0]?.["transfer"]);
  assert.deepEqual([note.to, note.result, note.mode], [PERSON, "dialing", null]);
  assert.deepEqual([note.personCallId, note.reason, note.isOnHold], [null, null, null]);
  const ordered = warmTransfer({ transfer: ORDERED });
  await ordered.continuations.transferRefused(CLAIMS, PERSON, "vonage answered 404");
  const refused = Object(ordered.noted[0]?.["transfer"]);
  assert.deepEqual(
    [refused.to, refused.result, refused.reason, refused.isRefused],
    [PERSON, "failed", "vonage answered 404", true],
  );
  const facts = { to: PERSON, mode: "blind", result: "failed", reason: "vonage answered 404" };
  const nothing = { acceptedBy: null, waitedSec: null, durationSec: null };
  assert.deepEqual(ordered.events, [{ ...facts, ...nothing }]);
  assert.equal(failedTransferOf({ ...callRecord(), metadata: { transfer: refused } }), undefined);
  const reported = warmTransfer({ transfer: { ...ORDERED, result: "busy" } });
  await reported.continuations.transferRefused(CLAIMS, PERSON, "vonage answered 404");
  assert.deepEqual(reported.noted, [], "the vendor has made it");
});

test("the note of an order that a slow store stores after the vendor's report does not replace the outcome", async () => {
  const reported = warmTransfer({ transfer: { to: PERSON, result: "busy", reason: "busy" } });
  await reported.continuations.transferOrdered(CLAIMS, PERSON);
  assert.deepEqual(reported.noted, []);
  const refused = warmTransfer({ transfer: { to: PERSON, result: "failed", isRefused: true } });
  await refused.continuations.transferOrdered(CLAIMS, PERSON);
  assert.equal(Object(refused.noted[0]?.["transfer"]).result, "dialing", "another try");
});

test("a report counts on a transfer that is unknown, since the server that ordered it has died", async () => {
  const transfer = { to: PERSON, result: "unknown" };
  const { continuations, noted } = warmTransfer({ endReason: DIED, transfer });
  const answered = { result: "answered", reason: "completed", durationSec: 42 } as const;
  assert.deepEqual(await continuations.afterTransfer(CLAIMS, answered, true), { kind: "over" });
  assert.equal(Object(noted[0]?.["transfer"]).result, "answered");
});

test("a server that died behind its order: the next one adds the outcome, and the caller of a busy person is back", async () => {
  const { continuations, noted } = warmTransfer({ endReason: DIED, transfer: ORDERED });
  const busy = { result: "busy", reason: "busy", durationSec: undefined } as const;
  const goesOn = { kind: "goesOn", claims: RETURNED };
  assert.deepEqual(await continuations.afterTransfer(CLAIMS, busy, true), goesOn);
  assert.equal(Object(noted[0]?.["transfer"]).result, "busy");
});

test("a server that died before its order, and after the note of it: the caller is back with the agent", async () => {
  const { continuations } = warmTransfer({ endReason: DIED, transfer: ORDERED });
  const claims = { ...CLAIMS, attempt: 1 };
  assert.deepEqual(await continuations.next(CLAIMS), { kind: "goesOn", claims });
});

test("a store that is away or too slow stops no transfer, and the log says so", async () => {
  const clock = new VirtualClock();
  const log = new RecordingLogger();
  let answers: Promise<never> = Promise.reject(new Error("the store is away"));
  answers.catch(() => undefined);
  const continuations = new Continuations({
    secret: "a secret that nobody knows",
    clock,
    calls: { findBySession: () => answers, annotateIf: () => assert.fail("there is no record") },
    liveCalls: { find: () => undefined },
    journal: {
      stored: async () => undefined,
      annotate: () => undefined,
      annotateIf: () => undefined,
    },
    log,
  });
  await continuations.transferOrdered(CLAIMS, PERSON);
  answers = new Promise(() => {});
  const ordered = continuations.transferOrdered(CLAIMS, PERSON);
  clock.advance(1_000);
  await ordered;
  assert.deepEqual(
    log.ofLevel("warn").map(({ message }) => message),
    [
      "failed to note the order of a transfer",
      "the store was too slow to note the order of a transfer",
    ],
  );
});

test("the outcome of a blind transfer has one event, with what the vendor says of it", async () => {
  const { continuations, noted, events } = warmTransfer({
    endReason: "transferred",
    transfer: { to: PERSON, result: "pending" },
  });
  const answered = { result: "answered", reason: "completed", durationSec: 42 } as const;
  assert.deepEqual(await continuations.afterTransfer(CLAIMS, answered, true), { kind: "over" });
  const facts = { to: PERSON, mode: "blind", acceptedBy: null, waitedSec: null };
  assert.deepEqual(events, [{ ...facts, ...answered }]);
  assert.equal(Object(noted[0]?.["transfer"]).durationSec, 42);
  const known = warmTransfer({ transfer: { to: PERSON, result: "busy" } });
  await known.continuations.afterTransfer(CLAIMS, answered, true);
  assert.deepEqual(known.events, [], "the first outcome counts");
});
