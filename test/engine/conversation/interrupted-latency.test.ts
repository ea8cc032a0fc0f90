import assert from "node:assert/strict";
import { test } from "node:test";
import type { TurnReport } from "../../../engine/conversation/effects.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const PARTS = ["sttMs", "llmFirstTokenMs", "llmSentenceMs", "ttsFirstByteMs", "ttsRestMs"] as const;

function reportsOf({ effects }: RecordedCall): readonly TurnReport[] {
  return effects.flatMap((effect) =>
    effect.type === "saveTurn" && effect.save.report !== undefined ? [effect.save.report] : [],
  );
}

function answer(call: RecordedCall, turnId: number): void {
  call.send({ type: "replyToken", turnId, text: "The table is yours." });
  call.send({ type: "replyDone", turnId, tokens: 9 });
  const firstByteAtMs = call.clock.monotonicMs();
  call.send({ type: "sentenceWhole", turnId, index: 0, durationMs: 3_000, firstByteAtMs });
}

function totalOf(report: TurnReport | undefined): number | undefined {
  const sum = PARTS.reduce((sumMs, part) => sumMs + (report?.[part] ?? 0), 0);
  assert.equal(sum, report?.totalMs, "the parts are what was waited");
  return report?.totalMs;
}

test("the wait of a turn after an interruption begins with the end of the voice, not of the words", () => {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "book a table" });
  answer(call, 1);
  call.clock.advance(1_000);
  call.hearVoice(true);
  const words = { text: "no wait please", isFinal: true, speechFinal: false };
  const voice = { lastWordEndMs: undefined, endedAgoMs: 0, voiceAgoMs: 0 };
  call.send({ type: "transcript", ...words, ...voice });
  call.clock.advance(1_400);
  call.hearVoice(false);
  call.clock.advance(600);
  if (call.turn === undefined) call.send({ type: "callerTurnEnded" });
  call.reach("endpointing", { voiceAgoMs: call.voiceAgoMs });
  const { turn } = call;
  assert.equal(turn?.kind, "reply");
  assert.equal(turn?.callerEndedAtMs, 2_400);
  call.clock.advance(400);
  answer(call, turn?.id ?? 0);
  call.clock.advance(3_000);
  assert.equal(totalOf(reportsOf(call).at(-1)), call.clock.monotonicMs() - 3_000 - 2_400);
});

test("so does that of a reply which waited for a voice that went on", () => {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "book a table" });
  call.clock.advance(100);
  call.hearVoice(true);
  call.send({ type: "speechStarted", voiceAgoMs: 0 });
  answer(call, 1);
  call.clock.advance(1_000);
  call.hearVoice(false);
  call.clock.advance(5_000);
  const [report] = reportsOf(call);
  const waitedMs = totalOf(report) ?? Number.POSITIVE_INFINITY;
  assert.ok(waitedMs >= 0 && waitedMs <= 1_000, `${waitedMs} ms`);
});
