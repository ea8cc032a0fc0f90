import assert from "node:assert/strict";
import { test } from "node:test";
import { wordsOf } from "../../../engine/conversation/lexicon.js";
import type { ConversationSettings } from "../../../engine/conversation/state.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const WORD_MS = 300;
const GUESS_EVERY_MS = 300;
const FINAL_LATE_MS = 300;
/** The recognizer's clock began before the call's. */
const AUDIO_AHEAD_MS = 1_000;

interface ReadBack {
  readonly language: string;
  /** Said and heard before, on a call without an echo; left out: the read-back is the first that is said. */
  readonly before?: readonly string[];
  readonly question: string;
  /** What the caller says, in the agent's words. */
  readonly answer: string;
  readonly behind?: string;
}

const READ_BACKS: readonly ReadBack[] = [
  {
    language: "en",
    question: "So your number is zero one seven six two four?",
    answer: "zero one seven six two four",
  },
  {
    language: "en",
    question: "Is that zero one seven six two four?",
    answer: "zero one seven six two four",
  },
  {
    language: "en",
    before: ["Hello, this is the hotline.", "What can I do for you?"],
    question: "Zero one seven six two four?",
    answer: "zero one seven six two four",
  },
  {
    language: "en",
    question: "May I repeat: Maria Teresa Lopez Garcia Fernandez?",
    answer: "Maria Teresa Lopez Garcia Fernandez",
  },
  {
    language: "en",
    question: "We deliver to twelve Upper Mill Lane in Ashford, right?",
    answer: "twelve Upper Mill Lane in Ashford",
  },
  { language: "en", question: "And that is spelled K O W A L?", answer: "K O W A L" },
  {
    language: "en",
    question: "Do you want the early train or the late one?",
    answer: "the late one",
  },
  {
    language: "de",
    question: "Ihre Nummer ist also null vier null acht acht drei?",
    answer: "null vier null acht acht drei",
  },
  {
    language: "de",
    question: "Ich habe Anna Lena Maria von Bergmann notiert?",
    answer: "Anna Lena Maria von Bergmann",
  },
  {
    language: "fr",
    question: "Votre numéro est le zéro six douze quarante trente et un?",
    answer: "zéro six douze quarante trente et un",
  },
  {
    language: "es",
    question: "Su código es siete siete cuatro uno nueve?",
    answer: "siete siete cuatro uno nueve",
  },
  {
    language: "it",
    question: "Il codice è otto due due cinque nove?",
    answer: "otto due due cinque nove",
  },
  {
    language: "nl",
    question: "Uw postcode is een nul een twee AB?",
    answer: "een nul een twee AB",
  },
  {
    language: "pl",
    question: "Pani kod to dwa dwa siedem zero pięć?",
    answer: "dwa dwa siedem zero pięć",
  },
  {
    language: "tr",
    question: "Numaranız beş üç iki dört dört mü?",
    answer: "beş üç iki dört dört",
  },
  {
    language: "en",
    question: "So your number is zero one seven six two four?",
    answer: "zero one seven six two four",
    behind: "Please say yes when that is how it should be.",
  },
];

interface Line {
  readonly name: string;
  readonly settings: Partial<ConversationSettings>;
  /** STT reports when the words were said. */
  readonly isTimed: boolean;
}

const BROWSER: Line = { name: "in a browser", settings: {}, isTimed: true };
const LINES: readonly Line[] = [
  BROWSER,
  { name: "to a recognizer without times", settings: {}, isTimed: false },
  { name: "on the telephone", settings: { isPaced: true, isStreamed: true }, isTimed: true },
  { name: "to an agent that any voice stops", settings: { sensitivity: "high" }, isTimed: true },
];

function newCall(language: string, line: Line): RecordedCall {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, ...line.settings, language });
  call.send({ type: "opened", resumed: true });
  return call;
}

/** A word is over; STT returns it a little later. */
interface Heard {
  readonly text: string;
  readonly endedAtMs: number;
  readonly isFinal: boolean;
  readonly isTimed: boolean;
}

function hear(call: RecordedCall, { text, endedAtMs, isFinal, isTimed }: Heard): void {
  const endedAgoMs = isTimed ? call.clock.monotonicMs() - endedAtMs : 0;
  const lastWordEndMs = isTimed ? endedAtMs + AUDIO_AHEAD_MS : undefined;
  call.send({ type: "transcript", text, isFinal, speechFinal: isFinal, lastWordEndMs, endedAgoMs });
}

function sayTurn(call: RecordedCall, sentences: readonly string[]): number {
  const turnId = call.turn?.id ?? 0;
  call.send({ type: "replyToken", turnId, text: sentences.join(" ") });
  call.send({ type: "replyDone", turnId, tokens: 20 });
  const firstByteAtMs = call.clock.monotonicMs();
  for (const [index, sentence] of sentences.entries()) {
    const durationMs = wordsOf(sentence).length * WORD_MS;
    call.send({ type: "sentenceWhole", turnId, index, durationMs, firstByteAtMs });
  }
  return firstByteAtMs;
}

/** Word by word, from a moment on the call's clock on: guesses, and the final result a while after the last word. */
function say(call: RecordedCall, text: string, beganAtMs: number, isTimed = true): void {
  const words = text.split(" ");
  call.clock.advance(Math.max(0, beganAtMs - call.clock.monotonicMs()));
  call.send({ type: "speechStarted" });
  let guessedAtMs = beganAtMs;
  for (const [index] of words.entries()) {
    const endedAtMs = beganAtMs + (index + 1) * WORD_MS;
    call.clock.advance(endedAtMs - call.clock.monotonicMs());
    if (endedAtMs - guessedAtMs < GUESS_EVERY_MS) continue;
    guessedAtMs = endedAtMs;
    const guess = words.slice(0, index + 1).join(" ");
    hear(call, { text: guess, endedAtMs, isFinal: false, isTimed });
  }
  call.clock.advance(FINAL_LATE_MS);
  hear(call, { text, endedAtMs: beganAtMs + words.length * WORD_MS, isFinal: true, isTimed });
}

/** All that was given to the model as the caller's. */
function askedFor(call: RecordedCall): string {
  const asked = call.effects.flatMap((effect) => (effect.type === "requestReply" ? [effect] : []));
  const users = asked.at(-1)?.history.filter(({ role }) => role === "user") ?? [];
  return users.map(({ content }) => content.toLowerCase()).join(" ");
}

/** The call in which the agent reads back, and when that ends. */
function readingBack(
  { language, before, question, behind }: ReadBack,
  line: Line,
): { readonly call: RecordedCall; readonly endsAtMs: number } {
  const call = newCall(language, line);
  if (before !== undefined) {
    say(call, "hello there", 0);
    call.clock.advance(5_000);
    sayTurn(call, before);
    call.clock.advance(8_000);
  }
  say(call, "good morning", call.clock.monotonicMs());
  call.clock.advance(2_000);
  const beganAtMs = sayTurn(call, behind === undefined ? [question] : [question, behind]);
  return { call, endsAtMs: beganAtMs + wordsOf(question).length * WORD_MS };
}

function answersReadBack(readBack: ReadBack, beginsAfterMs: number, line: Line): boolean {
  const { answer } = readBack;
  const { call, endsAtMs } = readingBack(readBack, line);
  say(call, answer, endsAtMs + beginsAfterMs, line.isTimed);
  call.clock.advance(10_000);
  assert.deepEqual(call.crashes, []);
  return askedFor(call).includes(answer.toLowerCase());
}

for (const line of LINES) {
  for (const readBack of READ_BACKS) {
    const { language, question, answer, before = [], behind = "" } = readBack;
    const said = [...before, question, behind].join(" ");
    test(`"${answer}" is answered whenever it begins within 1.5 s of the end of ${language} "${said}" ${line.name}`, () => {
      const lost: number[] = [];
      for (let afterMs = -1_500; afterMs <= 1_500; afterMs += 50) {
        if (!answersReadBack(readBack, afterMs, line)) lost.push(afterMs);
      }
      assert.deepEqual(lost, []);
    });
  }
}

const ECHO_LAG_MS = 250;

/** What the agent says returns from a loudspeaker, from its first word on, and the caller is silent. */
function sayAloud(call: RecordedCall, question: string): void {
  const beganAtMs = sayTurn(call, [question]);
  say(call, wordsOf(question).join(" "), beganAtMs + ECHO_LAG_MS);
  call.clock.advance(5_000);
}

const turnsOf = (call: RecordedCall) =>
  call.effects.filter((effect) => effect.type === "requestReply").length;

test("questions that a loudspeaker returns from a call's first turn on are not answered", () => {
  const call = newCall("en", BROWSER);
  say(call, "good morning", 0);
  call.clock.advance(1_000);
  sayAloud(call, "What can I do for you today?");
  say(call, "a table for two please", call.clock.monotonicMs());
  call.clock.advance(1_000);
  sayAloud(call, "At seven or at eight?");
  assert.equal(turnsOf(call), 2);
});

test("a loudspeaker that is turned on in mid-call makes the agent answer itself once at most", () => {
  const call = newCall("en", BROWSER);
  say(call, "good morning", 0);
  call.clock.advance(1_000);
  sayTurn(call, ["What can I do for you today?"]);
  call.clock.advance(5_000);
  say(call, "a table for two please", call.clock.monotonicMs());
  call.clock.advance(1_000);
  for (const question of ["At seven or at eight?", "Did you say eight?", "So eight it is?"]) {
    if (call.turn !== undefined) sayAloud(call, question);
  }
  assert.equal(turnsOf(call), 3);
});

test("on a known loudspeaker a read-back that is repeated after its echo is answered", () => {
  const question = "So your number is zero one seven six two four?";
  const answer = "zero one seven six two four";
  for (let afterMs = 50; afterMs <= 1_500; afterMs += 50) {
    const call = newCall("en", BROWSER);
    say(call, "good morning", 0);
    call.clock.advance(1_000);
    sayAloud(call, "What can I do for you today?");
    say(call, "I have moved to Berlin", call.clock.monotonicMs());
    call.clock.advance(1_000);
    const beganAtMs = sayTurn(call, [question]);
    say(call, wordsOf(question).join(" "), beganAtMs + ECHO_LAG_MS);
    say(call, answer, Math.max(call.clock.monotonicMs(), beganAtMs + 3_000 + afterMs));
    call.clock.advance(5_000);
    assert.ok(askedFor(call).includes(answer), `${afterMs} ms`);
  }
});
