const EVENTS_MAX = 10_000;
/** Only a failing test waits this long; one on a busy machine may wait for seconds. */
const UNTIL_MS = 60_000;
const STORY_EVENTS = 12;

interface Waiting<Event> {
  readonly predicate: (event: Event) => boolean;
  readonly resolve: (event: Event) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** The events of a caller, and the waits for later ones. Beyond 10,000 events the oldest are dropped. */
export class AwaitedEvents<Event> {
  readonly #describe: (event: Event) => string;
  readonly #onEvent: ((event: Event) => void) | undefined;
  readonly #waiting: Waiting<Event>[] = [];
  #events: Event[] = [];
  /** Events before this one have been returned by `until`. */
  #seen = 0;
  #isOver = false;

  /** `onEvent` is called for each event as it arrives. */
  constructor(describe: (event: Event) => string, onEvent?: (event: Event) => void) {
    this.#describe = describe;
    this.#onEvent = onEvent;
  }

  get all(): readonly Event[] {
    return this.#events;
  }

  add(event: Event): void {
    this.#onEvent?.(event);
    this.#events.push(event);
    if (this.#events.length > EVENTS_MAX) {
      this.#events = this.#events.slice(EVENTS_MAX / 10);
      this.#seen = Math.max(0, this.#seen - EVENTS_MAX / 10);
    }
    const index = this.#waiting.findIndex(({ predicate }) => predicate(event));
    const [waiting] = index < 0 ? [] : this.#waiting.splice(index, 1);
    if (waiting === undefined) return;
    clearTimeout(waiting.timer);
    this.#seen = this.#events.length;
    waiting.resolve(event);
  }

  /** No more events follow: pending waits reject. */
  end(): void {
    this.#isOver = true;
    for (const { timer, reject } of this.#waiting.splice(0)) {
      clearTimeout(timer);
      reject(new Error(`the call ended: ${this.#story()}`));
    }
  }

  /**
   * The next matching event, among those since the last one returned here and later ones. Rejects if it does not
   * arrive in time, or the call ends before.
   */
  until(predicate: (event: Event) => boolean, timeoutMs = UNTIL_MS): Promise<Event> {
    const index = this.#events.findIndex((event, n) => n >= this.#seen && predicate(event));
    const event = this.#events[index];
    if (event !== undefined) {
      this.#seen = index + 1;
      return Promise.resolve(event);
    }
    return new Promise((resolve, reject) => {
      if (this.#isOver) {
        reject(new Error(`the call is over: ${this.#story()}`));
        return;
      }
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(new Error(`nothing of that kind within ${timeoutMs} ms: ${this.#story()}`));
      }, timeoutMs);
      const waiting: Waiting<Event> = { predicate, resolve, reject, timer };
      this.#waiting.push(waiting);
    });
  }

  /** The last events in a few words, for a test whose wait failed. */
  #story(): string {
    return (
      this.#events.slice(-STORY_EVENTS).map(this.#describe).join(", ") || "nothing has happened"
    );
  }
}
