import assert from "node:assert/strict";
import { test } from "node:test";
import { stockPhrases } from "../../../engine/conversation/lexicon.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const PHRASE_MS = 800;

function waitingCall(fillerAfterMs: number) {
  const phrases = stockPhrases("en");
  const call = new RecordedCall({ ...PLAIN_SETTINGS, phrases, fillerAfterMs });
  call.send({ type: "opened", resumed: true });
  for (const text of phrases?.waiting ?? []) {
    call.send({ type: "phraseReady", text, durationMs: PHRASE_MS });
  }
  call.send({ type: "written", text: "what is my balance" });
  const saidAtMs: number[] = [];
  const look = () => {
    const count = call.effects.filter(({ type }) => type === "playPhrase").length;
    if (count > saidAtMs.length) saidAtMs.push(call.clock.monotonicMs());
  };
  return { call, saidAtMs, look };
}

test("the agent says that it is at work after the silence that it lets pass, and again three and a half seconds after each", () => {
  const { call, saidAtMs, look } = waitingCall(1_500);
  for (let ms = 0; ms < 6_900; ms += 10) {
    call.clock.advance(10);
    look();
  }
  const second = 1_500 + PHRASE_MS + 3_500;
  assert.deepEqual(saidAtMs, [1_500, second]);
});

test("an agent that is to say nothing of it watches no silence, nor does one over its greeting", () => {
  const { call } = waitingCall(0);
  assert.ok(!call.pendingDeadlines.includes("filler"));
  const greeting = new RecordedCall({ ...PLAIN_SETTINGS, fillerAfterMs: 1_500 });
  greeting.send({ type: "opened", resumed: false });
  assert.ok(!greeting.pendingDeadlines.includes("filler"));
});
