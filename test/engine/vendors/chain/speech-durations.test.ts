import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { sentencesOf } from "../../../../engine/conversation/sentences.js";
import { encodeSpeech } from "../../../../engine/sandbox/telephone/tone-code.js";
import {
  MEASURED_VOICES_MAX,
  SENTENCES_MIN,
  SpeechDurations,
  TOO_SHORT_IN_ROW_MAX,
} from "../../../../engine/vendors/chain/speech-durations.js";
import { isTooLittle } from "../../../../engine/vendors/transport/speech-tail.js";
import { SeededRandom } from "../../../simulation/seeded-random.js";

const PLAIN = "We have a table for you by the window this evening";
const OTHER = "Somebody will call you back before the end of the day";

/** The sentence is said in this time: whether that is too short for it. */
function isRefused(
  durations: SpeechDurations,
  text: string,
  soundMs: number,
  { org = "org", voice = "voice", speed = 1 } = {},
): boolean {
  const measure = durations.of(org, voice, { text, speed });
  const isShort = isTooLittle(soundMs, { text, speed, measure });
  measure.measured(soundMs);
  return isShort;
}

function learned(msPerLetter = 80): SpeechDurations {
  const durations = new SpeechDurations();
  for (let n = 0; n < SENTENCES_MIN; n += 1) {
    assert.equal(isRefused(durations, PLAIN, PLAIN.length * msPerLetter), false);
  }
  return durations;
}

test("half of a sentence is refused by what the voice's earlier sentences took, and by nothing less", () => {
  const halfMs = (OTHER.length * 80) / 2;
  assert.equal(
    isRefused(new SpeechDurations(), OTHER, halfMs),
    false,
    "a quick voice takes so long",
  );
  const durations = learned();
  assert.equal(isRefused(durations, OTHER, OTHER.length * 80), false);
  assert.equal(isRefused(durations, OTHER, halfMs), true);
  for (const other of [{ org: "other" }, { voice: "other" }]) {
    assert.equal(isRefused(durations, OTHER, halfMs, other), false, "nothing is known of it");
  }
});

test("what is far too short for any voice teaches nothing", () => {
  const durations = new SpeechDurations();
  for (let n = 0; n < SENTENCES_MIN; n += 1) {
    assert.equal(isRefused(durations, PLAIN, PLAIN.length * 20), true);
  }
  assert.equal(durations.size, 0);
});

test("numbers and acronyms, which take longer than their letters, teach nothing", () => {
  const durations = new SpeechDurations();
  for (const text of [
    "Your number is 0171 555 12 34, is that right for you?",
    "BBC ITV NHS ".repeat(4),
  ]) {
    for (let n = 0; n < 20; n += 1) isRefused(durations, text, text.length * 250);
  }
  assert.equal(isRefused(durations, PLAIN, PLAIN.length * 70), false);
});

test("a voice that has become quicker for good is refused three times in a row at most", () => {
  const durations = learned(120);
  let count = 0;
  for (let n = 0; n < 50; n += 1) {
    if (isRefused(durations, n % 2 === 0 ? PLAIN : OTHER, PLAIN.length * 60)) count += 1;
  }
  assert.equal(count, TOO_SHORT_IN_ROW_MAX);
});

test("the voices that are remembered are bounded, and an organization pushes out its own", () => {
  const durations = new SpeechDurations();
  isRefused(durations, PLAIN, PLAIN.length * 80, { org: "small" });
  for (let n = 0; n < 2 * MEASURED_VOICES_MAX; n += 1) {
    isRefused(durations, PLAIN, PLAIN.length * 80, { org: "large", voice: String(n) });
  }
  assert.equal(durations.size, MEASURED_VOICES_MAX);
  for (let n = 1; n < SENTENCES_MIN; n += 1) {
    isRefused(durations, PLAIN, PLAIN.length * 80, { org: "small" });
  }
  assert.equal(isRefused(durations, OTHER, OTHER.length * 40, { org: "small" }), true);
});

const CALLS = new URL("../../../../../test/engine/conversation/calls/", import.meta.url);

/** What agents say in the call scripts, and sentences of many kinds and languages. */
function texts(): readonly string[] {
  const scripts = readdirSync(CALLS).filter((name) => name.endsWith(".txt"));
  const said = scripts.flatMap((name) =>
    Array.from(readFileSync(new URL(name, CALLS), "utf8").matchAll(/"([^"]{4,})"/g), ([, text]) =>
      sentencesOf(text ?? ""),
    ).flat(),
  );
  return [...new Set([...said, ...KINDS.flatMap((text) => sentencesOf(text))])];
}

const KINDS = [
  "I am afraid that we do not have anything before Thursday afternoon. Would half past four suit you instead?",
  "It is on the first floor, up the stairs, on the left, at the end of it all, by the old red door.",
  "Unfortunately, internationalization infrastructure responsibilities notwithstanding, administrators disagree.",
  "Die Kraftfahrzeughaftpflichtversicherungsgesellschaft meldet sich spätestens übermorgen telefonisch bei Ihnen.",
  "Der nächste freie Termin ist am dritten Dezember um halb zehn. Passt Ihnen das, oder wäre Ihnen der Nachmittag lieber?",
  "Votre rendez-vous est confirmé pour mardi prochain à quatorze heures. Souhaitez-vous autre chose ?",
  "Su pedido llegará mañana por la mañana, entre las nueve y las doce. ¿Le viene bien a usted?",
  "Uw bestelling is onderweg en wordt morgen voor twaalf uur bezorgd. Kan ik nog iets voor u doen?",
  "お電話ありがとうございます。ご予約は明日の午後三時でよろしいでしょうか。",
  "आपकी मेज़ शुक्रवार के लिए बुक है। क्या मैं और कुछ कर सकता हूँ?",
  "Your reference is AB-12-93 and the total comes to 4,294.50 euros, due by 31.12.2026, thank you!",
  "No, no, no. Well... I see what you mean, but I would rather not do that today, if you do not mind at all.",
];

/** What a person or a vendor's voice takes, roughly: syllables, words, pauses at marks, and each sentence a little otherwise. */
function lifelikeMs(text: string, speed: number, random: () => number): number {
  const vowels = text.match(/[aeiouyäöüáéíóúàèùâêîôûœаеиоуыэюя]+/giu)?.length ?? 0;
  const wide = text.match(/[\u2e80-\uffff]/g)?.length ?? 0;
  const indic = text.match(/[\u0900-\u0dff]/g)?.length ?? 0;
  const digits = text.match(/\d/g)?.length ?? 0;
  const marks = text.match(/[,.:;!?…。、।]/g)?.length ?? 0;
  const spaces = text.match(/\s/g)?.length ?? 0;
  const syllablesMs = 165 * vowels + 150 * wide + 90 * indic + 330 * digits + 25 * spaces;
  const variation = 0.85 + 0.3 * random();
  return ((syllablesMs * variation + 170 * marks + 150) / speed) * (0.97 + 0.06 * random());
}

/** The language is known of a voice; here the script stands for it. */
const scriptOf = (text: string): string => (/[\u0900-\uffff]/.test(text) ? "other" : "latin");

test("of all texts of the tests no complete one is refused, at any speed, in any order", () => {
  const all = texts();
  assert.ok(all.length > 150, String(all.length));
  const refused: string[] = [];
  const halves = { sandbox: { judged: 0, caught: 0 }, lifelike: { judged: 0, caught: 0 } };
  let closest = Number.POSITIVE_INFINITY;
  for (const seed of [1, 2, 3]) {
    for (const speed of [0.5, 0.8, 1, 1.2, 2]) {
      const seeded = new SeededRandom(seed);
      const random = () => seeded.fraction();
      const order = [...all].sort(() => random() - 0.5);
      for (const [kind, msOf] of [
        ["sandbox", (text: string) => encodeSpeech(text, 8_000, speed).length / 8],
        ["lifelike", (text: string) => lifelikeMs(text, speed, random)],
      ] as const) {
        const durations = new SpeechDurations();
        for (const text of order) {
          const voice = `${kind} ${scriptOf(text)}`;
          const ms = msOf(text);
          const { leastMs } = durations.of("org", voice, { text, speed });
          if (leastMs !== undefined) {
            halves[kind].judged += 1;
            if (ms / 2 < leastMs) halves[kind].caught += 1;
            closest = Math.min(closest, ms / leastMs);
          }
          if (isRefused(durations, text, ms, { voice, speed })) {
            refused.push(`${voice} ${speed} ${Math.round(ms)} ${text}`);
          }
        }
      }
    }
  }
  assert.deepEqual(refused, []);
  const { sandbox, lifelike } = halves;
  assert.ok(closest > 1.1, `${closest}: the next text may be refused`);
  assert.ok(
    sandbox.judged > 1_000 && sandbox.caught > 0.9 * sandbox.judged,
    JSON.stringify(halves),
  );
  assert.ok(lifelike.caught > 0.4 * lifelike.judged, JSON.stringify(halves));
});
