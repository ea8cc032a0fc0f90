import type { Clock } from "../time/clock.js";

/** What names a question: who asks, and under which number. */
export type AskedKey = string | symbol;

export interface GivenAnswersOptions {
  readonly clock: Pick<Clock, "monotonicMs">;
  /** For as long somebody may ask again. */
  readonly keptMs: number;
  readonly keptMax: number;
}

interface Given<Answer> {
  readonly answer: Answer;
  readonly untilMs: number;
}

/** Answers that may be lost on their way: who asks the same again gets the same, and nothing is done twice. */
export class GivenAnswers<Answer> {
  readonly #options: GivenAnswersOptions;
  /** The oldest come first. */
  readonly #given = new Map<AskedKey, Given<Answer>>();

  constructor(options: GivenAnswersOptions) {
    this.#options = options;
  }

  of(asked: AskedKey): Answer | undefined {
    this.#forgetOld();
    return this.#given.get(asked)?.answer;
  }

  keep(asked: AskedKey, answer: Answer): void {
    const { clock, keptMs, keptMax } = this.#options;
    this.#given.set(asked, { answer, untilMs: clock.monotonicMs() + keptMs });
    const [oldest] = this.#given.keys();
    if (this.#given.size > keptMax && oldest !== undefined) this.#given.delete(oldest);
  }

  #forgetOld(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const [asked, { untilMs }] of this.#given) {
      if (untilMs > nowMs) return;
      this.#given.delete(asked);
    }
  }
}
