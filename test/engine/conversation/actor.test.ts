import assert from "node:assert/strict";
import { test } from "node:test";
import { MULAW_8K } from "../../../engine/audio/audio-format.js";
import { ConversationActor, LiveConversation } from "../../../engine/conversation/actor.js";
import { CALLER_LEFT, type Ending } from "../../../engine/conversation/call-end.js";
import {
  DEADLINE_NAMES,
  type DeadlineName,
  dueDeadlines,
  nextDeadline,
  noDeadlines,
  setDeadline,
  takeDueDeadline,
} from "../../../engine/conversation/deadlines.js";
import { DeadlineTimer } from "../../../engine/conversation/effect-runner.js";
import type { ConversationEffect } from "../../../engine/conversation/effects.js";
import type { ConversationEvent } from "../../../engine/conversation/events.js";
import { newConversation } from "../../../engine/conversation/state.js";
import { VendorError } from "../../../engine/vendors/contracts.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

function sessionWith() {
  const told: string[] = [];
  const runner = {
    report: (event: { readonly type: string; readonly ending?: Ending }) =>
      void told.push(
        event.ending === undefined || event.ending === CALLER_LEFT
          ? event.type
          : event.ending.reason,
      ),
    dispose: () => void told.push("disposed"),
    noteVoice: () => undefined,
    nowMs: 0,
    voiceAgoMs: undefined,
  };
  const stream = {
    write: () => undefined,
    finish: async () => void told.push("finished"),
    close: () => void told.push("closed"),
  };
  const vendorLog = {
    vendorFailed: (category: string, { vendor }: VendorError) =>
      void told.push(`${category} failed: ${vendor}`),
    wasDeaf: (sttOutageMs: number) => void told.push(`deaf for ${sttOutageMs} ms`),
  };
  return {
    session: new LiveConversation("call", runner, vendorLog, MULAW_8K, () => "done"),
    runner,
    stream,
    told,
  };
}

test("a recognizer that comes when the call is over is cut off, and the call does not begin again", () => {
  const { session, stream, told } = sessionWith();
  session.release();
  session.start(stream, false);
  assert.deepEqual(told, ["disposed", "closed"]);
});

test("an ended call is not ended again, and its STT is released once", () => {
  const { session, stream, told } = sessionWith();
  session.start(stream, true);
  session.end(CALLER_LEFT);
  session.release();
  session.end(CALLER_LEFT);
  session.release();
  assert.deepEqual(told, ["opened", "endRequested", "disposed", "finished", "disposed"]);
});

test("what a recognizer finds out about turns reaches the call, but for their beginnings", () => {
  const { session, told } = sessionWith();
  for (const mark of ["startOfTurn", "eagerEndOfTurn", "turnResumed", "endOfTurn"] as const) {
    session.onTurn({ mark, text: "" });
  }
  assert.deepEqual(told, ["callerTurnEnding", "callerTurnResumed", "callerTurnEnded"]);
});

test("the vendor that leaves a call without an answer is reported before the caller is told", () => {
  const { session, told } = sessionWith();
  const error = new VendorError("acme", "timeout", "acme: too late");
  session.startWithout({ category: "llm", error });
  assert.deepEqual(told, ["llm failed: acme", "opened"]);
});

test("a minute of audio may arrive at once, and as much more as time has passed; beyond that the call ends once", () => {
  const { session, runner, told } = sessionWith();
  const hearMs = (durationMs: number) => session.hear(new Uint8Array(durationMs * 8).fill(0xff));
  hearMs(60_000);
  runner.nowMs = 1_000;
  hearMs(1_000);
  assert.deepEqual(told, []);
  hearMs(1);
  assert.deepEqual(told, ["callerTooFast"]);
  hearMs(20);
  assert.deepEqual(told, ["callerTooFast"]);
  assert.equal(session.receivedMs, 61_000);
});

test("audio that a network held back for five minutes may arrive at once, if the call was never too fast", () => {
  const { session, runner, told } = sessionWith();
  session.hear(new Uint8Array(160));
  runner.nowMs = 300_000;
  session.hear(new Uint8Array(300_000 * 8).fill(0xff));
  assert.deepEqual(told, []);
});

test("keys, written words, what the telephone has played, and its end reach the call", () => {
  const { session, told } = sessionWith();
  session.pressKey("7");
  session.write("hello");
  session.sentencePlayed({ turnId: 1, index: 0 });
  session.hangUp();
  assert.deepEqual(told, ["digit", "written", "sentencePlayed", "endRequested"]);
});

test("what a recognizer hears, loses and finds again reaches the call and its log", () => {
  const { session, told } = sessionWith();
  const error = new VendorError("acme", "timeout", "acme: too late");
  session.onSpeechStarted();
  session.onTranscript({ text: "hi", isFinal: true, speechFinal: false, lastWordEndMs: 10 });
  session.onUtteranceEnd(10);
  session.onLost(error);
  session.onRecovered(300);
  session.onFailed(error);
  session.played(1, 100);
  session.soundLate(40);
  assert.deepEqual(told, [
    "speechStarted",
    "transcript",
    "utteranceEnd",
    "stt failed: acme",
    "deaf for 300 ms",
    "stt failed: acme",
    "sttFailed",
    "played",
    "soundLate",
  ]);
  assert.equal(session.callId, "call");
});

const MAILBOX_EVENTS_MAX = 1_024;

const OPENED: ConversationEvent = { type: "opened", resumed: true, atMs: 0 };
const HANG_UP: ConversationEvent = { type: "endRequested", ending: CALLER_LEFT, atMs: 1 };
const NOISE: ConversationEvent = { type: "speechStarted", atMs: 2 };

function actorWith(perform: (effect: ConversationEffect, actor: () => ConversationActor) => void) {
  const crashes: unknown[] = [];
  const performer = {
    perform: (effect: ConversationEffect) => perform(effect, () => actor),
    wakeAt: () => undefined,
  };
  const actor: ConversationActor = new ConversationActor(
    newConversation(PLAIN_SETTINGS, []),
    performer,
    (error) => crashes.push(error),
  );
  return { actor, crashes };
}

test("the new state is in place before its effects are performed", () => {
  const phases: string[] = [];
  const { actor } = actorWith((_effect, self) => phases.push(self().state.phase));
  actor.send(OPENED);
  assert.deepEqual([...new Set(phases)], ["live"]);
});

test("an event that an effect causes waits until the effects before it are done", () => {
  const performed: string[] = [];
  const { actor } = actorWith((effect, self) => {
    if (performed.length === 0) self().send(HANG_UP);
    performed.push(effect.type);
  });
  actor.send({ ...OPENED, resumed: false });
  assert.equal(actor.state.phase, "ended");
  assert.equal(performed.at(-1), "end");
  assert.deepEqual(performed.slice(0, 2), ["send", "synthesize"]);
});

test("an effect that throws ends this call once, and later events are dropped", () => {
  let performedCount = 0;
  const { actor, crashes } = actorWith(() => {
    performedCount += 1;
    throw new Error("broken");
  });
  actor.send(OPENED);
  actor.send(HANG_UP);
  assert.equal(performedCount, 1);
  assert.equal(crashes.length, 1);
  assert.match(String(crashes[0]), /broken/);
});

test("a mailbox that fills without end ends the call instead of the memory", () => {
  const { actor, crashes } = actorWith((_effect, self) => {
    for (let n = 0; n <= MAILBOX_EVENTS_MAX; n += 1) self().send(NOISE);
  });
  actor.send(OPENED);
  assert.equal(crashes.length, 1);
  assert.match(String(crashes[0]), /1024 events/);
});

test("as many events as fit are all taken", () => {
  let isFirst = true;
  const { actor, crashes } = actorWith((_effect, self) => {
    if (!isFirst) return;
    isFirst = false;
    for (let n = 0; n < MAILBOX_EVENTS_MAX; n += 1) self().send(NOISE);
  });
  actor.send(OPENED);
  actor.send(HANG_UP);
  assert.deepEqual(crashes, []);
  assert.equal(actor.state.phase, "ended");
});

test("the next deadline is the earliest, and those that are due come in the order of their times, then of their names", () => {
  const state = { deadlines: noDeadlines() };
  assert.equal(nextDeadline(state), undefined);
  setDeadline(state, "maxDuration", 1_000);
  setDeadline(state, "turnStall", 300);
  setDeadline(state, "idle", 200);
  setDeadline(state, "dtmf", 300);
  assert.equal(nextDeadline(state), 200);
  assert.deepEqual(dueDeadlines(state, 199), []);
  assert.deepEqual(dueDeadlines(state, 300), ["idle", "dtmf", "turnStall"]);
});

test("a deadline is taken once, and not before it is due", () => {
  const state = { deadlines: noDeadlines() };
  setDeadline(state, "idle", 200);
  assert.equal(takeDueDeadline(state, "idle", 199), false);
  assert.equal(takeDueDeadline(state, "idle", 200), true);
  assert.equal(takeDueDeadline(state, "idle", 200), false);
  assert.equal(nextDeadline(state), undefined);
});

test("a call that has ended has no deadline", () => {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: false });
  assert.notEqual(nextDeadline(call.actor.state), undefined);
  call.send({
    type: "endRequested",
    ending: { reason: "callerLeft", status: "completed", message: "" },
  });
  assert.deepEqual(call.actor.state.deadlines, noDeadlines());
});

const HARMLESS: readonly DeadlineName[] = DEADLINE_NAMES.filter(
  (name) => name !== "nextWord" && name !== "maxDuration",
);

for (const preemptiveGeneration of [false, true]) {
  const when = preemptiveGeneration ? "where replies are preemptive" : "where they are not";
  test(`a deadline with nothing left to do does nothing, ${when}`, () => {
    for (const name of HARMLESS) {
      const call = new RecordedCall({ ...PLAIN_SETTINGS, preemptiveGeneration });
      call.send({ type: "opened", resumed: true });
      const state = structuredClone(call.actor.state);
      call.takeLines();
      call.reach(name);
      assert.deepEqual(call.takeLines(), [], name);
      assert.deepEqual(call.actor.state, { ...state, deadlines: call.actor.state.deadlines }, name);
    }
  });
}

test("an answer that is being heard is left alone by deadlines of what was before it", () => {
  for (const name of [
    "falseInterruption",
    "outputPause",
    "dtmf",
    "filler",
    "sentenceFlush",
    "overlapBeforeReply",
    "idle",
    "transfer",
  ] as const) {
    const call = new RecordedCall({
      ...PLAIN_SETTINGS,
      preemptiveGeneration: true,
      idleTimeoutMs: 5_000,
    });
    call.send({ type: "opened", resumed: true });
    call.send({ type: "written", text: "what time is it" });
    call.send({ type: "replyToken", turnId: 1, text: "It is ten." });
    call.send({ type: "replyDone", turnId: 1, tokens: 5 });
    call.send({ type: "sentenceWhole", turnId: 1, index: 0, durationMs: 2_000, firstByteAtMs: 0 });
    call.clock.advance(500);
    const state = structuredClone(call.actor.state);
    call.takeLines();
    call.reach(name);
    assert.deepEqual(call.takeLines(), [], name);
    assert.deepEqual(call.actor.state, { ...state, deadlines: call.actor.state.deadlines }, name);
  }
});

test("a deadline that the thread was too busy for lets what has arrived meanwhile be read first", () => {
  const clock = new VirtualClock(0);
  const firedAtMs: number[] = [];
  const timer = new DeadlineTimer(clock, () => firedAtMs.push(clock.monotonicMs()));
  timer.arm(350);
  clock.stall(401);
  assert.deepEqual(firedAtMs, []);
  clock.advance(50);
  timer.arm(360);
  clock.advance(50);
  assert.deepEqual(firedAtMs, [501], "the event that was read has moved the deadline");
  timer.arm(600);
  clock.advance(99);
  assert.deepEqual(firedAtMs, [501, 600]);
});

test("a deadline that is as late as timers often are waits for nothing", () => {
  const clock = new VirtualClock(0);
  const firedAtMs: number[] = [];
  const timer = new DeadlineTimer(clock, () => firedAtMs.push(clock.monotonicMs()));
  timer.arm(350);
  clock.stall(400);
  assert.deepEqual(firedAtMs, [400]);
  assert.equal(clock.pendingTimerCount, 0);
});

test("a deadline that is set again while events are read is not waited for once more", () => {
  const clock = new VirtualClock(0);
  const firedAtMs: number[] = [];
  const timer = new DeadlineTimer(clock, () => firedAtMs.push(clock.monotonicMs()));
  timer.arm(350);
  clock.stall(401);
  clock.stall(300);
  assert.deepEqual(firedAtMs, [701]);
});
