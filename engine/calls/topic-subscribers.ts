import type { CancelTimer, Clock } from "../time/clock.js";
import type { CallEvent } from "./call-events.js";

/** The number of watchers written to in one turn of the event loop, before calls have theirs. */
const WATCHERS_PER_TURN = 4;
/**
 * The interval of these turns: the maximum number of an organization's watchers is served within a quarter of a
 * second.
 */
const TURN_EVERY_MS = 10;
/** Events that may wait for their round; when there are this many, it begins early. */
const PENDING_EVENTS_MAX = 100;

export interface Watcher {
  /** In order. All watchers of a topic get the same array, so that it can be serialized once. */
  readonly news: (news: readonly CallEvent[]) => void;
  /** Nothing has happened for a while. */
  readonly pulse: () => void;
}

export interface Watch {
  readonly watcher: Watcher;
  readonly end: () => void;
}

/**
 * The watchers of one topic: they are notified in rounds, one after the other, a few in each turn of the event
 * loop.
 */
export class TopicSubscribers {
  readonly #clock: Clock;
  readonly #togetherMs: number;
  readonly #watches = new Set<Watch>();
  #waiting: CallEvent[] = [];
  /** The events of the round in progress, and the watchers that still have to get them. */
  #delivered: readonly CallEvent[] = [];
  #remaining: Watch[] = [];
  /** The next round begins when this one is over. */
  #isDue = false;
  #cancelRound: CancelTimer = () => undefined;
  #cancelTurn: CancelTimer = () => undefined;

  /** Events within `togetherMs` of each other are sent together: each round costs every watcher a write. */
  constructor(clock: Clock, togetherMs: number) {
    this.#clock = clock;
    this.#togetherMs = togetherMs;
  }

  get isEmpty(): boolean {
    return this.#watches.size === 0;
  }

  /** Earlier watchers get the pending events of the next round now, because a new watcher already has them. */
  add(watch: Watch): void {
    if (this.#isDue) this.#startRoundNow();
    this.#watches.add(watch);
  }

  /** False if it was already removed. A watcher that is removed in the middle of a round is not notified any more. */
  remove(watch: Watch): boolean {
    const wasThere = this.#watches.delete(watch);
    if (this.isEmpty) this.#stop();
    return wasThere;
  }

  publish(news: CallEvent): void {
    this.#waiting.push(news);
    if (this.#waiting.length >= PENDING_EVENTS_MAX) this.#startRoundNow();
    else if (this.#waiting.length > 1) return;
    else if (this.#togetherMs === 0) this.#startRoundWhenIdle();
    else this.#cancelRound = this.#clock.after(this.#togetherMs, () => this.#startRoundWhenIdle());
  }

  endAll(): void {
    for (const { end } of this.#watches) end();
  }

  #startRoundWhenIdle(): void {
    this.#isDue = true;
    if (this.#remaining.length === 0) this.#startRound();
  }

  /**
   * The remaining watchers of the round in progress are notified immediately, so that there is never more than one
   * round.
   */
  #startRoundNow(): void {
    this.#cancelTurn();
    this.#sendNext(this.#remaining.length);
    this.#startRound();
  }

  #startRound(): void {
    this.#cancelRound();
    this.#isDue = false;
    this.#delivered = this.#waiting;
    this.#waiting = [];
    this.#remaining = [...this.#watches];
    this.#takeTurn();
  }

  #takeTurn(): void {
    this.#sendNext(WATCHERS_PER_TURN);
    if (this.#remaining.length > 0) {
      this.#cancelTurn = this.#clock.after(TURN_EVERY_MS, () => this.#takeTurn());
    } else if (this.#isDue) this.#startRound();
  }

  #sendNext(count: number): void {
    for (const watch of this.#remaining.splice(0, count)) {
      if (this.#watches.has(watch)) watch.watcher.news(this.#delivered);
    }
  }

  #stop(): void {
    this.#cancelRound();
    this.#cancelTurn();
    this.#waiting = [];
    this.#remaining = [];
  }
}
