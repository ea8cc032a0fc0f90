import type { PreemptiveAllowance } from "../conversation/effect-runner.js";
import type { Clock } from "../time/clock.js";

const HOUR_MS = 60 * 60 * 1_000;

/** The tokens that discarded preemptive replies may waste, per organization and hour, in the calls of this process. */
export class PreemptiveBudget {
  readonly #tokensPerHourMax: number;
  readonly #clock: Pick<Clock, "monotonicMs">;
  /** Cleared each hour, so it holds no more than the organizations of one. */
  readonly #wasted = new Map<string, number>();
  #hour = 0;

  constructor(tokensPerHourMax: number, clock: Pick<Clock, "monotonicMs">) {
    this.#tokensPerHourMax = tokensPerHourMax;
    this.#clock = clock;
  }

  /** The budget of one organization's calls. */
  of(orgId: string): PreemptiveAllowance {
    return {
      mayRequest: () => this.#wastedBy(orgId) < this.#tokensPerHourMax,
      wasted: (tokens) => void this.#wasted.set(orgId, this.#wastedBy(orgId) + tokens),
    };
  }

  #wastedBy(orgId: string): number {
    const hour = Math.floor(this.#clock.monotonicMs() / HOUR_MS);
    if (hour !== this.#hour) this.#wasted.clear();
    this.#hour = hour;
    return this.#wasted.get(orgId) ?? 0;
  }
}
