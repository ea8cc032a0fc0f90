import assert from "node:assert/strict";
import { beforeEach, describe, it, test } from "node:test";
import {
  guessCommitted,
  type LateTranscripts,
  NO_LATE_WORDS,
  withoutLateWords,
} from "../../../engine/conversation/late-transcripts.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

/** The rest of a final result after `late`. */
function heard(
  late: LateTranscripts,
  text: string,
  lastWordEndMs: number | undefined,
  atMs: number,
) {
  const transcript = { text, isFinal: true, speechFinal: true, lastWordEndMs };
  const step = withoutLateWords(late, transcript, atMs);
  return { text: step.transcript.text, late: step.late };
}

test("a single word that was already used is not used again, nor with two others before it", () => {
  const one = guessCommitted(NO_LATE_WORDS, "No", 2_000, 3_000);
  assert.equal(heard(one, "No thanks", 2_500, 3_200).text, "thanks");
  assert.equal(heard(one, "Well then no thanks", 2_500, 3_200).text, "thanks");
  assert.equal(heard(one, "Well oh then no thanks", 2_500, 3_200).text, "Well oh then no thanks");
});

const WORDS = "one two three";

/** The rest of a final result after `late`. */
function rest(
  late: LateTranscripts,
  text: string,
  lastWordEndMs: number | undefined,
  atMs: number,
) {
  const transcript = { text, isFinal: true, speechFinal: false, lastWordEndMs };
  return withoutLateWords(late, transcript, atMs).transcript.text;
}

/** After a final result that came at 2,000. */
function afterFinal(endMs: number | undefined): LateTranscripts {
  const transcript = { text: WORDS, isFinal: true, speechFinal: false, lastWordEndMs: endMs };
  return withoutLateWords(NO_LATE_WORDS, transcript, 2_000).late;
}

test("a final result comes twice within four seconds and 50 ms of its words' end", () => {
  assert.equal(rest(afterFinal(1_000), WORDS, 1_050, 6_000), "");
  assert.equal(rest(afterFinal(1_000), WORDS, 950, 6_000), "");
  assert.equal(rest(afterFinal(1_000), WORDS, 1_051, 6_000), WORDS);
  assert.equal(rest(afterFinal(1_000), WORDS, 1_050, 6_001), WORDS);
  assert.equal(rest(afterFinal(undefined), WORDS, undefined, 6_000), "");
  assert.equal(rest(afterFinal(1_000), WORDS, undefined, 6_000), "");
  assert.equal(rest(afterFinal(1_000), "one two four", 1_000, 2_100), "one two four");
});

test("a longer final result completes the one before unless there was time to repeat all of it", () => {
  const longer = `${WORDS} four`;
  assert.equal(rest(afterFinal(1_000), longer, 1_000, 2_100), "four");
  assert.equal(rest(afterFinal(1_000), longer, 1_599, 2_700), "four");
  assert.equal(rest(afterFinal(1_000), longer, 1_600, 2_700), longer);
  assert.equal(rest(afterFinal(1_000), longer, 999, 2_100), longer);
  assert.equal(rest(afterFinal(1_000), longer, undefined, 7_000), longer);
  assert.equal(rest(afterFinal(undefined), longer, 1_000, 7_000), longer);
  assert.equal(rest(NO_LATE_WORDS, longer, 100, 200), longer);
});

/** After interim words ended a turn at 2,000. */
const given = (guess: string, endMs: number | undefined) =>
  guessCommitted(NO_LATE_WORDS, guess, endMs, 2_000);

test("interim words that ended a turn become final within four seconds, or never", () => {
  assert.equal(rest(given(WORDS, 1_000), `${WORDS} four`, 1_400, 6_000), "four");
  assert.equal(rest(given(WORDS, 1_000), `${WORDS} four`, 1_400, 6_001), `${WORDS} four`);
});

test("half of the guessed words are enough, with two others before each of them", () => {
  const late = given("one two three four", 1_000);
  assert.equal(rest(late, "one two nine", 1_200, 2_500), "nine");
  assert.equal(rest(late, "one nine", 1_200, 2_500), "one nine");
  assert.equal(rest(late, "a b one c d two nine", 1_200, 2_500), "nine");
  assert.equal(rest(late, "a b one c d e two nine", 1_200, 2_500), "a b one c d e two nine");
});

test("the same words again are new when they end 700 ms later, where both ends are known", () => {
  assert.equal(rest(given(WORDS, 1_000), WORDS, 1_699, 2_800), "");
  assert.equal(rest(given(WORDS, 1_000), WORDS, 1_700, 2_800), WORDS);
  assert.equal(rest(given(WORDS, 1_000), WORDS, undefined, 2_800), "");
  assert.equal(rest(given(WORDS, undefined), WORDS, 5_000, 5_100), "");
});

/** A guess that is heard at that time, and what is known of late words after it. */
const guessedAgain = (
  late: LateTranscripts,
  text: string,
  atMs: number,
  way?: "hasTurnDetection",
) => {
  const guess = { text, isFinal: false, speechFinal: false, lastWordEndMs: undefined };
  const heard = way === undefined ? guess : ({ ...guess, hasTurnDetection: true } as const);
  return withoutLateWords(late, heard, atMs).late;
};

test("interim results of used words do not delay their final version", () => {
  const longer = `${WORDS} four`;
  assert.equal(rest(guessedAgain(given(WORDS, 1_000), WORDS, 5_000), longer, 1_400, 6_000), "four");
  assert.equal(rest(guessedAgain(given(WORDS, 1_000), WORDS, 5_000), longer, 1_400, 6_001), longer);
});

test("they do if no end of a turn is reported, unless they are other words", () => {
  const again = (text: string) =>
    guessedAgain(given(WORDS, 1_000), text, 5_000, "hasTurnDetection");
  assert.equal(rest(again(WORDS), `${WORDS} four`, 1_400, 9_000), "four");
  assert.equal(rest(again("or else"), `${WORDS} four`, 1_400, 6_001), `${WORDS} four`);
});

test("a final result without times, after a new interim one, was said again, whatever its times", () => {
  const late = guessedAgain(afterFinal(undefined), WORDS, 2_500);
  assert.equal(rest(late, WORDS, 1_000, 2_600), WORDS);
  const timed = guessedAgain(afterFinal(1_000), WORDS, 2_500);
  assert.equal(rest(timed, WORDS, undefined, 2_600), WORDS);
  assert.equal(rest(timed, WORDS, 1_000, 2_600), "");
});

test("marks and spaces before the rest are not heard, and an empty result changes nothing", () => {
  assert.equal(rest(given(WORDS, 1_000), `${WORDS}, ... four.`, 1_400, 2_500), "four.");
  const late = given(WORDS, 1_000);
  const silence = { text: " ", isFinal: true, speechFinal: true, lastWordEndMs: undefined };
  assert.equal(withoutLateWords(late, silence, 2_100).late, late);
});

test("an interim result is not a final one, and a silence mark is", () => {
  const guess = { text: WORDS, isFinal: false, speechFinal: false, lastWordEndMs: 1_000 };
  const { late } = withoutLateWords(NO_LATE_WORDS, guess, 2_000);
  assert.equal(rest(late, WORDS, 1_000, 2_100), WORDS);
  const marked = withoutLateWords(NO_LATE_WORDS, { ...guess, speechFinal: true }, 2_000);
  assert.equal(rest(marked.late, WORDS, 1_000, 2_100), "");
});

test("after a final result of only punctuation every word is new", () => {
  const marks = { text: "...", isFinal: true, speechFinal: false, lastWordEndMs: 1_000 };
  const { late } = withoutLateWords(NO_LATE_WORDS, marks, 2_000);
  assert.equal(rest(late, "yes please", 1_100, 2_200), "yes please");
});

const FIRST = "I would like to book a table.";
const SECOND = "For four people tonight.";
/** When the caller stops saying the first sentence, and says the second one. */
const FIRST_ENDS_MS = 1_500;
const SECOND_BEGINS_MS = 2_000;
const SECOND_ENDS_MS = 4_000;

const KINDS = ["speechFinal", "utteranceEnd", "turnDecided", "silence"] as const;

for (const lateMs of [500, 1_400, 2_000, 3_000, 4_000]) {
  describe(`words that come ${lateMs} ms late`, () => {
    let call: RecordedCall;

    beforeEach(() => {
      call = new RecordedCall(PLAIN_SETTINGS);
      call.send({ type: "opened", resumed: true });
    });

    function asked(): readonly string[] {
      return call.effects.flatMap((effect) =>
        effect.type === "requestReply" ? [effect.history.at(-1)?.content ?? ""] : [],
      );
    }

    function speaks(fromMs: number, toMs: number): void {
      call.clock.after(fromMs, () => call.hearVoice(true));
      call.clock.after(toMs, () => call.hearVoice(false));
    }

    /** The words and the end of a sentence that ended at `endMs`. */
    function hears(kind: (typeof KINDS)[number], text: string, endMs: number): void {
      const tell = () => {
        const { voiceAgoMs } = call;
        const decides = kind === "turnDecided" ? ({ hasTurnDetection: true } as const) : {};
        call.send({
          type: "transcript",
          text,
          isFinal: true,
          speechFinal: kind === "speechFinal",
          lastWordEndMs: endMs,
          endedAgoMs: lateMs,
          voiceAgoMs,
          ...decides,
        });
        if (kind === "turnDecided") call.send({ type: "callerTurnEnded", voiceAgoMs });
        if (kind !== "utteranceEnd") return;
        const told = { lastWordEndMs: endMs, endedAgoMs: lateMs, voiceAgoMs };
        call.send({ type: "utteranceEnd", ...told });
      };
      call.clock.after(endMs + lateMs, tell);
    }

    for (const kind of KINDS) {
      it(`are answered together with those of the voice that was heard after them, by ${kind}`, () => {
        // A fast STT returns the first sentence before the second begins.
        if (lateMs < 1_000) return;
        speaks(0, FIRST_ENDS_MS);
        speaks(SECOND_BEGINS_MS, SECOND_ENDS_MS);
        hears(kind, FIRST, FIRST_ENDS_MS);
        hears(kind, SECOND, SECOND_ENDS_MS);
        call.clock.advance(SECOND_ENDS_MS + lateMs - 1);
        assert.deepEqual(asked(), []);
        call.clock.advance(1_000);
        assert.deepEqual(asked(), [`${FIRST} ${SECOND}`]);
        assert.deepEqual(call.crashes, []);
      });

      it(`are answered alone where the voice after them was a noise, by ${kind}`, () => {
        speaks(0, FIRST_ENDS_MS);
        speaks(SECOND_BEGINS_MS, SECOND_BEGINS_MS + 500);
        hears(kind, FIRST, FIRST_ENDS_MS);
        call.clock.advance(FIRST_ENDS_MS + 2 * lateMs + 3_500);
        assert.deepEqual(asked(), [FIRST]);
      });

      it(`wait for no voice that is never quiet for longer than 8 s, by ${kind}`, () => {
        speaks(0, 60_000);
        hears(kind, FIRST, FIRST_ENDS_MS);
        call.clock.advance(FIRST_ENDS_MS + lateMs + 8_100);
        // A silent LLM is tried twice.
        assert.deepEqual([...new Set(asked())], [FIRST]);
      });
    }

    it("are answered at once where nothing was heard after them", () => {
      speaks(0, FIRST_ENDS_MS);
      hears("speechFinal", FIRST, FIRST_ENDS_MS);
      call.clock.advance(FIRST_ENDS_MS + lateMs);
      assert.deepEqual(asked(), [FIRST]);
    });
  });
}
