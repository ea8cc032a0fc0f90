import type { VirtualClock } from "../doubles/virtual-clock.js";
import type { UnstampedEvent } from "../engine/conversation/conversation-events.js";
import type { SeededRandom } from "./seeded-random.js";

export const WORDS = [
  "yes",
  "no",
  "maybe",
  "a",
  "table",
  "for",
  "two",
  "please",
  "Mr.",
  "tomorrow",
  "wait",
  "3.50",
];

/** One caller, as a recognizer tells of him: he talks whenever he likes, and the seed decides what is told of it. */
export class SimulatedCaller {
  readonly #random: SeededRandom;
  readonly #clock: VirtualClock;
  readonly #send: (event: UnstampedEvent) => void;
  #wordEndMs = 0;

  constructor(random: SeededRandom, clock: VirtualClock, send: (event: UnstampedEvent) => void) {
    this.#random = random;
    this.#clock = clock;
    this.#send = send;
  }

  /** The caller says something, as a recognizer reports it: with or without its marks of the beginning and the end. */
  speak(): void {
    const random = this.#random;
    const words = Array.from({ length: random.whole(0, 5) }, () => random.pick(WORDS));
    if (random.chance(0.1)) this.#send({ type: "digit", digit: random.pick(["1", "5", "#"]) });
    if (random.chance(0.05)) this.#send({ type: "written", text: random.pick(WORDS) });
    if (random.chance(0.8)) this.#send({ type: "speechStarted" });
    for (const [index] of words.entries()) {
      this.#clock.advance(random.whole(50, 400));
      if (random.chance(0.6)) this.#hear(words.slice(0, index + 1).join(" "), false, false);
    }
    this.#clock.advance(random.whole(10, 400));
    const ending = random.fraction();
    if (ending < 0.6) this.#hear(words.join(" "), true, true);
    else if (ending < 0.8) this.#hear(words.join(" "), true, false);
    if (random.chance(0.4)) {
      this.#clock.advance(random.whole(0, 1_200));
      this.#send({ type: "utteranceEnd", lastWordEndMs: this.#wordEndMs, endedAgoMs: 1_000 });
    }
  }

  /** Groups of a number with pauses between them; the recognizer takes each pause for an end, in either of its ways. */
  dictate(groups: readonly string[]): void {
    const random = this.#random;
    for (const group of groups) {
      this.#send({ type: "speechStarted" });
      this.#clock.advance(random.whole(200, 600));
      if (random.chance(0.5)) this.#hear(group, false, false);
      this.#clock.advance(random.whole(100, 400));
      this.#hear(group, true, random.chance(0.7));
      const pauseMs = random.whole(300, 1_300);
      this.#clock.advance(Math.min(pauseMs, 1_000));
      if (pauseMs > 1_000) {
        this.#send({ type: "utteranceEnd", lastWordEndMs: this.#wordEndMs, endedAgoMs: 1_000 });
        this.#clock.advance(pauseMs - 1_000);
      }
    }
  }

  leave(): void {
    const ending = {
      reason: "callerLeft",
      status: "completed",
      message: "the caller hung up",
    } as const;
    this.#send({ type: "endRequested", ending });
  }

  #hear(text: string, isFinal: boolean, speechFinal: boolean): void {
    this.#wordEndMs = Math.max(this.#wordEndMs + 1, this.#clock.monotonicMs());
    const lastWordEndMs = text === "" ? undefined : this.#wordEndMs;
    this.#send({ type: "transcript", text, isFinal, speechFinal, lastWordEndMs, endedAgoMs: 50 });
  }
}
