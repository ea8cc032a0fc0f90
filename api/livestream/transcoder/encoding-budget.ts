import type { LadderPlan } from "./ladder-plan.js";
import type { MachineLoad } from "./machine-load.js";

/** A reduced ladder needs some seconds until the change takes effect. */
const RELIEF_PAUSE_MS = 3_000;
/** Below this load the machine is not the reason for a slow ladder: its broadcaster is. */
const BUSY_ABOVE = 0.85;
/**
 * Reduced ladders grow again only after the machine's load has stayed below this for a while, so that growth does
 * not cause the next overload.
 */
const CALM_BELOW = 0.7;
const CALM_FOR_MS = 15_000;
/** The highest load that growth may lead to, by estimate. */
const GROWN_BUSY_MAX = 0.8;

interface Encoding {
  readonly megapixels: number;
}

/** How much this machine may encode, and whether it is overloaded now. */
export class EncodingBudget {
  readonly #load: MachineLoad;
  #megapixelsMax: number;
  #isMeasured = false;
  #relievedMs = Number.NEGATIVE_INFINITY;
  #calmSinceMs: number | undefined;

  constructor(megapixelsMax: number, load: MachineLoad) {
    this.#megapixelsMax = megapixelsMax;
    this.#load = load;
  }

  get megapixelsMax(): number {
    return this.#megapixelsMax;
  }

  /** An operator's limit is absolute; a measured one is what the machine can do without other work. */
  set measured(megapixels: number) {
    this.#megapixelsMax = megapixels;
    this.#isMeasured = true;
  }

  /**
   * The first plan that fits in addition to the other ladders, or the smallest one with a picture. On a machine
   * that is busy with other work nothing fits, whatever was measured: a ladder would fall behind and be reduced.
   * `heldMegapixels` is what the ladder itself encodes already, and it may keep that.
   */
  admit(
    plans: readonly LadderPlan[],
    others: Iterable<Encoding>,
    nowMs: number,
    heldMegapixels = 0,
  ): number {
    const leastPicture = plans.findLastIndex(({ isAudioAlone }) => !isAudioAlone);
    const least = leastPicture === -1 ? plans.length - 1 : leastPicture;
    const isBusy = this.#load.busy(nowMs) >= BUSY_ABOVE;
    if (this.#isMeasured && isBusy) {
      const held = plans.findIndex(({ megapixels }) => megapixels <= heldMegapixels);
      return held === -1 ? least : Math.min(held, least);
    }
    let used = 0;
    for (const { megapixels } of others) used += megapixels;
    const fitting = plans.findIndex((plan) => used + plan.megapixels <= this.#megapixelsMax);
    return fitting === -1 ? least : Math.min(fitting, least);
  }

  /** Call it regularly; true if one ladder may be reduced now. */
  mayRelieve(nowMs: number, isAnySlow: boolean): boolean {
    const busy = this.#load.busy(nowMs);
    if (busy >= CALM_BELOW) this.#calmSinceMs = undefined;
    else this.#calmSinceMs ??= nowMs;
    if (!isAnySlow || busy < BUSY_ABOVE || nowMs - this.#relievedMs < RELIEF_PAUSE_MS) return false;
    this.#relievedMs = nowMs;
    return true;
  }

  /**
   * The best plan that a ladder reduced to `level` may grow to now. Requires that the machine has been calm and
   * keeps spare capacity. Undefined if no plan fits. After a growth the machine has to be calm again before the
   * next one.
   */
  growth(
    plans: readonly LadderPlan[],
    level: number,
    others: Iterable<Encoding>,
    nowMs: number,
  ): number | undefined {
    if (this.#calmSinceMs === undefined || nowMs - this.#calmSinceMs < CALM_FOR_MS)
      return undefined;
    const held = plans[level]?.megapixels ?? 0;
    const busy = this.#load.busy(nowMs);
    let used = 0;
    for (const { megapixels } of others) used += megapixels;
    const grown = plans.slice(0, level).findIndex(({ megapixels }) => {
      const addedShare = (megapixels - held) / this.#megapixelsMax;
      return used + megapixels <= this.#megapixelsMax && busy + addedShare <= GROWN_BUSY_MAX;
    });
    if (grown === -1) return undefined;
    this.#calmSinceMs = undefined;
    return grown;
  }
}
