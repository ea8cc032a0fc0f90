// By hand, since p-limit keeps everybody waiting and refuses nobody.
import { RequestError } from "../request-error.js";

export interface BoundedWorkOptions {
  readonly runningMax: number;
  readonly waitingMax: number;
  /** What a refused requester is told, and after how many seconds to come back. */
  readonly refusal: string;
  readonly retryAfterSec: number;
}

/** Runs expensive work a few at a time, in order of arrival, and refuses at once what it could only queue for too long. */
export class Semaphore {
  readonly #options: BoundedWorkOptions;
  readonly #waiting: (() => void)[] = [];
  #runningCount = 0;

  constructor(options: BoundedWorkOptions) {
    this.#options = options;
  }

  /** Rejects with a RequestError `unavailable` when `waitingMax` others wait already. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#enter();
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    const { runningMax, waitingMax, refusal, retryAfterSec } = this.#options;
    if (this.#runningCount < runningMax) {
      this.#runningCount += 1;
      return;
    }
    if (this.#waiting.length >= waitingMax) {
      throw new RequestError("overloaded", refusal, { retryAfterSec });
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** The place goes straight to the next in line, so that a newcomer cannot take it in between. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#runningCount -= 1;
    else next();
  }
}
