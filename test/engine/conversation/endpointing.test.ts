import assert from "node:assert/strict";
import { test } from "node:test";
import {
  decideEndOfTurn,
  type EndOfTurnSignal,
  isOpenEnded,
  isRepeated,
  isUndecided,
  undecidedMaxMs,
} from "../../../engine/conversation/endpointing.js";
import type { TranscriptEvent } from "../../../engine/conversation/events.js";
import type { EndOfTurn } from "../../../engine/conversation/reasons.js";
import { type ConversationState, newConversation } from "../../../engine/conversation/state.js";
import { changed, type StateChanges } from "../../doubles/changed-state.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const HEARD = { isFinal: true, speechFinal: false, lastWordEndMs: undefined, endedAgoMs: 0 };

const isAnswered = (call: RecordedCall) => call.effects.some(({ type }) => type === "requestReply");

test("a sentence that is left open is over when the recognizer heard no word for as long as the agent is patient", () => {
  const isOverAfter = (endedAgoMs: number) => {
    const call = new RecordedCall(PLAIN_SETTINGS);
    call.send({ type: "opened", resumed: true });
    call.send({ type: "transcript", text: "my name is", ...HEARD });
    call.send({ type: "utteranceEnd", lastWordEndMs: 0, endedAgoMs });
    return isAnswered(call);
  };
  assert.deepEqual([1_499, 1_500].map(isOverAfter), [false, true]);
});

test("words that end as their voice is noticed are that voice's, and no others are waited for", () => {
  const isAnsweredBy2s = (noticedAfterMs: number) => {
    const call = new RecordedCall(PLAIN_SETTINGS);
    call.send({ type: "opened", resumed: true });
    call.clock.advance(900);
    call.hearVoice(true);
    call.hearVoice(false);
    call.clock.advance(100);
    if (noticedAfterMs === 0) call.send({ type: "speechStarted", voiceAgoMs: 100 });
    call.send({ type: "transcript", text: "what do you offer", ...HEARD });
    call.clock.advance(noticedAfterMs);
    if (noticedAfterMs > 0) call.send({ type: "speechStarted", voiceAgoMs: 101 });
    call.clock.advance(1_000 - noticedAfterMs);
    return isAnswered(call);
  };
  assert.deepEqual([0, 1].map(isAnsweredBy2s), [true, false]);
});

test("a sentence that is whole is over when the recognizer says so, however short the silence was", () => {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: true });
  call.send({ type: "transcript", text: "what do you offer", ...HEARD });
  call.send({ type: "utteranceEnd", lastWordEndMs: 0, endedAgoMs: 200 });
  assert.equal(isAnswered(call), true);
});

test("a turn is over when the voice in it has been quiet for the agent's silence, to the millisecond", () => {
  const leftMs = (voiceAgoMs: number) => {
    const call = new RecordedCall(PLAIN_SETTINGS);
    call.send({ type: "opened", resumed: true });
    call.send({ type: "transcript", text: "what do you offer", ...HEARD });
    call.clock.advance(600);
    call.takeLines();
    call.reach("endpointing", { voiceAgoMs });
    return isAnswered(call) ? 0 : Number(call.takeLines()[0]?.split(" ").at(-1));
  };
  assert.deepEqual([0, 500, 699, 699.5, 700].map(leftMs), [700, 200, 1, 0, 0]);
});

const AT_MS = 10_000;
const SAID = { isFinal: true, speechFinal: false, lastWordEndMs: undefined, endedAgoMs: 100 };
const MARKED = [1, 2].flatMap(() => [
  { role: "user", content: "I want a room." } as const,
  { role: "assistant", content: "Gladly." } as const,
]);

interface Heard {
  readonly finals?: string;
  readonly interim?: string;
}

/** The caller has said this, and ended it 100 ms ago. */
function heard({ finals = "", interim = "" }: Heard, more: StateChanges = {}) {
  const state = newConversation(PLAIN_SETTINGS, []);
  const hearing = { ...state.user.hearing, finals, interim };
  const user = { hearing, endedAtMs: AT_MS - 100, ...more.user };
  return changed(state, { ...more, user });
}

function transcript(text: string, more: { isFinal?: boolean; speechFinal?: boolean } = {}) {
  return { type: "transcript", text, atMs: AT_MS, ...SAID, ...more } as const;
}

const wordsOf = (text: string, isFinal = true): EndOfTurnSignal => ({
  type: "words",
  event: transcript(text, { isFinal }),
  text,
});
const endpointing = (text: string): EndOfTurnSignal => ({
  type: "endpointing",
  event: transcript(text, { speechFinal: true }),
});
const utteranceEnd = (voiceAgoMs?: number): EndOfTurnSignal => ({
  type: "utteranceEnd",
  event: { type: "utteranceEnd", lastWordEndMs: 0, endedAgoMs: 1_000, voiceAgoMs, atMs: AT_MS },
});
const vendor = (voiceAgoMs?: number): EndOfTurnSignal => ({
  type: "vendor",
  event: { type: "callerTurnEnded", voiceAgoMs, atMs: AT_MS },
});
const timer = (voiceAgoMs?: number): EndOfTurnSignal => ({
  type: "timer",
  event: { type: "deadlineReached", voiceAgoMs, atMs: AT_MS },
});

/** The STT is a second and a half late, and a voice was heard after its newest words. */
const LATE = { user: { sttDelayMs: 1_500, endedAtMs: AT_MS - 2_000 } };

const DONE: readonly (readonly [string, ConversationState, EndOfTurnSignal])[] = [
  ["endpointing", heard({ finals: "what do you offer" }), endpointing("me")],
  ["endpointing", heard({}), endpointing("")],
  ["utteranceEnd", heard({ finals: "what do you offer" }), utteranceEnd()],
  ["vendor", heard({ finals: "what do you offer" }), vendor()],
  ["silenceTimeout", heard({ finals: "what do you offer" }), timer()],
  ["silenceTimeout", heard({ finals: "what do you offer" }), timer(700)],
  ["interimTimeout", heard({ interim: "what do you offer" }), timer()],
  [
    "vendorTimeout",
    heard({ interim: "what do you" }, { user: { undecidedMaxMs: 6_500 } }),
    timer(),
  ],
];

for (const [index, [reason, state, signal]] of DONE.entries()) {
  test(`the caller's turn is over: ${reason} (${index})`, () => {
    assert.deepEqual(decideEndOfTurn(state, signal), { isDone: true, reason });
  });
}

const WAITS: readonly (readonly [string, number, ConversationState, EndOfTurnSignal])[] = [
  ["silence", 700, heard({}), wordsOf("what do you offer")],
  ["interim", 3_000, heard({}), wordsOf("what do you", false)],
  [
    "turnDetection",
    6_500,
    heard({}, { user: { undecidedMaxMs: 6_500 } }),
    wordsOf("what do you", false),
  ],
  ["dictating", 1_500, heard({}), wordsOf("five five one two")],
  ["openEnded", 1_500, heard({}), wordsOf("I would like to")],
  ["openEnded", 1_400, heard({}), endpointing("I would like to")],
  ["openEnded", 500, heard({ finals: "I would like to" }), utteranceEnd()],
  [
    "missingPunctuation",
    1_500,
    heard({}, { record: { history: MARKED } }),
    wordsOf("I want a table"),
  ],
  ["stillSpeaking", 701, heard({ finals: "what do you offer" }), timer(-1)],
  ["lateWords", 1_900, heard({ finals: "what do you offer" }, LATE), utteranceEnd(100)],
  ["lateWords", 1_900, heard({ finals: "what do you offer" }, LATE), vendor(100)],
  ["lateWords", 1_900, heard({ finals: "what do you offer" }, LATE), timer(100)],
];

for (const [index, [reason, afterMs, state, signal]] of WAITS.entries()) {
  test(`the caller's turn continues: ${reason} (${index})`, () => {
    const recheckAtMs = AT_MS + afterMs;
    assert.deepEqual(decideEndOfTurn(state, signal), { isDone: false, reason, recheckAtMs });
  });
}

/** The end of the caller's turn that the newest reply answers. */
function endOf(act: (call: RecordedCall) => void, dtmfDigits = 0): EndOfTurn | undefined {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, dtmfDigits });
  call.send({ type: "opened", resumed: true });
  call.clock.advance(1_000);
  act(call);
  return call.turn?.endOfTurn;
}

test("keys and written words end the caller's turn with reasons of their own", () => {
  const press = (call: RecordedCall, ...digits: readonly string[]) => {
    for (const digit of digits) call.send({ type: "digit", digit });
  };
  const whole = endOf((call) => press(call, "1", "2"), 2);
  assert.deepEqual(whole, { reason: "dtmfDigits", waitedMs: 0 });
  const pound = endOf((call) => press(call, "1", "#"));
  assert.deepEqual(pound, { reason: "poundKey", waitedMs: 0 });
  const pause = endOf((call) => {
    press(call, "1");
    call.clock.advance(1_200);
  });
  assert.deepEqual(pause, { reason: "dtmfTimeout", waitedMs: 1_200 });
  const written = endOf((call) => call.send({ type: "written", text: "hello" }));
  assert.deepEqual(written, { reason: "message", waitedMs: 0 });
});

const EVENT: TranscriptEvent = {
  type: "transcript",
  text: "what do you offer",
  isFinal: false,
  speechFinal: false,
  lastWordEndMs: 4_000,
  endedAgoMs: 500,
  atMs: 5_000,
  hasTurnDetection: true,
};
const { hasTurnDetection: _, ...PLAIN_EVENT } = EVENT;

function hearing(interim: string, undecidedMs?: number) {
  const state = newConversation(PLAIN_SETTINGS, []);
  const user = { undecidedMaxMs: undecidedMs, hearing: { ...state.user.hearing, interim } };
  return changed(state, { user });
}

test("a recognizer that decides turns has failed to after its own silence and a second and a half", () => {
  assert.equal(undecidedMaxMs(EVENT), 6_500);
  assert.equal(undecidedMaxMs({ ...EVENT, turnSilenceMaxMs: 2_000 }), 3_500);
  assert.equal(undecidedMaxMs(PLAIN_EVENT), undefined);
});

test("a guess is repeated where it has the same words as the one before, and may still change", () => {
  const before = hearing("What do you offer?");
  assert.equal(isRepeated(before, EVENT), true);
  assert.equal(isRepeated(before, { ...EVENT, text: "what do you offer me" }), false);
  assert.equal(isRepeated(before, { ...EVENT, isFinal: true }), false);
  assert.equal(isRepeated(before, PLAIN_EVENT), false);
  assert.equal(isRepeated(hearing(""), { ...EVENT, text: "" }), false);
});

test("a turn is undecided while there are words that the recognizer has not ended", () => {
  assert.equal(isUndecided(hearing("what", 6_500)), true);
  assert.equal(isUndecided(hearing("", 6_500)), false);
  assert.equal(isUndecided(hearing("what")), false);
});

const OPEN: Readonly<Record<string, readonly string[]>> = {
  en: [
    "My order number is, uhm",
    "my name is",
    "I would like a room and",
    "uhm",
    "it's because",
    "the total is",
    "I would like to",
    "I am calling about",
    "a ticket from Berlin to",
    "it's for",
  ],
  de: ["Meine Nummer ist, äh", "meine Telefonnummer lautet", "ich möchte einen", "ähm"],
  fr: ["mon numéro est", "je voudrais une", "c'est pour euh", "est-ce que", "c'est chez"],
  es: ["mi número es", "quiero una", "es que pues", "mi nombre es"],
  it: ["il mio numero è", "vorrei un", "allora ehm"],
  pt: ["o meu número é", "queria uma", "bem ahn"],
  nl: ["mijn nummer is", "ik wil een", "dat is ehm"],
  pl: ["mój numer to", "chciałbym w", "to jest yyy"],
  tr: ["bir masa ve", "numaram eee"],
  ja: ["私の番号は、えっと", "あのー", "私の番号は", "予約を"],
  zh: ["我的号码是，嗯", "我想要，因为", "我的订单号是"],
  hi: ["मेरा नंबर है उम", "मुझे चाहिए और", "मेरा नंबर है", "होटल में एक कमरे के लिए मुझे"],
};
const CLOSED: Readonly<Record<string, readonly string[]>> = {
  en: [
    "yes it is",
    "what is",
    "I don't know what my number is",
    "no",
    "a",
    "well",
    "who are you?",
    "and you are the?",
    "uhm!",
    "",
    "I think so",
    "what is it for",
    "where do I send it to",
    "that is what I came for",
    "I don't want to",
    "I have",
    "I want that",
  ],
  de: ["ja", "das ist gut", "wie spät ist", "nein danke", "es geht", "das passt gut an"],
  fr: ["oui", "je ne sais pas", "quel est"],
  es: ["quiero", "sí, tengo"],
  pt: ["quero", "tem"],
  ja: ["はい", "お願いします", "えっと？", "", "ええ", "こんにちは", "こんばんは"],
  zh: ["好的", "我想要这个", "可以"],
  xx: ["yes it is"],
};

for (const [language, texts] of Object.entries(OPEN)) {
  test(`a sentence that is left open is heard to be, in ${language}`, () => {
    for (const text of texts) assert.ok(isOpenEnded(text, language), text);
  });
}

for (const [language, texts] of Object.entries(CLOSED)) {
  test(`a whole answer is not waited on, in ${language}`, () => {
    for (const text of texts) assert.ok(!isOpenEnded(text, language), text);
  });
}

test("a language without its own list counts as English", () => {
  assert.ok(isOpenEnded("my name is uhm", "sw"));
});

/** How callers think aloud, and complete answers for comparison. Some of the phrases are entries of the lists. */
const THOUGHT_ALOUD: Readonly<Record<string, readonly string[]>> = {
  en: [
    "so, I would, hmm, let's say",
    "on Monday, that is",
    "well, I need, uh,",
    "a big one, for example",
  ],
  de: ["also, ich würde, hm, sagen wir", "Freitag, und zwar", "etwas Größeres, zum Beispiel"],
  fr: [
    "alors, je voudrais, euh, disons",
    "jeudi, c'est-à-dire",
    "quelque chose de grand, par exemple",
  ],
  es: ["pues, quisiera, eh, digamos", "el jueves, es decir", "algo más grande, por ejemplo"],
  it: ["allora, vorrei, ehm, diciamo", "giovedì, cioè", "qualcosa di grande, per esempio"],
  nl: ["nou, ik zou, eh, laten we zeggen", "donderdag, en wel", "iets groters, bijvoorbeeld"],
  pl: ["no, chciałbym, yyy, powiedzmy", "w czwartek, to znaczy", "coś większego, na przykład"],
};
const WHOLE_ANSWERS: Readonly<Record<string, readonly string[]>> = {
  en: [
    "I would like a room",
    "maybe",
    "on Monday",
    "yes I think so",
    "let's say Monday",
    "probably on Friday then",
  ],
  de: [
    "ich möchte ein Zimmer",
    "vielleicht",
    "am Freitag",
    "sagen wir Montag",
    "ja gerne",
    "das geht dann so",
  ],
  fr: ["je voudrais une chambre", "peut-être", "disons lundi", "jeudi matin"],
  es: ["quisiera una habitación", "quizás", "digamos el lunes", "muy bien"],
  it: ["vorrei una camera", "forse", "diciamo lunedì", "va bene"],
  nl: ["ik wil een kamer", "misschien", "laten we zeggen maandag", "graag"],
  pl: ["chciałbym pokój", "może", "powiedzmy w poniedziałek"],
};

for (const [language, texts] of Object.entries(THOUGHT_ALOUD)) {
  test(`a caller who thinks aloud gets more time, in ${language}`, () => {
    assert.deepEqual(
      texts.filter((text) => !isOpenEnded(text, language)),
      [],
    );
    const whole = WHOLE_ANSWERS[language] ?? [];
    assert.deepEqual(
      whole.filter((text) => isOpenEnded(text, language)),
      [],
    );
  });
}

test("a mark that ends no sentence shows that it continues, in any language", () => {
  for (const text of [
    "mi chiamo Paola e,",
    "haluaisin varata pöydän,",
    "jag skulle vilja …",
    "the red one -",
  ]) {
    assert.ok(isOpenEnded(text, "xx"), text);
  }
  for (const text of ["ja,", "no...", "varaan pöydän."]) assert.ok(!isOpenEnded(text, "xx"), text);
});
