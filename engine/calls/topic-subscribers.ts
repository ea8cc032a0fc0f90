import type { CancelTimer, Clock } from "../time/clock.js";
import type { CallEvent } from "./call-events.js";

/** So many are written to in one turn of the event loop, and then calls have theirs. */
const WATCHERS_PER_TURN = 4;
/** From one of these turns to the next: all that an organization may have are told within a quarter of a second. */
const TURN_EVERY_MS = 10;
/** News that may wait for their round; when there are so many, it begins before its time. */
const PENDING_EVENTS_MAX = 100;

export interface Watcher {
  /** In order. All who watch a topic are given the same array, so that what is made of it can be made once. */
  readonly news: (news: readonly CallEvent[]) => void;
  /** Nothing has happened for a while. */
  readonly pulse: () => void;
}

export interface Watch {
  readonly watcher: Watcher;
  readonly end: () => void;
}

/** Those who watch one topic: told in rounds, one after the other, a few in each turn of the event loop. */
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

  /** What comes within `togetherMs` of each other is told together: each telling costs every watcher a write. */
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

  /** False where it had gone before. One that goes in the middle of a round is told no more. */
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

  /** Who is left of the round in progress is told at once, so that there is never more than one. */
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
