import type { TurnReport } from "../../engine/conversation/effects.js";
import type { CancelTimer, Clock } from "../../engine/time/clock.js";
import type { Loudspeaker } from "./loudspeaker.js";
import { SentenceHoles } from "./sentence-holes.js";

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
export class SimulatedTelephone implements Loudspeaker {
  readonly holes = new SentenceHoles();
  readonly #clock: Clock;
  readonly #onHeard: (turnId: number, index: number) => void;
  readonly #heardMs = new Map<string, number>();
  #queue: Playing[] = [];
  #sinceMs = 0;
  #isHeld = false;
  #cancel: CancelTimer | undefined;

  constructor(clock: Clock, onHeard: (turnId: number, index: number) => void) {
    this.#clock = clock;
    this.#onHeard = onHeard;
  }

  play(turnId: number, index: number, comeMs: number, isWhole: boolean): void {
    this.#queue.push({ turnId, index, comeMs, playedMs: 0, isWhole });
    if (this.#queue.length === 1) this.#go();
  }

  grow(turnId: number, index: number, comeMs: number, isWhole: boolean): void {
    const growing = this.#queue.find((one) => one.turnId === turnId && one.index === index);
    if (growing === undefined || growing.isWhole) return;
    this.#stand();
    growing.comeMs = comeMs;
    growing.isWhole = isWhole;
    this.#go();
  }

  cut(turnId: number, index: number): void {
    const cut = this.#queue.find((one) => one.turnId === turnId && one.index === index);
    if (cut === undefined) return;
    this.holes.cut(this.#clock.monotonicMs());
    this.grow(turnId, index, cut.comeMs, true);
  }

  forgetHole(): void {
    this.holes.forget();
  }

  endTurn(report: TurnReport): void {
    this.holes.endTurn(report, this.#clock.monotonicMs());
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
      this.holes.begin(current.turnId, nowMs);
      return;
    }
    if (leftMs > 0) this.holes.end(current.turnId, nowMs);
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

  #note(current: Playing, playedMs: number): void {
    current.playedMs = playedMs;
    this.#heardMs.set(`${current.turnId}.${current.index}`, playedMs);
  }
}
