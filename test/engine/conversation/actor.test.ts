import assert from "node:assert/strict";
import { test } from "node:test";
import { MULAW_8K } from "../../../engine/audio/audio-format.js";
import { LiveConversation } from "../../../engine/conversation/actor.js";
import { CALLER_LEFT, type Ending } from "../../../engine/conversation/call-end.js";
import { VendorError } from "../../../engine/vendors/contracts.js";

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
    session: new LiveConversation("call", runner, vendorLog, MULAW_8K),
    runner,
    stream,
    told,
  };
}

test("a recognizer that comes when the call is over is cut off, and the call does not begin again", () => {
  const { session, stream, told } = sessionWith();
  session.release();
  session.begin(stream, false);
  assert.deepEqual(told, ["disposed", "closed"]);
});

test("a call that is over is not ended again, and its recognizer is let go once", () => {
  const { session, stream, told } = sessionWith();
  session.begin(stream, true);
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

test("whose failure leaves a call without an answer is told before the caller hears of it", () => {
  const { session, told } = sessionWith();
  const error = new VendorError("acme", "timeout", "acme: too late");
  session.beginWithout({ category: "llm", error });
  assert.deepEqual(told, ["llm failed: acme", "opened"]);
});

test("a minute of audio may come at once, and as much again as time has passed; a caller who sends more is cut off once", () => {
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
  assert.equal(session.heardMs, 61_000);
});

test("what a network kept for five minutes may come at once, after a call that was never too fast", () => {
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
