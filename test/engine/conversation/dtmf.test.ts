import assert from "node:assert/strict";
import { test } from "node:test";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

type Setting = Partial<typeof PLAIN_SETTINGS>;

function openCall(settings: Setting = {}): RecordedCall {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, ...settings });
  call.send({ type: "opened", resumed: true });
  return call;
}

/** What the caller was understood to say, each with its moment. */
function said(call: RecordedCall): readonly string[] {
  return call.effects.flatMap((effect) =>
    effect.type === "send" &&
    effect.message.type === "transcript" &&
    effect.message.role === "user" &&
    effect.message.isFinal
      ? [effect.message.text]
      : [],
  );
}

function press(call: RecordedCall, keys: string): void {
  for (const digit of keys) call.send({ type: "digit", digit });
}

test("where two keys are an answer, they are taken at once, and the pound key that follows is a habit", () => {
  const call = openCall({ dtmfDigits: 2 });
  call.clock.advance(1_000);
  press(call, "12");
  assert.deepEqual(said(call), ["[keypad] 12"]);
  call.clock.advance(499);
  press(call, "#");
  call.clock.advance(5_000);
  assert.deepEqual(said(call), ["[keypad] 12"]);
});

test("half a second after an answer the pound key is a separate one", () => {
  const call = openCall({ dtmfDigits: 2 });
  call.clock.advance(1_000);
  press(call, "12");
  call.clock.advance(500);
  press(call, "#");
  assert.deepEqual(said(call), ["[keypad] 12", "[keypad] #"]);
});

test("other digits right after an answer are the next one, which a pause ends, with its pound key", () => {
  const call = openCall({ dtmfDigits: 2 });
  call.clock.advance(1_000);
  press(call, "12");
  call.clock.advance(100);
  press(call, "3#");
  assert.deepEqual(said(call), ["[keypad] 12"]);
  call.clock.advance(1_999);
  assert.deepEqual(said(call), ["[keypad] 12"]);
  call.clock.advance(1);
  assert.deepEqual(said(call), ["[keypad] 12", "[keypad] 3#"]);
});

test("words from a flood of audio are not late: STT returned them as soon as it got their audio", () => {
  for (const floodMs of [1_500, 3_000, 5_500, 7_900, 30_000]) {
    const call = openCall();
    call.clock.advance(40_000);
    call.send({ type: "speechStarted", voiceAgoMs: 250 });
    const words = { text: "say flooded", lastWordEndMs: 1_880 };
    const agos = { endedAgoMs: floodMs, arrivedAgoMs: 270, voiceAgoMs: 270 };
    call.send({ type: "transcript", isFinal: true, speechFinal: true, ...words, ...agos });
    call.clock.advance(0);
    assert.deepEqual(said(call), ["say flooded"], `${floodMs} ms ahead`);
  }
});

const GUESSED = { isFinal: false, speechFinal: false, endedAgoMs: 0 } as const;

test("an empty result in the middle of words neither repeats them nor puts off their end", () => {
  const call = openCall();
  const words = { text: "what do you offer", lastWordEndMs: undefined };
  call.send({ type: "transcript", ...GUESSED, ...words });
  call.clock.advance(2_900);
  call.takeLines();
  call.send({ type: "transcript", ...GUESSED, text: "", lastWordEndMs: undefined });
  assert.deepEqual(call.takeLines(), []);
  call.clock.advance(100);
  assert.deepEqual(said(call), ["what do you offer"]);
});

test("the final version of words that were answered as a guess is no news, whatever it turns them into", () => {
  const call = openCall();
  const guess = { text: "what do you offer", lastWordEndMs: 1_000 };
  call.send({ type: "transcript", ...GUESSED, ...guess });
  call.clock.advance(3_000);
  assert.deepEqual(said(call), ["what do you offer"]);
  call.takeLines();
  const settled = { ...GUESSED, isFinal: true, text: "no idea at all", lastWordEndMs: 1_000 };
  call.send({ type: "transcript", ...settled });
  assert.deepEqual(call.takeLines(), []);
});

test("words that were answered as a guess and end seven tenths of a second later were said again", () => {
  const isNews = (endMs: number) => {
    const call = openCall();
    call.send({ type: "transcript", ...GUESSED, text: "what do you offer", lastWordEndMs: 1_000 });
    call.clock.advance(3_000);
    call.takeLines();
    call.send({ type: "transcript", ...GUESSED, text: "what do you offer", lastWordEndMs: endMs });
    return call.takeLines().length > 0;
  };
  assert.deepEqual([1_699, 1_700].map(isNews), [false, true]);
});
