// Used instead of p-limit, which queues without a limit.
import { RequestError } from "../request-error.js";

export interface BoundedWorkOptions {
  readonly runningMax: number;
  readonly waitingMax: number;
  /** The message of the refusal and the seconds after which to retry. */
  readonly refusal: string;
  readonly retryAfterSec: number;
}

/** Runs a limited number of tasks at once, queues some in order of arrival, and refuses the others immediately. */
export class Semaphore {
  readonly #options: BoundedWorkOptions;
  readonly #waiting: (() => void)[] = [];
  #runningCount = 0;

  constructor(options: BoundedWorkOptions) {
    this.#options = options;
  }

  /** RequestError `overloaded` if `waitingMax` tasks wait already. */
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

  /** Passes the permit to the next task in the queue, so that no newcomer takes it in between. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#runningCount -= 1;
    else next();
  }
}
