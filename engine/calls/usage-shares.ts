import type { Database } from "../../storage/database.js";
import type { CallRecord } from "../../storage/records.js";
import { EVERY_REPLY_FAILED } from "./call-journal.js";

/** The usage of one agent's calls, or of one key's. */
export interface UsageShare<Id extends string | null> {
  readonly id: Id;
  readonly calls: number;
  readonly failed: number;
  /** Why calls failed, the most frequent reason first. */
  readonly failures: readonly CallFailures[];
  readonly minutes: number;
  readonly llmTokens: number;
  readonly ttsChars: number;
}

/** The calls that failed for one reason. */
export interface CallFailures {
  /** As in the call's metadata. */
  readonly endReason: string;
  readonly calls: number;
}

export interface UsageShares {
  readonly calls: number;
  /** False if there were more calls than are read: then these are the latest. */
  readonly isWhole: boolean;
  /** Largest first. */
  readonly agents: readonly UsageShare<string>[];
  readonly apiKeys: readonly KeyShare[];
}

export interface KeyShare extends UsageShare<string | null> {
  /**
   * The channel of calls without a key: by telephone (placed in the console), or from pages with client tokens or
   * to public agents. Undefined with a key.
   */
  readonly channel: CallRecord["channel"] | undefined;
}

/** Parsed in one go, on the thread that calls share. */
const CALLS_PER_READ = 100;
/** The number of latest calls: for a busier organization they are a fair sample of its last days. */
const SHARED_CALLS_MAX = 5_000;
/** Four: a hundredth of a second is more than that of a minute. */
const DECIMALS = 10_000;

/** The usage since then, by agent and by key. */
export async function usageShares(
  calls: Pick<Database["calls"], "list">,
  orgId: string,
  sinceMs: number,
): Promise<UsageShares> {
  const seen = new Set<string>();
  const agents = new Map<string, UsageShare<string>>();
  const apiKeys = new Map<string, UsageShare<string>>();
  const keyless = new Map<CallRecord["channel"], UsageShare<CallRecord["channel"]>>();
  let isWhole = false;
  for (let skip = 0; skip < SHARED_CALLS_MAX && !isWhole; skip += CALLS_PER_READ) {
    const { items } = await calls.list(orgId, { skip, limit: CALLS_PER_READ });
    for (const call of items) {
      // Calls that begin meanwhile push earlier ones into the next page.
      if (call.startedAtMs < sinceMs || seen.has(call.id)) continue;
      seen.add(call.id);
      add(agents, call.agentId, call);
      const { apiKeyId } = call.metadata;
      if (typeof apiKeyId === "string") add(apiKeys, apiKeyId, call);
      else add(keyless, call.channel, call);
    }
    const last = items.at(-1);
    isWhole = items.length < CALLS_PER_READ || last === undefined || last.startedAtMs < sinceMs;
  }
  return { calls: seen.size, isWhole, agents: sorted(agents), apiKeys: byKey(apiKeys, keyless) };
}

function byKey(
  apiKeys: ReadonlyMap<string, UsageShare<string>>,
  keyless: ReadonlyMap<CallRecord["channel"], UsageShare<CallRecord["channel"]>>,
): readonly KeyShare[] {
  const shares = [
    ...sorted(apiKeys).map((share) => ({ ...share, channel: undefined })),
    ...sorted(keyless).map((share) => ({ ...share, id: null, channel: share.id })),
  ];
  return shares.sort((one, other) => other.minutes - one.minutes || other.calls - one.calls);
}

function add<Id extends string | null>(
  shares: Map<Id, UsageShare<Id>>,
  id: Id,
  call: CallRecord,
): void {
  const before = shares.get(id);
  const { totalTokens, ttsChars } = call.metrics;
  shares.set(id, {
    id,
    calls: (before?.calls ?? 0) + 1,
    failed: (before?.failed ?? 0) + (call.status === "failed" ? 1 : 0),
    failures:
      call.status === "failed" ? withFailure(before?.failures, call) : (before?.failures ?? []),
    minutes: (before?.minutes ?? 0) + (call.durationSec ?? 0) / 60,
    llmTokens: (before?.llmTokens ?? 0) + totalTokens,
    ttsChars: (before?.ttsChars ?? 0) + ttsChars,
  });
}

/** There are as many reasons as call endings, plus one: a caller hung up on an agent that could not answer. */
function withFailure(
  before: readonly CallFailures[] = [],
  { metadata }: CallRecord,
): readonly CallFailures[] {
  const { endReason: reason } = metadata;
  const ended = typeof reason === "string" ? reason : "unknown";
  const endReason = metadata[EVERY_REPLY_FAILED] === true ? EVERY_REPLY_FAILED : ended;
  const known = before.find((failures) => failures.endReason === endReason);
  const others = before.filter((failures) => failures !== known);
  return [...others, { endReason, calls: (known?.calls ?? 0) + 1 }].sort(
    (one, other) => other.calls - one.calls,
  );
}

function sorted<Id extends string | null>(
  shares: ReadonlyMap<Id, UsageShare<Id>>,
): readonly UsageShare<Id>[] {
  return [...shares.values()]
    .map((share) => ({ ...share, minutes: Math.round(share.minutes * DECIMALS) / DECIMALS }))
    .sort((one, other) => other.minutes - one.minutes || other.calls - one.calls);
}
