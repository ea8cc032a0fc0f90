import assert from "node:assert/strict";
import { test } from "node:test";
import { MULAW_8K } from "../../../engine/audio/audio-format.js";
import { CALLER_LEFT } from "../../../engine/session/ending.js";
import { Session } from "../../../engine/session/session.js";
import { VendorError } from "../../../engine/vendors/contracts.js";

function sessionWith() {
  const told: string[] = [];
  const runner = {
    report: ({ type }: { readonly type: string }) => void told.push(type),
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
    wasDeaf: (deafMs: number) => void told.push(`deaf for ${deafMs} ms`),
  };
  return { session: new Session("call", runner, vendorLog, MULAW_8K), stream, told };
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
