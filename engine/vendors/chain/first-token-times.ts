import type { ChainLink } from "./chain.js";

/** The newest times that are kept of one model; fewer than the least say nothing yet. */
const SAMPLES_MAX = 100;
const SAMPLES_MIN = 20;
const USUAL_SHARE = 0.95;
/** Who is only just later is about to speak, and what is spent on it is missing for those that are not. */
const MARGIN = 1.2;
/** A model that is late more often than that is late from this multiple of its median on. */
const MEDIANS_MAX = 2;
/** Nobody hears that a reply came sooner than this, so that nobody is late before it. */
const LATE_MIN_MS = 300;
/** Models of credentials; the one that was asked first is forgotten first. */
const MODELS_MAX = 2_000;

interface Samples {
  readonly timesMs: number[];
  /** Where the next one goes, once the list is full. */
  oldest: number;
}

/** How long models took to their first word, by credential and model, for all calls of the process. */
export class FirstTokenTimes {
  readonly #byModel = new Map<string, Samples>();

  /** `timeMs`: to the first word, or so long somebody waited for it in vain. */
  took(link: ChainLink<unknown>, timeMs: number): void {
    const { timesMs, oldest } = this.#samplesOf(keyOf(link));
    if (timesMs.length < SAMPLES_MAX) timesMs.push(timeMs);
    else {
      timesMs[oldest] = timeMs;
      this.#samplesOf(keyOf(link)).oldest = (oldest + 1) % SAMPLES_MAX;
    }
  }

  /** After so many ms the model is later than it usually is; undefined while too few of its times are known. */
  lateAfterMs(link: ChainLink<unknown>): number | undefined {
    const timesMs = this.#byModel.get(keyOf(link))?.timesMs ?? [];
    if (timesMs.length < SAMPLES_MIN) return undefined;
    const sorted = timesMs.toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
    return Math.max(LATE_MIN_MS, Math.min(at(USUAL_SHARE) * MARGIN, at(0.5) * MEDIANS_MAX));
  }

  #samplesOf(key: string): Samples {
    const known = this.#byModel.get(key);
    if (known !== undefined) return known;
    const [first] = this.#byModel.keys();
    if (this.#byModel.size >= MODELS_MAX && first !== undefined) this.#byModel.delete(first);
    const samples = { timesMs: [], oldest: 0 };
    this.#byModel.set(key, samples);
    return samples;
  }
}

/** Another version of a credential may lead to another server. */
function keyOf({ breaker, modelId }: ChainLink<unknown>): string {
  const { id, version } = breaker.credential;
  return JSON.stringify([id, version, modelId]);
}
