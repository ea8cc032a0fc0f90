import type { ChainLink } from "./chain.js";

/** The number of recent times kept per model; fewer than the minimum are not enough for an estimate. */
const SAMPLES_MAX = 100;
const SAMPLES_MIN = 20;
const USUAL_SHARE = 0.95;
/** A model that is only just later is about to answer, and hedging it would use up budget that later models need. */
const MARGIN = 1.2;
/** A model that is often late counts as late from this multiple of its median on. */
const MEDIANS_MAX = 2;
/** Callers do not notice a faster reply, so no model counts as late before this. */
const LATE_MIN_MS = 300;
/** A model is given up at this multiple of its usual time, unless more than one answer in fifty was nearly as late. */
const USUALS_MAX = 2;
const ODD_SHARE = 0.98;
/** No model is given up before this: a caller hardly notices, and a busy process is late itself. */
const TIMEOUT_MIN_MS = 800;
/** A longer prompt takes longer to read, so prompts are compared with prompts of up to four times their length. */
const SHORT_PROMPT_TOKENS = 2_000;
const PROMPT_GROWTH = 4;
/**
 * Models per credential and prompt length kept for one organization; the least recently requested one is dropped
 * first.
 */
const MODELS_PER_ORGANIZATION_MAX = 60;
/** The number of organizations kept; the one with the oldest answer is dropped first. */
const ORGANIZATIONS_MAX = 1_000;

interface Samples {
  readonly timesMs: number[];
  /** The position of the next entry: once the list is full, that of the oldest. */
  next: number;
}

/**
 * How long models take to their first token, and TTS to its first audio, by organization, credential, model and
 * prompt length, for all calls of the process. Organizations do not share times: with the same provider, one with
 * short prompts and few tools has other times than one with long prompts. `promptTokens` is an estimate, and 0 for
 * TTS.
 */
export class AnswerTimes {
  readonly #byOrganization = new Map<string, Map<string, Samples>>();

  /** `timeMs`: until the response started, or until the attempt was abandoned. */
  record(link: ChainLink<unknown>, timeMs: number, promptTokens = 0): void {
    const samples = this.#samplesOf(link, promptTokens);
    samples.timesMs[samples.next] = timeMs;
    samples.next = (samples.next + 1) % SAMPLES_MAX;
  }

  /** The time in ms after which the model is later than usual; undefined while too few of its times are known. */
  lateAfterMs(link: ChainLink<unknown>, promptTokens = 0): number | undefined {
    const within = this.#quantiles(link, promptTokens);
    if (within === undefined) return undefined;
    const lateMs = Math.min(within(USUAL_SHARE) * MARGIN, within(0.5) * MEDIANS_MAX);
    return Math.max(LATE_MIN_MS, lateMs);
  }

  /** The deadline in ms after which the fallback is used, at most `maxMs`; `maxMs` while too few times are known. */
  timeoutMs(link: ChainLink<unknown>, maxMs: number, promptTokens = 0): number {
    const within = this.#quantiles(link, promptTokens);
    if (within === undefined) return maxMs;
    const oddMs = Math.max(within(USUAL_SHARE) * USUALS_MAX, within(ODD_SHARE) * MARGIN);
    return Math.min(maxMs, Math.max(TIMEOUT_MIN_MS, oddMs));
  }

  /** The times within which the given shares of the answers arrived. */
  #quantiles(
    link: ChainLink<unknown>,
    promptTokens: number,
  ): ((share: number) => number) | undefined {
    const timesMs =
      this.#byOrganization.get(link.orgId)?.get(keyOf(link, promptTokens))?.timesMs ?? [];
    if (timesMs.length < SAMPLES_MIN) return undefined;
    const sorted = timesMs.toSorted((a, b) => a - b);
    return (share) => sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
  }

  #samplesOf(link: ChainLink<unknown>, promptTokens: number): Samples {
    const byModel = this.#byOrganization.get(link.orgId) ?? new Map<string, Samples>();
    this.#byOrganization.delete(link.orgId);
    this.#byOrganization.set(link.orgId, byModel);
    forgetFirst(this.#byOrganization, ORGANIZATIONS_MAX);
    const key = keyOf(link, promptTokens);
    const known = byModel.get(key);
    if (known !== undefined) return known;
    const samples = { timesMs: [], next: 0 };
    byModel.set(key, samples);
    forgetFirst(byModel, MODELS_PER_ORGANIZATION_MAX);
    return samples;
  }
}

function forgetFirst(entries: Map<string, unknown>, max: number): void {
  const [first] = entries.keys();
  if (entries.size > max && first !== undefined) entries.delete(first);
}

/** Another version of a credential may use another server. */
function keyOf({ breaker, modelId }: ChainLink<unknown>, promptTokens: number): string {
  const { id, version } = breaker.credential;
  const growth = Math.log(Math.max(1, promptTokens / SHORT_PROMPT_TOKENS));
  return JSON.stringify([id, version, modelId, Math.ceil(growth / Math.log(PROMPT_GROWTH))]);
}
