import assert from "node:assert/strict";
import { test } from "node:test";
import { Continuations, SENT_BACK_PARAMETER } from "../../../engine/calls/continuations.js";
import { RETURN_MAX_MS } from "../../../engine/calls/warm-transfer-job.js";
import { WarmTransfers } from "../../../engine/calls/warm-transfers.js";
import { stockPhrases } from "../../../engine/conversation/lexicon.js";
import type { StreamClaims } from "../../../engine/security/stream-token.js";
import type { WarmTransferApi } from "../../../engine/telephony/call-control.js";
import { VendorError } from "../../../engine/vendors/contracts.js";
import { LOST_HOLD_CHECK_MS, type NewJob } from "../../../storage/jobs/job-record.js";
import type { CallRecord, JsonObject } from "../../../storage/records.js";
import type { NewEvent } from "../../../storage/webhooks/event-record.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { callRecord } from "../../storage/sample-records.js";

const BASE = "https://voice.example.com";
const PERSON = "+15550101000";
const ORDER = {
  to: PERSON,
  summary: "Ada asks about order 12.",
  base: BASE,
  isCallerThere: () => true,
};
const CLAIMS = {
  vendor: "twilio",
  orgId: "org",
  agentId: "agent",
  callerRef: "CA1",
  callKey: "key",
  attempt: 0,
};
const BUSY = { result: "busy", reason: "busy", durationSec: undefined } as const;
const ENDED = { result: "answered", reason: "completed", durationSec: 9 } as const;

interface Options {
  /** Happens while the vendor places the person's call. */
  readonly whilePlaced?: () => Promise<void>;
  /** Happens while the vendor puts the caller on hold. */
  readonly whileHeld?: () => Promise<void>;
  readonly isBlocked?: true;
  readonly isStoreBroken?: true;
  /** The caller's call has ended before the hold. */
  readonly isCallerGone?: true;
}

/** Warm transfers of one call, which the store has, and what the vendor is asked for. */
function warmTransfers(options: Options = {}, claims: StreamClaims = CLAIMS) {
  let isCallerGone = options.isCallerGone === true;
  const asked: string[] = [];
  const jobs: NewJob[] = [];
  const events: NewEvent[] = [];
  const clock = new VirtualClock();
  const metadata: Record<string, JsonObject> = {};
  let next: CallRecord | undefined;
  const call = (): CallRecord => ({
    ...callRecord(),
    status: "active",
    metadata: { direction: "inbound", to: "+15550109999", ...structuredClone(metadata) },
  });
  const transfer = () => Object(metadata["transfer"]);
  const merge = ({ transfer: changed }: JsonObject) => {
    const merged = { ...transfer(), ...Object(changed) };
    const kept = Object.entries(merged).filter(([, value]) => value !== null);
    metadata["transfer"] = Object.fromEntries(kept);
  };
  const continuations: Continuations = new Continuations({
    secret: "a secret that nobody knows",
    clock,
    calls: {
      findBySession: async (_orgId, sessionId) =>
        sessionId === continuations.conversationOf(claims).sessionId ? call() : undefined,
      annotateIf: () => assert.fail("the vendor asks for nothing"),
    },
    liveCalls: { find: () => undefined },
    journal: {
      stored: async () => undefined,
      annotate: (_id, note) => merge(note),
      annotateIf: () => assert.fail("the vendor reports nothing of a blind transfer"),
    },
    log: new RecordingLogger(),
  });
  const api: WarmTransferApi = {
    verify: async () => undefined,
    hangUp: async () => undefined,
    isLive: async () => !isCallerGone,
    place: async ({ to }) => {
      asked.push(`place ${to}`);
      await options.whilePlaced?.();
      return "CA2";
    },
    redirect: async (_callRef, { document }) => {
      const isBack = document.includes(`${SENT_BACK_PARAMETER}=1`);
      asked.push(isBack ? "back" : "hold");
      if (!isBack) await options.whileHeld?.();
      return options.isCallerGone !== true;
    },
  };
  const log = new RecordingLogger();
  const transfers = new WarmTransfers({
    continuations,
    transferDials: { callerIdOf: async () => "+15550109999" },
    calls: {
      findBySession: async () => next,
      annotate: async (_id, note) => merge(note),
      annotateIf: async (_id, isMet, note, event) => {
        if (options.isStoreBroken === true) throw new Error("the store is away");
        if (!isMet(call().metadata)) return false;
        merge(note);
        if (event !== undefined) events.push(event);
        return true;
      },
    },
    jobs: { add: async (added) => void jobs.push(...added) },
    callControl: {
      warmTransferApi: async () => api,
      hangUp: async (_account, callRef) => void asked.push(`hang up ${callRef}`),
    },
    voices: {
      of: async () => ({
        language: "en-US",
        phrases: stockPhrases("en-US"),
        speak: async () => undefined,
      }),
    },
    dialTargets: undefined,
    doNotCall: { has: async () => options.isBlocked === true },
    clock,
    log,
  });
  const person = () => ({ claims, startedAtMs: Number(transfer().startedAtMs) });
  const leave = () => {
    isCallerGone = true;
  };
  /** The vendor has asked for the next stream before the order of the hold was answered. */
  const beginNext = (begun: Partial<CallRecord>) => {
    merge({ transfer: { result: "failed" } });
    next = { ...callRecord(), ...begun };
  };
  return { transfers, asked, jobs, events, transfer, person, leave, beginNext, clock, log };
}

test("a hold whose answer is lost leaves a failed transfer, and a job that soon looks after the caller", async () => {
  const { transfers, asked, jobs, transfer, clock } = warmTransfers({
    whileHeld: () => Promise.reject(new VendorError("twilio", "timeout", "no answer")),
  });
  assert.equal(await transfers.start(CLAIMS, ORDER), false);
  assert.deepEqual(asked, [`place ${PERSON}`, "hold", "hang up CA2"]);
  const { mode, result, startedAtMs } = transfer();
  assert.deepEqual([mode, result, startedAtMs], ["warm", "failed", clock.epochMs()]);
  assert.equal(jobs.length, 2);
  assert.equal(jobs[1]?.runAfterMs, clock.epochMs() + LOST_HOLD_CHECK_MS);
  assert.equal(jobs[1]?.payload["isReturnDue"], true);
});

test("an outcome has a job that soon finds out whether the caller is back, whoever brings the caller back", async () => {
  const { transfers, jobs, person, clock } = warmTransfers();
  await transfers.start(CLAIMS, ORDER);
  clock.advance(20_000);
  await transfers.reported(person(), { answeredBy: "" }, BUSY, BASE);
  const during = warmTransfers({
    whileHeld: () => during.transfers.reported(during.person(), { answeredBy: "" }, BUSY, BASE),
  });
  await during.transfers.start(CLAIMS, ORDER);
  for (const [stored, nowMs] of [
    [jobs, clock.epochMs()],
    [during.jobs, during.clock.epochMs()],
  ] as const) {
    assert.equal(stored.length, 2);
    assert.equal(stored[1]?.runAfterMs, nowMs + RETURN_MAX_MS);
    assert.equal(stored[1]?.payload["isReturnDue"], true);
  }
});

test("a caller who has hung up before the hold: the person's telephone stops", async () => {
  const { transfers, asked, transfer } = warmTransfers({ isCallerGone: true });
  assert.equal(await transfers.start(CLAIMS, ORDER), false);
  assert.deepEqual(asked, [`place ${PERSON}`, "hold", "hang up CA2"]);
  assert.equal(transfer().result, "failed");
});

test("a caller whose person is busy before the hold stays with the agent", async () => {
  const { transfers, asked, transfer, person } = warmTransfers({
    whilePlaced: () => transfers.reported(person(), { answeredBy: "" }, BUSY, BASE),
  });
  assert.equal(await transfers.start(CLAIMS, ORDER), false);
  assert.deepEqual(asked, [`place ${PERSON}`, "hang up CA2"]);
  assert.equal(transfer().result, "busy");
});

test("a caller whose person is busy during the hold is brought back once, behind it", async () => {
  const { transfers, asked, person } = warmTransfers({
    whileHeld: () => transfers.reported(person(), { answeredBy: "" }, BUSY, BASE),
  });
  assert.equal(await transfers.start(CLAIMS, ORDER), true);
  assert.deepEqual(asked, [`place ${PERSON}`, "hold", "hang up CA2", "back"]);
});

test("a caller who got a new stream before a slow answer to the hold stays there, and the person's telephone stops", async () => {
  const { transfers, asked, beginNext } = warmTransfers({
    whileHeld: async () => beginNext({ status: "active" }),
  });
  assert.equal(await transfers.start(CLAIMS, ORDER), true);
  assert.deepEqual(asked, [`place ${PERSON}`, "hold", "hang up CA2"]);
});

test("a caller whom a late hold has taken out of the new stream is brought back", async () => {
  const { transfers, asked, beginNext } = warmTransfers({
    whileHeld: async () =>
      beginNext({ status: "completed", metadata: { endReason: "callerLeft" } }),
  });
  assert.equal(await transfers.start(CLAIMS, ORDER), true);
  assert.deepEqual(asked, [`place ${PERSON}`, "hold", "back"]);
});

test("a caller whose vendor asks meanwhile what follows the interrupted stream is brought back: most ignore the answer", async () => {
  const documents: string[] = [];
  const { transfers, asked, person } = warmTransfers({
    whileHeld: async () => {
      await transfers.reported(person(), { answeredBy: "" }, BUSY, BASE);
      documents.push((await transfers.interruptedHold(CLAIMS, BASE)) ?? "");
    },
  });
  assert.equal(await transfers.start(CLAIMS, ORDER), true);
  assert.match(documents[0] ?? "", /<Conference/);
  assert.deepEqual(asked, [`place ${PERSON}`, "hold", "hang up CA2", "back"]);
});

test("a vendor that follows the answer gets the hold only where its server may have died before it ordered it", async () => {
  const jambonz = { ...CLAIMS, vendor: "jambonz" };
  const { transfers } = warmTransfers({}, jambonz);
  assert.equal(await transfers.interruptedHold(jambonz, BASE), "[]");
  assert.match((await transfers.interruptedHold(jambonz, BASE, false)) ?? "", /"conference"/);
});

test("a second order while a transfer starts calls no one, and gets the first one's outcome", async () => {
  const { transfers, asked } = warmTransfers();
  const both = [transfers.start(CLAIMS, ORDER), transfers.start(CLAIMS, ORDER)];
  assert.deepEqual(await Promise.all(both), [true, true]);
  assert.equal(await transfers.start(CLAIMS, ORDER), false, "one is under way");
  assert.deepEqual(asked, [`place ${PERSON}`, "hold"]);
});

test("a person of an earlier transfer of the call neither joins nor ends the next one", async () => {
  const { transfers, asked, transfer, person, clock } = warmTransfers();
  assert.equal(await transfers.start(CLAIMS, ORDER), true);
  const first = person();
  await transfers.reported(first, { answeredBy: "" }, BUSY, BASE);
  clock.advance(1);
  assert.equal(await transfers.start(CLAIMS, ORDER), true);
  const before = asked.length;
  await transfers.reported(first, { answeredBy: "" }, BUSY, BASE);
  const key = { digits: "1", speech: "", asked: 1 };
  assert.equal(await transfers.decided(first, key, BASE), undefined);
  assert.equal(asked.length, before);
  assert.equal(transfer().result, "dialing");
  assert.match((await transfers.decided(person(), key, BASE)) ?? "", /<Conference/);
});

const MACHINE = { answeredBy: "machine_start" };
const SILENCE = { digits: "", speech: "", asked: 1 };

test("a verdict on a machine hangs up nobody who listens to the briefing: who accepts is connected", async () => {
  const { transfers, asked, transfer, person } = warmTransfers();
  await transfers.start(CLAIMS, ORDER);
  assert.match((await transfers.answered(person(), BASE)) ?? "", /<Gather/);
  await transfers.reported(person(), MACHINE, undefined, BASE);
  assert.deepEqual(asked, [`place ${PERSON}`, "hold"]);
  const key = { digits: "1", speech: "", asked: 1 };
  assert.match((await transfers.decided(person(), key, BASE)) ?? "", /<Conference/);
  await transfers.reported(person(), MACHINE, undefined, BASE);
  assert.deepEqual(asked, [`place ${PERSON}`, "hold"], "nor one who talks");
  assert.equal(transfer().result, "answered");
});

test("who answers nothing after a verdict on a machine is one, and is not asked again", async () => {
  for (const end of ["silence", "report"] as const) {
    const { transfers, asked, transfer, person } = warmTransfers();
    await transfers.start(CLAIMS, ORDER);
    await transfers.reported(person(), MACHINE, undefined, BASE);
    if (end === "silence") {
      assert.equal(await transfers.decided(person(), SILENCE, BASE), undefined);
    } else await transfers.reported(person(), { answeredBy: "" }, ENDED, BASE);
    assert.deepEqual(asked.slice(2), ["back", "hang up CA2"]);
    assert.deepEqual([transfer().result, transfer().reason], ["machine", "machine_start"]);
  }
});

test("a fax is not asked, and a verdict of an earlier transfer says nothing of the next one", async () => {
  const { transfers, asked, transfer, person, clock } = warmTransfers();
  await transfers.start(CLAIMS, ORDER);
  await transfers.reported(person(), MACHINE, undefined, BASE);
  await transfers.reported(person(), { answeredBy: "fax" }, undefined, BASE);
  assert.deepEqual(asked.slice(2), ["back", "hang up CA2"]);
  assert.deepEqual([transfer().result, transfer().reason], ["machine", "fax"]);
  clock.advance(1);
  await transfers.start(CLAIMS, ORDER);
  assert.match((await transfers.decided(person(), SILENCE, BASE)) ?? "", /<Gather/);
});

test("a caller whose person accepts and leaves is sent back: of two who talked, the caller's call is over", async () => {
  const { transfers, asked, transfer, person, clock } = warmTransfers();
  await transfers.start(CLAIMS, ORDER);
  const key = { digits: "1", speech: "", asked: 1 };
  assert.match((await transfers.decided(person(), key, BASE)) ?? "", /<Conference/);
  await transfers.reported(person(), { answeredBy: "" }, ENDED, BASE);
  assert.deepEqual(asked, [`place ${PERSON}`, "hold"], "the caller's own call may be about to end");
  clock.advance(2_000);
  await new Promise(setImmediate);
  assert.deepEqual(asked, [`place ${PERSON}`, "hold", "back"]);
  assert.deepEqual([transfer().result, transfer().durationSec], ["answered", 9]);
});

test("an acceptance and a failure each have one event", async () => {
  const accepted = warmTransfers();
  await accepted.transfers.start(CLAIMS, ORDER);
  const key = { digits: "1", speech: "", asked: 1 };
  await accepted.transfers.decided(accepted.person(), key, BASE);
  await accepted.transfers.decided(accepted.person(), key, BASE);
  const facts = { to: PERSON, mode: "warm", reason: "", durationSec: null };
  assert.deepEqual(
    accepted.events.map(({ type, data }) => [type, data]),
    [["transfer.completed", { ...facts, result: "answered", acceptedBy: "key", waitedSec: 0 }]],
  );
  const busy = warmTransfers();
  await busy.transfers.start(CLAIMS, ORDER);
  await busy.transfers.reported(busy.person(), { answeredBy: "" }, BUSY, BASE);
  await busy.transfers.reported(busy.person(), { answeredBy: "" }, BUSY, BASE);
  const none = { acceptedBy: null, waitedSec: null };
  assert.deepEqual(
    busy.events.map(({ data }) => data),
    [{ ...facts, ...none, result: "busy", reason: "busy" }],
  );
});

test("an ordered transfer that cannot start is refused, and the record and the event say why", async () => {
  const { transfers, events, transfer, asked } = warmTransfers();
  await transfers.refuse(CLAIMS, ORDER, "no account can make one");
  const { mode, result, reason } = transfer();
  assert.deepEqual([mode, result, reason], ["warm", "failed", "no account can make one"]);
  assert.deepEqual(
    events.map(({ data }) => data["reason"]),
    ["no account can make one"],
  );
  assert.deepEqual(asked, []);
});

test("where no request says that a caller on hold has left, a person who answers is asked nothing, and the caller is sent back should the vendor be wrong", async () => {
  const vonage = { ...CLAIMS, vendor: "vonage" };
  const { transfers, asked, transfer, events, leave } = warmTransfers({}, vonage);
  await transfers.start(vonage, ORDER);
  leave();
  const person = { claims: vonage, startedAtMs: Number(transfer().startedAtMs) };
  assert.equal(await transfers.answered(person, BASE), undefined);
  assert.equal(transfer().result, "canceled");
  assert.equal(events.length, 1);
  assert.deepEqual(asked, [`place ${PERSON}`, "hold", "back"]);
});

test("a person who has accepted is hung up when the caller leaves", async () => {
  const { transfers, asked, person, leave, clock } = warmTransfers();
  await transfers.start(CLAIMS, ORDER);
  await transfers.decided(person(), { digits: "1", speech: "", asked: 1 }, BASE);
  leave();
  await transfers.callerLeft(CLAIMS);
  clock.advance(2_000);
  await new Promise(setImmediate);
  assert.deepEqual(asked, [`place ${PERSON}`, "hold", "hang up CA2"]);
});

test("a vendor that moves an accepted caller to another of its servers asks after the hold, and the person stays", async () => {
  const { transfers, asked, person, clock } = warmTransfers();
  await transfers.start(CLAIMS, ORDER);
  await transfers.decided(person(), { digits: "1", speech: "", asked: 1 }, BASE);
  await transfers.callerLeft(CLAIMS);
  clock.advance(2_000);
  await new Promise(setImmediate);
  assert.deepEqual(asked, [`place ${PERSON}`, "hold"]);
});

test("a person who answers nothing hears the question alone the next time, and a greeting accepts nothing", async () => {
  const { transfers, person } = warmTransfers();
  await transfers.start(CLAIMS, ORDER);
  const { briefingGreeting, briefingQuestion } = stockPhrases("en-US");
  const first = (await transfers.answered(person(), BASE)) ?? "";
  assert.ok(first.indexOf(briefingGreeting) < first.indexOf("<Gather"), first);
  assert.ok(first.indexOf(briefingQuestion) > first.indexOf("<Gather"), first);
  const greeting = { digits: "", speech: "Yeah, who is this?", asked: 1 };
  const second = (await transfers.decided(person(), greeting, BASE)) ?? "";
  assert.ok(second.includes(briefingQuestion) && !second.includes(briefingGreeting), second);
});

test("a vendor that asks for the hold when the transfer has failed sends the caller to the agent", async () => {
  const telnyx = { ...CLAIMS, vendor: "telnyx" };
  const { transfers, transfer, asked, clock } = warmTransfers({}, telnyx);
  const person = () => ({ claims: telnyx, startedAtMs: Number(transfer().startedAtMs) });
  await transfers.start(telnyx, ORDER);
  assert.match((await transfers.hold(telnyx, BASE)) ?? "", /<Conference/);
  await transfers.reported(person(), { answeredBy: "" }, BUSY, BASE);
  assert.match((await transfers.hold(telnyx, BASE)) ?? "", /<Conference/, "the way back follows");
  clock.advance(15_000);
  const document = (await transfers.hold(telnyx, BASE)) ?? "";
  assert.doesNotMatch(document, /<Conference/);
  assert.ok(document.includes(`${SENT_BACK_PARAMETER}=1`), document);
  assert.deepEqual(asked, [`place ${PERSON}`, "hold", "back", "hang up CA2"]);
});

test("a caller whose person fails while the vendor asks for the hold is sent back once", async () => {
  const telnyx = { ...CLAIMS, vendor: "telnyx" };
  const documents: string[] = [];
  const { transfers, asked, transfer } = warmTransfers(
    {
      whileHeld: async () => {
        const person = { claims: telnyx, startedAtMs: Number(transfer().startedAtMs) };
        await transfers.reported(person, { answeredBy: "" }, BUSY, BASE);
        documents.push((await transfers.hold(telnyx, BASE)) ?? "");
      },
    },
    telnyx,
  );
  assert.equal(await transfers.start(telnyx, ORDER), true);
  assert.ok(documents[0]?.includes(`${SENT_BACK_PARAMETER}=1`));
  assert.deepEqual(asked, [`place ${PERSON}`, "hold", "hang up CA2"]);
});

test("a caller who is accepted before the vendor asks for the hold joins the person, if the person is still there", async () => {
  const telnyx = { ...CLAIMS, vendor: "telnyx" };
  const { transfers, transfer, leave } = warmTransfers({}, telnyx);
  await transfers.start(telnyx, ORDER);
  const person = { claims: telnyx, startedAtMs: Number(transfer().startedAtMs) };
  await transfers.decided(person, { digits: "1", speech: "", asked: 1 }, BASE);
  assert.match((await transfers.hold(telnyx, BASE)) ?? "", /<Conference/);
  leave();
  assert.doesNotMatch((await transfers.hold(telnyx, BASE)) ?? "", /<Conference/);
});

test("a number on the do-not-call list is not called", async () => {
  const { transfers, asked } = warmTransfers({ isBlocked: true });
  assert.equal(await transfers.start(CLAIMS, ORDER), false);
  assert.deepEqual(asked, []);
});

test("an ordered transfer to a number that may not be called says so in the record and in an event", async () => {
  const { transfers, asked, transfer, events } = warmTransfers({ isBlocked: true });
  assert.equal(await transfers.start(CLAIMS, { ...ORDER, neverBlind: true }), false);
  assert.deepEqual(asked, []);
  const reason = "the person's number may not be called";
  assert.deepEqual(
    [transfer().mode, transfer().result, transfer().reason],
    ["warm", "failed", reason],
  );
  assert.deepEqual(
    events.map(({ data }) => [data["result"], data["reason"]]),
    [["failed", reason]],
  );
});

test("an order while another transfer is under way has an event with the reason, and that one goes on", async () => {
  const { transfers, asked, transfer, events, clock } = warmTransfers();
  assert.equal(await transfers.start(CLAIMS, ORDER), true);
  clock.advance(1);
  assert.equal(await transfers.start(CLAIMS, { ...ORDER, neverBlind: true }), false);
  assert.deepEqual(asked, [`place ${PERSON}`, "hold"]);
  assert.equal(transfer().result, "dialing");
  assert.deepEqual(
    events.map(({ data }) => data["reason"]),
    ["another warm transfer of the call is under way"],
  );
});

test("a store that is away refuses the transfer, and no one is called", async () => {
  const { transfers, asked, log } = warmTransfers({ isStoreBroken: true });
  assert.equal(await transfers.start(CLAIMS, ORDER), false);
  assert.deepEqual(asked, []);
  assert.equal(log.ofLevel("error").length, 1);
});

const ASTERISK = { ...CLAIMS, vendor: "asterisk", callerRef: "" };
const ACCEPTED = { digits: "1", speech: "", asked: 1 };
const UNANSWERED = { digits: "", speech: "", asked: 1 };
/** The answers to a caller who asks what follows. */
const STILL_WAITS =
  /^wait\|\S+\/api\/telephony\/hold\?token=[\w.-]+\|\S+\/continue\?token=[\w.-]+$/;
const BACK_TO_AGENT = /^next\|\S+\/continue\?token=[\w.-]+&back=1$/;

/** At a vendor whose caller has been put on hold, and has asked once. */
async function askingCaller(options: Options = {}) {
  const stand = warmTransfers(options, ASTERISK);
  assert.equal(await stand.transfers.start(ASTERISK, ORDER), true);
  assert.match((await stand.transfers.hold(ASTERISK, BASE)) ?? "", STILL_WAITS);
  const ask = async () => (await stand.transfers.hold(ASTERISK, BASE, "next")) ?? "";
  return { ...stand, ask };
}

test("a caller who asks waits until the person has accepted, and is joined with the person's channel", async () => {
  const { transfers, person, ask, events, leave } = await askingCaller();
  const token = "[\\w.-]+";
  assert.match(
    (await transfers.answered(person(), BASE)) ?? "",
    new RegExp(`^ask\\|${token}\\|1\\|\\S+/briefing\\?token=${token}&asked=1$`),
  );
  assert.match(await ask(), STILL_WAITS);
  assert.equal(await transfers.decided(person(), ACCEPTED, BASE), "join");
  assert.equal(await transfers.decided(person(), UNANSWERED, BASE), "join", "behind the stream");
  const repeated = await transfers.hold(ASTERISK, BASE);
  assert.match(repeated ?? "", STILL_WAITS, "the dialplan has to know first where to ask");
  assert.equal(await ask(), "join|CA2");
  assert.equal(events.length, 1);
  leave();
  assert.match(await ask(), BACK_TO_AGENT, "the person has gone before the two were joined");
});

test("a caller who asks is led back to the agent after each outcome but an acceptance, as often as it asks", async () => {
  const { transfers, person, ask, transfer } = await askingCaller();
  await transfers.reported(person(), { answeredBy: "" }, BUSY, BASE);
  await transfers.reported(person(), { answeredBy: "" }, ENDED, BASE);
  assert.equal(transfer().result, "busy");
  assert.match(await ask(), BACK_TO_AGENT);
  assert.match(await ask(), BACK_TO_AGENT);
  assert.equal(await transfers.decided(person(), ACCEPTED, BASE), undefined);
});

test("a person who presses nothing is asked three times, and counts as one who has not accepted", async () => {
  const { transfers, person, ask, transfer, asked } = await askingCaller();
  for (const count of [1, 2]) {
    const document = await transfers.decided(person(), { ...UNANSWERED, asked: count }, BASE);
    assert.match(document ?? "", new RegExp(`^ask\\|[\\w.-]+\\|${count + 1}\\|`));
  }
  assert.equal(await transfers.decided(person(), { ...UNANSWERED, asked: 3 }, BASE), undefined);
  assert.equal(transfer().result, "notAccepted");
  assert.ok(asked.includes("hang up CA2"));
  assert.match(await ask(), BACK_TO_AGENT);
});

test("a caller whose stream is gone before the hold: the person's telephone stops", async () => {
  const { transfers, asked, transfer } = warmTransfers({}, ASTERISK);
  const order = { ...ORDER, isCallerThere: () => false };
  assert.equal(await transfers.start(ASTERISK, order), false);
  assert.deepEqual(asked, [`place ${PERSON}`, "hang up CA2"]);
  assert.equal(transfer().result, "failed");
});

test("a caller who should ask and never does has left: a person who answers hears nothing", async () => {
  const { transfers, person, transfer, clock } = warmTransfers({}, ASTERISK);
  assert.equal(await transfers.start(ASTERISK, ORDER), true);
  assert.match((await transfers.answered(person(), BASE)) ?? "", /^ask/, "it may still ask");
  clock.advance(5_000);
  assert.equal(await transfers.answered(person(), BASE), undefined);
  assert.equal(transfer().result, "canceled");
  assert.equal(await transfers.decided(person(), ACCEPTED, BASE), undefined);
});

test("an accept key that comes after the caller has left on hold joins no one", async () => {
  const { transfers, person, transfer, asked, ask } = await askingCaller();
  // The dialplan's report has been stored.
  Object.assign(transfer(), { result: "canceled" });
  await transfers.callerLeft(ASTERISK);
  assert.ok(asked.includes("hang up CA2"));
  assert.equal(await transfers.decided(person(), ACCEPTED, BASE), undefined);
  assert.equal(await transfers.decided(person(), UNANSWERED, BASE), undefined);
  assert.match(await ask(), BACK_TO_AGENT);
});

test("Twilio's person who accepts twice is joined once", async () => {
  const { transfers, person } = warmTransfers();
  await transfers.start(CLAIMS, ORDER);
  assert.match((await transfers.decided(person(), ACCEPTED, BASE)) ?? "", /<Conference/);
  assert.equal(await transfers.decided(person(), ACCEPTED, BASE), undefined);
});
