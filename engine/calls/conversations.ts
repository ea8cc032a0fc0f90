import { createHash } from "node:crypto";
import type { Database } from "../../storage/database.js";
import type { CallRecord, HistoryMessage } from "../../storage/records.js";
import { CALLER_LEFT } from "../conversation/call-end.js";
import { derivedUuid } from "../security/derived-uuid.js";
import { type CallInfo, callInfoIn } from "../telephony/call-info.js";
import { type CallValues, valuesIn } from "../telephony/call-values.js";
import type { TransferResult } from "../telephony/transfer-report.js";
import type { Clock } from "../time/clock.js";
import { isBrokenOff, onceEnded } from "./broken-call.js";
import type { CallJournal } from "./call-journal.js";
import { CallRefusedError } from "./call-refused-error.js";
import { failedTransferOf, type PhoneConversation } from "./continuations.js";
import type { LiveCalls } from "./live-calls.js";

/** The contract's life of a conversation that nobody continues. */
const HISTORY_LIFETIME_MS = 24 * 60 * 60 * 1_000;
/** A client that comes back by itself does so for half a minute; a person who does later has forgotten what there was to be sorry for. */
const APOLOGY_MAX_MS = 10 * 60 * 1_000;
/** Sessions of a web conversation whose ids are derived from its key: later ones continue it too, without such ids. */
const NAMED_SESSIONS_MAX = 100;

/** What a session is told of its conversation. */
export interface Conversation {
  readonly key: string;
  readonly sessionId: string;
  /** Stands in where another client has come back to the conversation in the same moment. */
  readonly spareSessionId?: string;
  readonly messages: readonly HistoryMessage[];
  /** The caller came back by himself, and is not greeted again. */
  readonly resumed: boolean;
  /** The id of the call that this one goes on with. */
  readonly before?: string | undefined;
  /** That call was cut off, and the caller is told so. */
  readonly wasBroken?: boolean;
  /** The agent wanted to transfer that call, and this is why it has the caller back. */
  readonly failedTransfer?: TransferResult | undefined;
  /** Who calls whom, as the record of that call says it. */
  readonly callInfo?: CallInfo | undefined;
  /** What the call before had, so that the organization's service is asked once for a conversation. */
  readonly values?: CallValues | undefined;
  /** The id of that call, where it has lost its caller for certain, so that its slot can be this one's. */
  readonly replaces?: string | undefined;
  /** The id of that call, where it lives: where the plan is full, this caller is taken for the same one. */
  readonly beside?: string | undefined;
  /** When its first call began, of a conversation that has had calls. */
  readonly beganAtMs?: number | undefined;
}

/** Which conversation a call names, if any: a web client by the key that it got, a telephone call by its own. */
export interface NamedConversation {
  readonly historyKey: string | undefined;
  readonly conversation?: PhoneConversation;
  /** What lets the client in is good for one conversation only, whether anything was said in it or not. */
  readonly isOnlyOne?: boolean;
}

export interface ConversationDeps {
  readonly database: {
    readonly history: Pick<Database["history"], "load" | "purge">;
    readonly calls: Pick<Database["calls"], "findLastOf">;
  };
  readonly liveCalls: Pick<LiveCalls, "has">;
  /** Whether another process, here or on another server, has the call; false where that cannot be learnt. */
  readonly hasOtherNodes: (callId: string) => Promise<boolean>;
  readonly journal: Pick<CallJournal, "stored">;
  readonly clock: Clock;
  readonly newId: () => string;
}

interface FoundCall {
  readonly call: CallRecord | undefined;
  readonly isLive: boolean;
}

/** Conversations outlive their calls, by a day. */
export class Conversations {
  readonly #deps: ConversationDeps;

  constructor(deps: ConversationDeps) {
    this.#deps = deps;
  }

  /** A key that is unknown, too old or of another organization begins a new conversation. */
  find(orgId: string, agentId: string, named: NamedConversation): Promise<Conversation> {
    const { historyKey, conversation, isOnlyOne = false } = named;
    if (historyKey !== undefined) return this.#resumed(orgId, agentId, historyKey, isOnlyOne);
    if (conversation !== undefined) return this.#onTelephone(orgId, conversation);
    return Promise.resolve(this.#new());
  }

  /** Forgets those that can no longer be continued, and says how many. */
  purge(): Promise<number> {
    return this.#deps.database.history.purge(this.#oldestMs);
  }

  #new(): Conversation {
    const key = this.#deps.newId();
    return { key, sessionId: sessionIdOf(key, 0), messages: [], resumed: false };
  }

  /** Whoever is called back to a telephone call is told why he waited. */
  async #onTelephone(
    orgId: string,
    { historyKey: key, sessionId, before }: PhoneConversation,
  ): Promise<Conversation> {
    const fresh = { key, sessionId, messages: [], resumed: false };
    if (before.length === 0) return fresh;
    const { history, calls } = this.#deps.database;
    const call = await calls.findLastOf(orgId, before);
    const messages = (await history.load(orgId, key, this.#oldestMs)) ?? [];
    if (call === undefined) return { ...fresh, messages };
    const failedTransfer = failedTransferOf(call);
    const wasBroken = failedTransfer === undefined;
    const callInfo = callInfoIn(call.metadata);
    const ids = { before: call.id, replaces: call.id };
    return { ...fresh, ...ids, messages, wasBroken, failedTransfer, callInfo };
  }

  async #resumed(
    orgId: string,
    agentId: string,
    key: string,
    isOnlyOne: boolean,
  ): Promise<Conversation> {
    const { database } = this.#deps;
    const sessionIds = Array.from({ length: NAMED_SESSIONS_MAX }, (_, n) => sessionIdOf(key, n));
    const find = () => database.calls.findLastOf(orgId, sessionIds);
    const { call: last, isLive } = await this.#settled(find);
    const messages = await database.history.load(orgId, key, this.#oldestMs);
    const next = last === undefined ? 0 : sessionIds.indexOf(last.sessionId) + 1;
    // Another agent has not talked to the caller, and of sessions without names nobody knows which came last.
    const isKnown = last?.agentId === agentId && next < NAMED_SESSIONS_MAX;
    if (isOnlyOne && next >= NAMED_SESSIONS_MAX) {
      throw new CallRefusedError("limitReached", "this conversation was continued too often", {
        code: "conversation_limit_reached",
      });
    }
    const before = isKnown ? last : undefined;
    const wasCutOff = before !== undefined && !isLive && this.#wasCutOff(before);
    // One that broke before anything was said to its end has a record alone.
    const goesOn = messages !== undefined || wasCutOff || (isOnlyOne && before !== undefined);
    if (!goesOn) return this.#new();
    const wasBroken = wasCutOff && this.#isRemembered(before);
    // Without a spare one, of two clients that come back in the same moment one is refused.
    const spareSessionId = isOnlyOne ? undefined : this.#deps.newId();
    const first = isOnlyOne ? await database.calls.findLastOf(orgId, [sessionIdOf(key, 0)]) : last;
    return {
      key,
      sessionId: sessionIds[next] ?? spareSessionId ?? this.#deps.newId(),
      ...(spareSessionId === undefined ? {} : { spareSessionId }),
      beganAtMs: first?.startedAtMs,
      messages: messages ?? [],
      resumed: messages !== undefined && !wasBroken,
      before: before?.id,
      values: before && valuesIn(before.metadata),
      wasBroken,
      beside: isLive ? before?.id : undefined,
    };
  }

  /**
   * The conversation's last call, and whether some process has it: its end is not waited for, since two clients may go on with one
   * conversation, and a client whose network has changed may be back before its old connection is known to be gone.
   */
  async #settled(find: () => Promise<CallRecord | undefined>): Promise<FoundCall> {
    const { liveCalls, hasOtherNodes, journal, clock } = this.#deps;
    const call = await find();
    if (call?.status !== "active") return { call, isLive: false };
    if (liveCalls.has(call.id)) return { call, isLive: true };
    let isLive = false;
    const ended = onceEnded(async () => (isLive ? undefined : find()), journal, clock);
    const asked = hasOtherNodes(call.id).then((has) => {
      isLive = has;
    });
    // Who has died does not answer, and its callers wait no longer for that.
    await Promise.race([ended, asked]);
    return isLive ? { call, isLive } : { call: await ended, isLive: false };
  }

  /** A client that went by itself, or whose network did, has nothing to be told. */
  #wasCutOff(call: CallRecord): boolean {
    const isRecent = (call.endedAtMs ?? call.startedAtMs) >= this.#oldestMs;
    const hasLeft = call.metadata["endReason"] === CALLER_LEFT.reason;
    return isRecent && !hasLeft && isBrokenOff(call);
  }

  /** A call that is still active broke not long ago: whoever lives closes it. */
  #isRemembered({ endedAtMs }: CallRecord): boolean {
    return endedAtMs === null || endedAtMs >= this.#deps.clock.epochMs() - APOLOGY_MAX_MS;
  }

  get #oldestMs(): number {
    return this.#deps.clock.epochMs() - HISTORY_LIFETIME_MS;
  }
}

/** The key yields the ids of its sessions; an id does not reveal the key. */
function sessionIdOf(key: string, n: number): string {
  return derivedUuid(createHash("sha256").update(`session ${n} of ${key}`).digest());
}
