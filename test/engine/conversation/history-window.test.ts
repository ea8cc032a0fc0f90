import assert from "node:assert/strict";
import { test } from "node:test";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const HISTORY_MESSAGES_MAX = 20;

/** A call of so many questions and answers after the greeting, and what the model was given at each. */
function windowsOf(turns: number): readonly (readonly { role: string; content: string }[])[] {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: false });
  const speak = (index: number) => {
    const turnId = call.turn?.id ?? 0;
    const audio = { turnId, index, durationMs: 500, firstByteAtMs: call.clock.monotonicMs() };
    call.send({ type: "sentenceWhole", ...audio });
  };
  speak(0);
  speak(1);
  call.clock.advance(2_000);
  for (let turn = 1; turn <= turns; turn += 1) {
    const heard = { isFinal: true, speechFinal: true, lastWordEndMs: undefined, endedAgoMs: 0 };
    call.send({ type: "transcript", text: `question ${turn}`, ...heard });
    const turnId = call.turn?.id ?? 0;
    call.send({ type: "replyToken", turnId, text: `Answer ${turn}.` });
    call.send({ type: "replyDone", turnId, tokens: 1 });
    speak(0);
    call.clock.advance(2_000);
  }
  return call.effects.flatMap((effect) => (effect.type === "requestReply" ? [effect.history] : []));
}

test("of a long one the end is given, from something that the caller said", () => {
  for (const window of windowsOf(30).slice(10)) {
    assert.ok(window.length <= HISTORY_MESSAGES_MAX);
    assert.ok(window.length >= HISTORY_MESSAGES_MAX - 1, "no more is left out than one answer");
    assert.equal(window[0]?.role, "user");
    assert.equal(window.at(-1)?.content, `question ${window.at(-1)?.content.split(" ")[1]}`);
  }
});
