import type { TurnReport } from "../../engine/session/effects.js";
import type { CancelTimer, Clock } from "../../engine/time/clock.js";

interface Playing {
  readonly turnId: number;
  readonly index: number;
  comeMs: number;
  playedMs: number;
  isWhole: boolean;
}

/**
 * Plays one sentence after another on a clock, as far as their audio has come, can stand still, and tells what was heard to
 * its end.
 */
export class SimulatedTelephone {
  readonly #clock: Clock;
  readonly #onHeard: (turnId: number, index: number) => void;
  readonly #heardMs = new Map<string, number>();
  #queue: Playing[] = [];
  #sinceMs = 0;
  #isHeld = false;
  #cancel: CancelTimer | undefined;
  #silent: { readonly turnId: number; readonly sinceMs: number } | undefined;
  /** Silences in the middle of a sentence, up to whatever of the same turn was heard next. */
  readonly holesMs: number[] = [];

  constructor(clock: Clock, onHeard: (turnId: number, index: number) => void) {
    this.#clock = clock;
    this.#onHeard = onHeard;
  }

  play(turnId: number, index: number, comeMs: number, isWhole: boolean): void {
    this.#queue.push({ turnId, index, comeMs, playedMs: 0, isWhole });
    if (this.#queue.length === 1) this.#go();
  }

  /** More of a sentence has come; one that is not being played is no matter. */
  grow(turnId: number, index: number, comeMs: number, isWhole: boolean): void {
    const growing = this.#queue.find((one) => one.turnId === turnId && one.index === index);
    if (growing === undefined || growing.isWhole) return;
    this.#stand();
    growing.comeMs = comeMs;
    growing.isWhole = isWhole;
    this.#go();
  }

  /** No more of it comes. */
  cut(turnId: number, index: number): void {
    const cut = this.#queue.find((one) => one.turnId === turnId && one.index === index);
    if (cut !== undefined) this.grow(turnId, index, cut.comeMs, true);
  }

  /** The caller makes a sound: who speaks is not kept waiting. */
  forgetHole(): void {
    this.#silent = undefined;
  }

  /** Nothing more of the turn comes; a hole that its caller did not end has no end. */
  endTurn({ turn, outcome }: TurnReport): void {
    if (this.#silent?.turnId !== turn) return;
    if (outcome === "failed" || outcome === "played") this.holesMs.push(Number.POSITIVE_INFINITY);
    this.#silent = undefined;
  }

  hold(): void {
    this.forgetHole();
    this.#stand();
    this.#isHeld = true;
  }

  resume(): void {
    this.#isHeld = false;
    this.#go();
  }

  clear(): void {
    this.forgetHole();
    this.#stand();
    this.#isHeld = false;
    this.#queue = [];
  }

  /** How much of a sentence the caller has heard. */
  heardMs(turnId: number, index: number): number {
    this.#stand();
    this.#go();
    return this.#heardMs.get(`${turnId}.${index}`) ?? 0;
  }

  #stand(): void {
    const current = this.#queue[0];
    if (current === undefined || this.#cancel === undefined) return;
    this.#cancel();
    this.#cancel = undefined;
    const playedMs = current.playedMs + this.#clock.monotonicMs() - this.#sinceMs;
    this.#note(current, Math.min(current.comeMs, playedMs));
  }

  #go(): void {
    const current = this.#queue[0];
    if (this.#isHeld || current === undefined || this.#cancel !== undefined) return;
    const leftMs = current.comeMs - current.playedMs;
    // What has not come yet cannot be played: the caller hears a gap.
    const nowMs = this.#clock.monotonicMs();
    if (leftMs <= 0 && !current.isWhole) {
      this.#silent ??= { turnId: current.turnId, sinceMs: nowMs };
      return;
    }
    if (leftMs > 0) this.#noteHole(current.turnId, nowMs);
    this.#sinceMs = nowMs;
    this.#cancel = this.#clock.after(leftMs, () => {
      this.#cancel = undefined;
      this.#note(current, current.comeMs);
      if (!current.isWhole) return this.#go();
      this.#queue.shift();
      this.#onHeard(current.turnId, current.index);
      this.#go();
    });
  }

  #noteHole(turnId: number, nowMs: number): void {
    if (this.#silent?.turnId === turnId) this.holesMs.push(nowMs - this.#silent.sinceMs);
    this.#silent = undefined;
  }

  #note(current: Playing, playedMs: number): void {
    current.playedMs = playedMs;
    this.#heardMs.set(`${current.turnId}.${current.index}`, playedMs);
  }
}
