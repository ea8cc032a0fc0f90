import type { Category } from "../../../storage/records.js";
import type { VendorError, VendorFault } from "../contracts.js";
import type { ChainLink, ChainWatch, HedgeOutcome, Wasted } from "./chain.js";

/** The vendor that served a turn. The other fields are set only after failed attempts. */
export interface VendorAnswer {
  readonly vendor: string;
  readonly model: string;
  /** The number of requests, including failed ones. */
  readonly attempts?: number;
  readonly firstVendor?: string;
  readonly firstModel?: string;
  readonly firstFault?: VendorFault;
  readonly wastedMs?: number;
  readonly wastedTokens?: number;
  /** Omitted if the first vendor was never later than usual. */
  readonly hedges?: Hedges;
}

/** How often a second vendor was requested because the first was late, and the outcomes. */
export interface Hedges {
  readonly asked: number;
  /** The second vendor returned its first token first. */
  readonly won: number;
  /** No second request, because the budget was used up. */
  readonly withheld: number;
  /** The estimated cost of the requests that were not needed. */
  readonly wastedTokens: number;
}

export type TurnAnswers = Partial<Record<Category, VendorAnswer>>;

interface Tally {
  vendor: string;
  model: string;
  answers: number;
  failures: number;
  first:
    | { readonly vendor: string; readonly model: string; readonly fault: VendorFault }
    | undefined;
  wastedMs: number;
  wastedTokens: number;
  hedges: Hedges | undefined;
}

const NO_HEDGES: Hedges = { asked: 0, won: 0, withheld: 0, wastedTokens: 0 };

/** Collects for one call which vendors have answered since the last `take`, and passes on failures. */
export class AnswerLog implements ChainWatch {
  readonly #tallies = new Map<Category, Tally>();
  #onFailed: (category: Category, error: VendorError) => void = () => undefined;

  /** Receives failures that no caller sees, because a fallback was used. */
  notify(onFailed: (category: Category, error: VendorError) => void): void {
    this.#onFailed = onFailed;
  }

  answered(category: Category, { vendor, modelId }: ChainLink<unknown>): void {
    const tally = this.#tallyOf(category);
    tally.vendor = vendor;
    tally.model = modelId;
    tally.answers += 1;
  }

  failed(
    category: Category,
    { vendor, modelId: model }: ChainLink<unknown>,
    error: VendorError,
    wasted: Wasted,
  ): void {
    const tally = this.#tallyOf(category);
    tally.failures += 1;
    tally.first ??= { vendor, model, fault: error.fault };
    tally.wastedMs += wasted.ms;
    tally.wastedTokens += wasted.tokens;
    this.#onFailed(category, error);
  }

  hedged(category: Category, outcome: HedgeOutcome, wastedTokens: number): void {
    const tally = this.#tallyOf(category);
    const hedges = { ...NO_HEDGES, ...tally.hedges };
    hedges.wastedTokens += wastedTokens;
    if (outcome !== "lost") hedges[outcome] += 1;
    tally.hedges = hedges;
  }

  /** Everything collected since the last call. */
  take(): TurnAnswers {
    const answers = [...this.#tallies].map(([category, tally]) => [category, answerOf(tally)]);
    this.#tallies.clear();
    return Object.fromEntries(answers);
  }

  #tallyOf(category: Category): Tally {
    const known = this.#tallies.get(category);
    if (known !== undefined) return known;
    const tally: Tally = {
      vendor: "",
      model: "",
      answers: 0,
      failures: 0,
      first: undefined,
      wastedMs: 0,
      wastedTokens: 0,
      hedges: undefined,
    };
    this.#tallies.set(category, tally);
    return tally;
  }
}

/** Without an answer no vendor is recorded. */
function answerOf(tally: Tally): VendorAnswer {
  const { vendor, model, first, answers, failures, wastedMs, wastedTokens, hedges } = tally;
  const hedged = hedges === undefined ? {} : { hedges };
  if (first === undefined) return { vendor, model, ...hedged };
  return {
    vendor,
    model,
    attempts: answers + failures,
    firstVendor: first.vendor,
    firstModel: first.model,
    firstFault: first.fault,
    wastedMs,
    ...(wastedTokens > 0 ? { wastedTokens } : {}),
    ...hedged,
  };
}
