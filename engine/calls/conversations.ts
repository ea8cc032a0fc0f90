import { createHash } from "node:crypto";
import type { Database } from "../../storage/database.js";
import type { CallRecord, HistoryMessage } from "../../storage/records.js";
import { CALLER_LEFT } from "../conversation/call-end.js";
import {
  type ContinuedControl,
  NOT_CONTROLLED,
  UNANSWERED_CHARS_MAX,
} from "../conversation/control-command.js";
import type { ContinuedAnswerer } from "../conversation/effects.js";
import { derivedUuid } from "../security/derived-uuid.js";
import { type CallInfo, callInfoIn } from "../telephony/call-info.js";
import { type CallValues, valuesIn } from "../telephony/call-values.js";
import type { TransferResult } from "../telephony/transfer-report.js";
import type { Clock } from "../time/clock.js";
import { type OpenToolCall, openToolCallsIn } from "../tools/open-tool-calls.js";
import { isBrokenOff, onceEnded } from "./broken-call.js";
import { answererIn, type CallJournal, controlIn } from "./call-journal.js";
import { CallRefusedError } from "./call-refused-error.js";
import type { PhoneConversation } from "./continuations.js";
import type { LiveCalls } from "./live-calls.js";
import { failedTransferOf, openBlindTransferOf } from "./transfer-record.js";

/** The contract's lifetime of a conversation that is not continued. */
const HISTORY_LIFETIME_MS = 24 * 60 * 60 * 1_000;
/** A client reconnects by itself for half a minute; a person who returns later than this needs no apology. */
const APOLOGY_MAX_MS = 10 * 60 * 1_000;
/**
 * The number of a web conversation's sessions with ids derived from its key: later ones continue it too, without
 * such ids.
 */
const NAMED_SESSIONS_MAX = 100;

/** What a session knows of its conversation. */
export interface Conversation {
  readonly key: string;
  readonly sessionId: string;
  /** Used if another client has resumed the conversation in the same moment. */
  readonly spareSessionId?: string;
  readonly messages: readonly HistoryMessage[];
  /** The caller returned on their own, and is not greeted again. */
  readonly resumed: boolean;
  /** The id of the call that this one continues. */
  readonly before?: string | undefined;
  /** That call was cut off, and the agent tells the caller so. */
  readonly wasBroken?: boolean;
  /** The agent's transfer of that call failed for this reason. */
  readonly failedTransfer?: TransferResult | undefined;
  /** The target of that transfer, if it was a blind one of which the vendor has reported nothing. */
  readonly unreportedTransfer?: string | undefined;
  /** The calling and the called number, from the record of that call. */
  readonly callInfo?: CallInfo | undefined;
  /** The values of the call before, so that the organization's service is asked once per conversation. */
  readonly values?: CallValues | undefined;
  /** The language that it had come to; undefined where it never changed. */
  readonly language?: string | undefined;
  /** Whether the agent was muted, unless the caller has hung up since, what it has not answered, and the LLM's notes. */
  readonly control?: ContinuedControl | undefined;
  /** Its requests to services whose results no reply has used. */
  readonly openToolCalls?: readonly OpenToolCall[] | undefined;
  /** Who was at the other end of a placed call. */
  readonly answerer?: ContinuedAnswerer | undefined;
  /** The id of that call, if it has certainly lost its caller, so that this one can take over its slot. */
  readonly replaces?: string | undefined;
  /** The id of that call, if it is alive: if the plan is full, this caller counts as the same one. */
  readonly beside?: string | undefined;
  /** The id of that call, if its record is active but no process has said that it has it. */
  readonly perhapsAlive?: string | undefined;
  /** When the conversation's first call began; undefined if it has had no calls. */
  readonly beganAtMs?: number | undefined;
}

/**
 * The conversation that a call names, if any: a web client by the key that it received, a telephone call by its
 * own.
 */
export interface NamedConversation {
  readonly historyKey: string | undefined;
  readonly conversation?: PhoneConversation;
  /** The client's credentials allow one conversation only, whether or not anything was said in it. */
  readonly isOnlyOne?: boolean;
}

export interface ConversationDeps {
  readonly database: {
    readonly history: Pick<Database["history"], "load" | "purge">;
    readonly calls: Pick<Database["calls"], "findLastOf" | "findById">;
  };
  readonly liveCalls: Pick<LiveCalls, "has">;
  /** Whether another process, here or on another server, has the call; false if that is unknown. */
  readonly hasOtherNodes: (callId: string) => Promise<boolean>;
  readonly journal: Pick<CallJournal, "stored">;
  readonly clock: Clock;
  readonly newId: () => string;
}

interface FoundCall {
  readonly call: CallRecord | undefined;
  readonly isLive: boolean;
}

/** Conversations are kept for a day after their last call. */
export class Conversations {
  readonly #deps: ConversationDeps;

  constructor(deps: ConversationDeps) {
    this.#deps = deps;
  }

  /** A key that is unknown, too old or another organization's begins a new conversation. */
  find(orgId: string, agentId: string, named: NamedConversation): Promise<Conversation> {
    const { historyKey, conversation, isOnlyOne = false } = named;
    if (historyKey !== undefined) return this.#resumed(orgId, agentId, historyKey, isOnlyOne);
    if (conversation !== undefined) return this.#onTelephone(orgId, conversation);
    return Promise.resolve(this.#new());
  }

  /** Removes those that can no longer be continued, and returns their number. */
  purge(): Promise<number> {
    return this.#deps.database.history.purge(this.#oldestMs);
  }

  #new(): Conversation {
    const key = this.#deps.newId();
    return { key, sessionId: sessionIdOf(key, 0), messages: [], resumed: false };
  }

  /** A caller who returns to a telephone call learns why there was a wait. */
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
    const language = languageIn(call);
    // After a failed transfer no person talks to the caller, so the agent is unmuted and says what happened.
    const { unspoken } = controlIn(call);
    const control = { ...(await this.#controlOf(call, messages, wasBroken)), unspoken };
    const answerer = answererIn(call);
    const transfer = { failedTransfer, unreportedTransfer: openBlindTransferOf(call) };
    const openToolCalls = openToolCallsIn(call.metadata);
    const about = { callInfo, language, control, openToolCalls, answerer };
    const broken = { wasBroken, ...transfer, ...about };
    return { ...fresh, ...ids, messages, ...broken };
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
    // Another agent has not talked to the caller, and the order of sessions without derived ids is unknown.
    const isKnown = last?.agentId === agentId && next < NAMED_SESSIONS_MAX;
    if (isOnlyOne && next >= NAMED_SESSIONS_MAX) {
      throw new CallRefusedError("limitReached", "this conversation was continued too often", {
        code: "conversation_limit_reached",
      });
    }
    const before = isKnown ? last : undefined;
    const wasCutOff = before !== undefined && !isLive && this.#wasCutOff(before);
    // A session that broke before its first complete turn has only a record.
    const goesOn = messages !== undefined || wasCutOff || (isOnlyOne && before !== undefined);
    if (!goesOn) return this.#new();
    const wasBroken = wasCutOff && this.#isRemembered(before);
    // Without a spare id, one of two clients that resume in the same moment is refused.
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
      language: before && languageIn(before),
      openToolCalls: before && openToolCallsIn(before.metadata),
      control: before && {
        ...(await this.#controlOf(before, messages ?? [], wasBroken || isLive)),
        // A call that still lives says its texts itself.
        unspoken: wasBroken ? controlIn(before).unspoken : [],
      },
      wasBroken,
      beside: isLive ? before?.id : undefined,
      perhapsAlive: !isLive && before?.status === "active" ? before.id : undefined,
    };
  }

  /**
   * The conversation's last call, and whether a process has it. Its end is not awaited: two clients may continue
   * one conversation, and a client whose network has changed may return before its old connection times out.
   */
  async #settled(find: () => Promise<CallRecord | undefined>): Promise<FoundCall> {
    let call = await find();
    // Another client may open the next call while this one waits for the end of the last. It does so at most
    // NAMED_SESSIONS_MAX times.
    for (;;) {
      if (call?.status !== "active") return { call, isLive: false };
      const found = await this.#settledOne(call, find);
      if (found.isLive || found.call?.id === call.id) return found;
      call = found.call;
    }
  }

  /** The call, or the one that has followed it meanwhile; `isLive` is about the given one. */
  async #settledOne(
    call: CallRecord,
    find: () => Promise<CallRecord | undefined>,
  ): Promise<FoundCall> {
    const { liveCalls, hasOtherNodes, journal, clock } = this.#deps;
    if (liveCalls.has(call.id)) return { call, isLive: true };
    let isLive = false;
    const ended = onceEnded(call, async () => (isLive ? undefined : find()), journal, clock);
    const asked = hasOtherNodes(call.id).then((has) => {
      isLive = has;
    });
    // A dead process does not answer, and its callers do not wait for it any longer.
    await Promise.race([ended, asked]);
    return isLive ? { call, isLive } : { call: await ended, isLive: false };
  }

  /** `isSameCall`: to the caller it is; a mute is over when the caller has hung up. */
  async #controlOf(
    call: CallRecord,
    messages: readonly HistoryMessage[],
    isSameCall: boolean,
  ): Promise<Omit<ContinuedControl, "unspoken">> {
    const { isMuted, context } = controlIn(call);
    if (!isMuted || !isSameCall) return { ...NOT_CONTROLLED, context };
    // A call that ended by itself has put these words into the conversation.
    if (messages.at(-1)?.role === "user") return { ...NOT_CONTROLLED, isMuted, context };
    const stored = await this.#deps.database.calls.findById(call.orgId, call.id);
    const said = stored?.transcript ?? [];
    const last = said.findLastIndex(({ role }) => role === "assistant");
    const words = said.slice(last + 1).map(({ text }) => text);
    return { isMuted, context, unanswered: words.join(" ").slice(-UNANSWERED_CHARS_MAX).trim() };
  }

  /** A client that left, or lost its network, needs no apology. */
  #wasCutOff(call: CallRecord): boolean {
    const isRecent = (call.endedAtMs ?? call.startedAtMs) >= this.#oldestMs;
    const hasLeft = call.metadata["endReason"] === CALLER_LEFT.reason;
    return isRecent && !hasLeft && isBrokenOff(call);
  }

  /** A call that is still active broke recently: a live process will close it. */
  #isRemembered({ endedAtMs }: CallRecord): boolean {
    return endedAtMs === null || endedAtMs >= this.#deps.clock.epochMs() - APOLOGY_MAX_MS;
  }

  get #oldestMs(): number {
    return this.#deps.clock.epochMs() - HISTORY_LIFETIME_MS;
  }
}

function languageIn({ metadata: { language } }: CallRecord): string | undefined {
  return typeof language === "string" ? language : undefined;
}

/** The ids of its sessions follow from the key; an id does not reveal the key. */
function sessionIdOf(key: string, n: number): string {
  return derivedUuid(createHash("sha256").update(`session ${n} of ${key}`).digest());
}
