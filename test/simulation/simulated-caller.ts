import { pendingText } from "../../engine/conversation/transcript-buffer.js";
import type { SeededRandom } from "./seeded-random.js";
import type { SimulatedWorld } from "./simulated-world.js";

const NOUNS = ["pizza", "train", "doctor", "garden", "invoice"];
const AGREEMENTS = ["uh-huh", "yeah", "okay", "mhm, right"];
const CLOSINGS = ["bye", "okay thanks", "thank you, bye"];
/** A telephone that speaks loudly returns what it says after about this time. */
const ECHO_DELAY_MS = 120;
/** A person has to hear before answering, and takes so long for a word. */
const REACTION_MS = 250;
const MS_PER_WORD = 300;
const ECHO_WORDS_MIN = 6;
/** Callers repeat parts of a question: only this many words of one, from its first word on, are certainly an echo. */
const QUESTION_ECHO_WORDS_MIN = 8;
/** In this time a word is over, whatever word it is. */
const PLAYS_ON_MS = 700;

/**
 * A caller who says words that nobody else says, so that it is known where each of them has to be found again; who coughs,
 * agrees, answers in the agent's words, corrects them, talks into goodbyes and keys, or whose telephone returns the sound.
 */
export class SimulatedCaller {
  /** The caller's own words, each of which was said once. */
  readonly said: string[] = [];
  /** The agent's words that came back, and were said by nobody. */
  readonly echoed: string[] = [];
  readonly #world: SimulatedWorld;
  readonly #random: SeededRandom;
  readonly #hasEcho: boolean;
  #wordCount = 0;
  #wordEndMs = 0;

  constructor(world: SimulatedWorld) {
    this.#world = world;
    this.#random = world.random;
    this.#hasEcho = world.random.chance(0.3);
  }

  act(): void {
    const chance = this.#random.fraction();
    if (chance < 0.45) this.#speak();
    else if (chance < 0.55) this.#cough();
    else if (chance < 0.65) this.#utter(this.#random.pick(AGREEMENTS), true);
    else if (chance < 0.7) this.#utter(this.#random.pick(CLOSINGS), true);
    else if (chance < 0.72) this.#press();
    else if (chance < 0.74) this.#dial();
    else if (chance < 0.76) this.#write();
    else if (chance < 0.84) this.#speakLate();
    else if (chance < 0.88) this.#takeBack();
    else if (this.#hasEcho) this.#echo();
    else this.#answerInTheAgentsWords();
  }

  #cough(): void {
    this.#world.send({ type: "speechStarted" });
    this.#world.clock.advance(this.#random.whole(0, 2_000));
  }

  #press(): void {
    this.#world.send({ type: "digit", digit: this.#random.pick(["1", "5", "#"]) });
  }

  /** As people type a number, one key behind the other, some of them slowly. */
  #dial(): void {
    for (let left = this.#random.whole(2, 8); left > 0 && !this.#isOver; left -= 1) {
      this.#world.send({ type: "digit", digit: String(this.#random.whole(0, 9)) });
      this.#world.clock.advance(this.#random.whole(150, 900));
    }
  }

  /** A noise that the recognizer takes for a word for a moment. */
  #takeBack(): void {
    this.#utter("the", false);
    this.#world.clock.advance(this.#random.whole(100, 600));
    this.#hear("", true, false);
  }

  #write(): void {
    if (this.#isOver) return;
    const words = Array.from({ length: this.#random.whole(1, 5) }, () => this.#newWord());
    this.#world.send({ type: "written", text: words.join(" ") });
    this.said.push(...words);
  }

  /** As a recognizer reports it: with or without its marks of the beginning and the end. */
  #speak(): void {
    const words = Array.from({ length: this.#random.whole(1, 5) }, () => this.#newWord());
    this.#guess(words);
    const ending = this.#random.fraction();
    if (ending < 0.6) this.#hear(words.join(" "), true, true);
    else this.#hear(words.join(" "), ending < 0.8, false);
    this.#maybeUtteranceEnd();
    this.#settleGuess();
  }

  /** The final words come when the turn has ended with guesses, and there is one more; now and then they come twice. */
  #speakLate(): void {
    const words = Array.from({ length: this.#random.whole(2, 4) }, () => this.#newWord());
    this.#guess(words);
    this.#hear(words.join(" "), false, false);
    const lastWordEndMs = this.#wordEndMs;
    this.#world.clock.advance(900);
    this.#world.send({ type: "utteranceEnd", lastWordEndMs, endedAgoMs: 900 });
    this.#world.clock.advance(this.#random.whole(50, 1_500));
    words.push(this.#newWord());
    this.#hear(words.join(" "), true, true);
    if (!this.#random.chance(0.5)) return;
    this.#world.clock.advance(this.#random.whole(0, 500));
    this.#tell(words.join(" "), true, true, this.#wordEndMs);
  }

  #guess(words: readonly string[]): void {
    if (this.#random.chance(0.8)) this.#world.send({ type: "speechStarted" });
    for (const [index] of words.entries()) {
      this.#world.clock.advance(this.#random.whole(50, 400));
      if (this.#random.chance(0.6)) this.#hear(words.slice(0, index + 1).join(" "), false, false);
    }
    this.#world.clock.advance(this.#random.whole(10, 400));
  }

  #utter(text: string, isFinal: boolean): void {
    if (this.#random.chance(0.8)) this.#world.send({ type: "speechStarted" });
    this.#world.clock.advance(this.#random.whole(200, 500));
    this.#hear(text, isFinal, isFinal);
  }

  /** Two or three words of what was just heard, or more of them and one that is the caller's own. */
  #answerInTheAgentsWords(): void {
    const words = this.#world.heardWords;
    const corrects = this.#random.chance(0.4);
    const count = corrects ? 6 : this.#random.whole(2, 3);
    // Only words with a number of their own can be found again.
    if (words.length < count || words.some((word) => !/[a-z]\d/.test(word))) return;
    const from = this.#random.whole(0, words.length - count);
    const answer = words.slice(from, from + count);
    if (corrects) answer[this.#random.whole(1, count - 2)] = this.#newWord();
    this.#world.clock.advance(REACTION_MS + count * MS_PER_WORD);
    if (this.#isOver) return;
    this.#hear(answer.join(" "), true, true);
    this.said.push(...answer.filter((word) => !this.said.includes(word)));
  }

  /** The newest words that were heard, of a question all of them, once the recognizer has nothing else to settle. */
  #echo(): void {
    const before = this.#world.heardWords.length;
    this.#world.clock.advance(PLAYS_ON_MS);
    const heard = this.#world.heardWords;
    // Sound that stands still, or waits for its voice, does not come back.
    if (heard.length <= before) return;
    const { isAsking } = this.#world;
    const newest = heard.slice(-this.#random.whole(ECHO_WORDS_MIN, 12));
    const words = isAsking ? heard : newest;
    const wordsMin = isAsking ? QUESTION_ECHO_WORDS_MIN : ECHO_WORDS_MIN;
    const { hearing } = this.#world.actor.state.user;
    if (words.length < wordsMin || pendingText(hearing) !== "") return;
    if (this.#random.chance(0.5)) this.#world.send({ type: "speechStarted" });
    this.#world.clock.advance(ECHO_DELAY_MS);
    this.echoed.push(...words.filter((word) => /[a-z]\d/.test(word)));
    const text = words.join(" ");
    const at = this.#world.clock.monotonicMs();
    if (this.#random.chance(0.5)) this.#tell(text, false, false, at);
    this.#tell(text, true, true, at);
  }

  #maybeUtteranceEnd(): void {
    if (!this.#random.chance(0.4)) return;
    this.#world.clock.advance(this.#random.whole(0, 1_200));
    const lastWordEndMs = this.#wordEndMs;
    this.#world.send({ type: "utteranceEnd", lastWordEndMs, endedAgoMs: 1_000 });
  }

  /** Guesses that are still open are settled by the session's own timer, before the caller says anything else. */
  #settleGuess(): void {
    if (pendingText(this.#world.actor.state.user.hearing) !== "") this.#world.clock.advance(4_500);
  }

  #newWord(): string {
    this.#wordCount += 1;
    return `${this.#random.pick(NOUNS)}${this.#wordCount}`;
  }

  get #isOver(): boolean {
    return this.#world.actor.state.phase === "ended";
  }

  #hear(text: string, isFinal: boolean, speechFinal: boolean): void {
    if (this.#isOver) return;
    this.#wordEndMs = Math.max(this.#wordEndMs + 1, this.#world.clock.monotonicMs());
    this.#tell(text, isFinal, speechFinal, this.#wordEndMs);
    const own = text.split(" ").filter((word) => /^[a-z]+\d+$/.test(word));
    for (const word of own) {
      const isOwn = NOUNS.some((noun) => word.startsWith(noun));
      if (isOwn && !this.said.includes(word)) this.said.push(word);
    }
  }

  #tell(text: string, isFinal: boolean, speechFinal: boolean, lastWordEndMs: number): void {
    const endedAgoMs = 50;
    this.#world.send({ type: "transcript", text, isFinal, speechFinal, lastWordEndMs, endedAgoMs });
  }
}
