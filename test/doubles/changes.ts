import { SystemClock } from "../../engine/time/clock.js";
import { within } from "../../engine/time/deadline.js";

/** Far above what anything takes on a busy machine; a test that waits this long has failed. */
export const WAIT_MAX_MS = 60_000;

/** Notifies waits that the awaited state may have arrived: a line of a log, an entry of a journal, a stored write. */
export class Changes {
  #tell: () => void = () => undefined;
  #next: Promise<void> = Promise.resolve();

  constructor() {
    this.tell();
  }

  /** Needs no `this`. */
  readonly tell = (): void => {
    this.#tell();
    this.#next = new Promise((resolve) => {
      this.#tell = resolve;
    });
  };

  /** The first result of `look` that is neither undefined nor false: it is called now and after each change. */
  async until<Value>(
    what: string,
    look: () => Value | undefined | false | Promise<Value | undefined | false>,
  ): Promise<Value> {
    const clock = new SystemClock();
    const endMs = clock.monotonicMs() + WAIT_MAX_MS;
    for (;;) {
      const change = this.#next;
      const found = await look();
      if (found !== undefined && found !== false) return found;
      if (!(await within(clock, endMs - clock.monotonicMs(), change))) {
        throw new Error(`waited in vain for ${what}`);
      }
    }
  }
}
