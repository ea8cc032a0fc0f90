import type { Category } from "../../../storage/records.js";
import type { VendorFault } from "../contracts.js";
import type { ToldBreaker } from "./breaker-state.js";

/** A credential by the id of its provider, which is no secret: another version of it may work although this one does not. */
export interface Credential {
  readonly id: string;
  /** The moment of its last change in epoch milliseconds, the same wherever it is read. */
  readonly version: number;
  readonly category: Category;
  readonly vendor: string;
  /** The organization that has used a provider of the platform; left out where one organization owns the provider. */
  readonly orgId?: string | undefined;
}

/** What tells one breaker from another, whatever its version. */
export function breakerKey({ id, orgId }: Pick<Credential, "id" | "orgId">): string {
  return orgId === undefined ? id : `${id} ${orgId}`;
}

/** What a process tells the others when it opens or closes a breaker, or tries it. */
export interface BreakerNews extends Credential, ToldBreaker {
  /** The vendor's newest failure, and how long ago it was. */
  readonly lastFault: { readonly fault: VendorFault; readonly agoMs: number } | undefined;
}

/** The way to those who use the same credentials in other processes and on other servers. */
export interface BreakerExchange {
  tell(news: BreakerNews): void;
  /** Where news from elsewhere go; set once. */
  onNews(receive: (news: BreakerNews) => void): void;
}

/** What was told so long ago, as it is now. */
export function afterWaiting(news: BreakerNews, waitedMs: number): BreakerNews {
  const { leftMs, lastFault } = news;
  return {
    ...news,
    leftMs: Math.max(0, leftMs - waitedMs),
    lastFault: lastFault && { ...lastFault, agoMs: lastFault.agoMs + waitedMs },
  };
}
