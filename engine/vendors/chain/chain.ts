import type { Category } from "../../../storage/records.js";
import type { Clock } from "../../time/clock.js";
import { VendorError } from "../contracts.js";
import type { Breaker } from "./breakers.js";

/** For this long after a failure, a vendor is the last of its call's chain, whatever its breaker's state. */
const GRUDGE_MS = 60_000;

/** One vendor of a chain, with its model and settings. */
export interface ChainLink<Client> {
  readonly vendor: string;
  readonly modelId: string;
  /** The organization of the call. */
  readonly orgId: string;
  readonly client: Client;
  readonly breaker: Breaker;
}

export interface Wasted {
  /** How long the caller waited for the failed attempt. */
  readonly ms: number;
  /** The estimated tokens that were paid for and are generated again by another vendor. */
  readonly tokens: number;
}

/** The outcome of requesting a second vendor because the first was late; `withheld`: the budget was used up. */
export type HedgeOutcome = "asked" | "withheld" | "won" | "lost";

/** Receives the results of one call's vendors. */
export interface ChainWatch {
  answered(category: Category, link: ChainLink<unknown>): void;
  /** Another vendor is used instead. */
  failed(category: Category, link: ChainLink<unknown>, error: VendorError, wasted: Wasted): void;
  /** `wastedTokens`: the estimated cost of the request that was not needed. */
  hedged(category: Category, outcome: HedgeOutcome, wastedTokens: number): void;
}

export interface ChainParts<Link> {
  readonly category: Category;
  /** One or more, in the order in which they are tried. */
  readonly links: readonly [Link, ...Link[]];
  readonly clock: Clock;
  readonly watch: ChainWatch;
}

/** The vendors of one category in one call: the order of attempts, and their outcomes. */
export class Chain<Client, Link extends ChainLink<Client> = ChainLink<Client>> {
  readonly first: Link;
  readonly clock: Clock;
  readonly #category: Category;
  readonly #links: readonly Link[];
  readonly #watch: ChainWatch;
  readonly #failedAtMs = new Map<Link, number>();

  constructor({ category, links, clock, watch }: ChainParts<Link>) {
    this.first = links[0];
    this.clock = clock;
    this.#category = category;
    this.#links = links;
    this.#watch = watch;
  }

  /** All vendors: first those that are expected to work, then the others. */
  candidates(): readonly Link[] {
    const trusted = this.#links.filter((link) => this.trusts(link));
    const others = this.#links.filter((link) => !trusted.includes(link));
    return [...trusted, ...others];
  }

  /** The vendor that is tried next. */
  get next(): Link {
    return this.candidates()[0] ?? this.first;
  }

  get isSingle(): boolean {
    return this.#links.length === 1;
  }

  answered(link: Link): void {
    this.#failedAtMs.delete(link);
    link.breaker.answered();
    this.#watch.answered(this.#category, link);
  }

  /** The caller reports the failure of the only link: there is no fallback. */
  failed(link: Link, error: VendorError, wasted: Wasted): void {
    this.#failedAtMs.set(link, this.clock.monotonicMs());
    link.breaker.failed(error);
    if (!this.isSingle) this.#watch.failed(this.#category, link, error, wasted);
  }

  hedged(outcome: HedgeOutcome, wastedTokens: number): void {
    this.#watch.hedged(this.#category, outcome, wastedTokens);
  }

  /** Whether it is tried before others. */
  trusts(link: Link): boolean {
    if (link.breaker.isSkipped) return false;
    const failedAtMs = this.#failedAtMs.get(link);
    return failedAtMs === undefined || this.clock.monotonicMs() - failedAtMs >= GRUDGE_MS;
  }
}

/** The error when no vendor is left: a retryable fault, if there was one, so that the call tries once more. */
export function worstOf(failures: readonly VendorError[]): VendorError {
  const error = failures.find(({ retryable }) => retryable) ?? failures.at(-1);
  return error ?? new VendorError("chain", "unavailable", "the chain has no vendor");
}

/** A client that breaks its contract counts as failed. */
export function asVendorError(vendor: string, cause: unknown): VendorError {
  if (cause instanceof VendorError) return cause;
  return new VendorError(vendor, "badAnswer", `${vendor}: its client broke off`, { cause });
}
