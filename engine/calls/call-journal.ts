import * as v from "valibot";
import type { RowClaim } from "../../storage/calls/call-list-record.js";
import type { CallEnd, CallStore } from "../../storage/calls/call-store.js";
import type { HistoryChange } from "../../storage/calls/history-store.js";
import type { IdempotencyKey, KeyedAnswer } from "../../storage/calls/idempotency-store.js";
import {
  analysisJob,
  type NewJob,
  placedCallJob,
  summaryJob,
} from "../../storage/jobs/job-record.js";
import type {
  CallChannel,
  CallRecord,
  Category,
  HistoryMessage,
  JsonObject,
  TranscriptMessage,
  UsageRecord,
} from "../../storage/records.js";
import { UniqueViolationError } from "../../storage/statements/unique-violation.js";
import type { AuditRecord } from "../../storage/tenancy/audit-record.js";
import type { NewEvent } from "../../storage/webhooks/event-record.js";
import type { Ending } from "../conversation/call-end.js";
import {
  type ContinuedControl,
  NOT_CONTROLLED,
  UNSPOKEN_MAX,
} from "../conversation/control-command.js";
import type { AgentLlm, CallRecorder } from "../conversation/effect-runner.js";
import {
  ANSWERER_KINDS,
  type ClientMessage,
  type ContinuedAnswerer,
  NO_METRICS,
  NO_WORDS,
  type TurnSave,
} from "../conversation/effects.js";
import type { BargeIn, EndOfTurn } from "../conversation/reasons.js";
import type { TurnKnowledge } from "../knowledge/call-knowledge.js";
import type { Logger } from "../log.js";
import type { Metrics } from "../metrics/metrics.js";
import type { CallInfo } from "../telephony/call-info.js";
import type { CallValues } from "../telephony/call-values.js";
import type { Clock } from "../time/clock.js";
import { utcDate } from "../time/utc-date.js";
import { type OpenToolCall, openToolCallsNote } from "../tools/open-tool-calls.js";
import type { TurnTools } from "../tools/tool-log.js";
import type { TurnAnswers } from "../vendors/chain/answer-log.js";
import type { VendorError } from "../vendors/contracts.js";
import type { BackgroundLlm } from "./background-llm.js";
import type { CallFeed } from "./call-feed.js";
import {
  callEndedEvents,
  callRefusedEvent,
  callRingingEvent,
  callStartedEvent,
  placedCallFacts,
  type RefusedCall,
  type StreamedCall,
  transferCompletedEvent,
  turnEvents,
} from "./call-stream.js";
import { EarlierMessages, type SummaryAccess } from "./earlier-messages.js";
import type { EventFilters } from "./event-filters.js";
import { LiveTranscript } from "./live-transcript.js";
import { type HistoryAccess, SharedHistory } from "./shared-history.js";
import { blindTransferAtEnd, openBlindTransferOf, transferNote } from "./transfer-record.js";
import {
  afterLosses,
  type CallWrite,
  CallWrites,
  charsOf,
  charsOfPassages,
  charsOfTools,
  untilDone,
} from "./write-queue.js";

export interface CallStart {
  readonly callId: string;
  readonly orgId: string;
  readonly agentId: string;
  readonly sessionId: string;
  /** Used if another call has started as that session; if omitted, this one is refused then. */
  readonly spareSessionId?: string | undefined;
  readonly historyKey: string;
  /** The stored history when the call began. */
  readonly earlier?: readonly HistoryMessage[];
  readonly channel: CallChannel;
  /** The calling and the called number of a telephone call; omitted if unknown. */
  readonly callInfo?: CallInfo | undefined;
  /** The values that a web call was given. */
  readonly values?: CallValues | undefined;
  /** What the call keeps of the one that it continues. */
  readonly control?: ContinuedControl | undefined;
  /** Requests to services of the call before whose results no reply has used. */
  readonly openToolCalls?: readonly OpenToolCall[];
  /** Who is at the other end of a placed call, as far as it is known. */
  readonly answerer?: ContinuedAnswerer | undefined;
  /** Whether the agent's calls are analyzed. */
  readonly isAnalyzed?: boolean;
  /** The API key of the call; omitted if it came without one. */
  readonly apiKeyId?: string | undefined;
  /** What the sandbox simulates in the call. */
  readonly simulated?: readonly Category[];
}

const StoredControl = v.object({
  isMuted: v.fallback(v.boolean(), false),
  contextNotes: v.fallback(v.array(v.string()), []),
  unspokenTexts: v.fallback(
    v.pipe(
      v.array(v.string()),
      v.transform((texts) => texts.slice(0, UNSPOKEN_MAX)),
    ),
    [],
  ),
});

/** What a call that continues this one keeps of the commands of people. */
export function controlIn({
  metadata,
}: Pick<CallRecord, "metadata">): Omit<ContinuedControl, "unanswered"> {
  const stored = v.parse(StoredControl, metadata);
  const { isMuted, contextNotes: context, unspokenTexts: unspoken } = stored;
  return { isMuted, context, unspoken };
}

const StoredAnswerer = v.object({
  kind: v.picklist(ANSWERER_KINDS),
  isGreetingDue: v.boolean(),
  screeningAnswers: v.pipe(v.number(), v.integer(), v.minValue(0)),
});
const StoredVerdict = v.object({ answeredBy: v.optional(v.string(), "") });

/** Who was at the other end of a placed call, as far as it was known when the call ended; undefined for other calls. */
export function answererIn({
  metadata,
}: Pick<CallRecord, "metadata">): ContinuedAnswerer | undefined {
  const stored = v.safeParse(StoredAnswerer, metadata["answerer"]);
  return stored.success ? stored.output : undefined;
}

/** Who has answered, in the vendor's word; empty while it has not said. */
export function answeredByIn({ metadata }: Pick<CallRecord, "metadata">): string {
  const stored = v.safeParse(StoredVerdict, metadata);
  return stored.success ? stored.output.answeredBy : "";
}

function muteNote(isMuted: boolean): JsonObject {
  return { isMuted: isMuted ? true : null };
}

function contextNote(context: readonly string[]): JsonObject {
  return { contextNotes: [...context] };
}

function unspokenNote(unspoken: readonly string[]): JsonObject {
  return { unspokenTexts: unspoken.length > 0 ? [...unspoken] : null };
}

/** A call that a vendor was asked to place. */
export type PlacedCallStart = Pick<CallStart, "callId" | "orgId" | "agentId" | "historyKey"> & {
  readonly callInfo: CallInfo;
};

/** With more writes queued, none of a refused call is: a flood of refused callers must not displace transcripts. */
export const REFUSALS_KEPT_MAX = 1_000;

/** The record of a call that has just begun. */
export function newCall(start: CallStart, atMs: number): CallRecord {
  const { callId, orgId, agentId, sessionId, channel, apiKeyId, callInfo, values } = start;
  const { simulated = [], control = NOT_CONTROLLED, openToolCalls = [], answerer } = start;
  return {
    id: callId,
    orgId,
    agentId,
    sessionId,
    channel,
    status: "active",
    startedAtMs: atMs,
    endedAtMs: null,
    durationSec: null,
    metrics: NO_METRICS,
    summary: null,
    sentiment: null,
    analysis: null,
    transcript: [],
    metadata: {
      ...(channel === "web" ? { direction: "web", ...values } : callInfo),
      ...(apiKeyId !== undefined && { apiKeyId }),
      ...(simulated.length > 0 && { simulated: [...simulated] }),
      ...(control.isMuted && muteNote(true)),
      ...(control.context.length > 0 && contextNote(control.context)),
      ...(control.unspoken.length > 0 && unspokenNote(control.unspoken)),
      ...(openToolCalls.length > 0 && openToolCallsNote(openToolCalls)),
      ...(answerer !== undefined && { answerer: { ...answerer } }),
    },
    createdAtMs: atMs,
  };
}

export interface JournalDeps {
  readonly calls: Pick<
    CallStore,
    | "start"
    | "findById"
    | "saveTurn"
    | "annotate"
    | "annotateIf"
    | "finish"
    | "refuse"
    | "place"
    | "placeOnce"
    | "failPlaced"
    | "ring"
  >;
  readonly history: HistoryAccess & SummaryAccess;
  readonly eventFilters: Pick<EventFilters, "of">;
  readonly backgroundLlm: Pick<BackgroundLlm, "answer">;
  readonly metrics: Pick<
    Metrics,
    | "turnEnded"
    | "bargedIn"
    | "callerTurnEnded"
    | "hedged"
    | "vendorFailed"
    | "listenerWasDeaf"
    | "callEnded"
  >;
  readonly feed: Pick<CallFeed, "publish" | "callBegins" | "callIsOver">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Distinguishes this process's calls from those that an earlier one left behind. */
  readonly runId: string;
}

/**
 * Stores calls in progress: at the start, after each turn and at the end, so that a crash loses at most one turn.
 * Writes that fail are kept and retried.
 */
export class CallJournal {
  readonly #deps: JournalDeps;
  readonly #writes: CallWrites;

  constructor(deps: JournalDeps) {
    this.#deps = deps;
    this.#writes = new CallWrites(deps);
  }

  /** Turns, notes and ends that the store refuses for now. */
  get keptCount(): number {
    return this.#writes.keptCount;
  }

  /** Whether a write of this call is pending. */
  isStoring(callId: string): boolean {
    return this.#writes.has(callId);
  }

  /** Resolves when the call is stored as `active`; rejects if it cannot be. */
  async start(start: CallStart): Promise<CallEntry> {
    const began = this.#now();
    const { feed } = this.#deps;
    await this.#store(start, began);
    const { callId, orgId, agentId, channel } = start;
    feed.publish(orgId, { type: "began", callId, agentId, channel, startedAtMs: began.atMs });
    return new CallEntry(this.#deps, this.#writes, start, began);
  }

  /** Records a call that was over before it began; does nothing if it already has its record. */
  recordFailed(start: CallStart, ending: Ending): void {
    const began = this.#now();
    const { calls, runId } = this.#deps;
    let isBegun = false;
    const begin = async () => {
      // An end that could not be stored is retried, but its call is started once.
      if (isBegun) return true;
      if ((await calls.findById(start.orgId, start.callId)) !== undefined) return false;
      await calls.start(newCall(start, began.atMs), runId, began.monotonicMs);
      isBegun = true;
      return true;
    };
    const entry = new CallEntry(this.#deps, this.#writes, start, began);
    entry.endedBeforeItBegan({ ...ending, status: "failed" }, begin);
  }

  /**
   * Resolves when the placing of the call is stored: from then on its end is recorded, whatever happens to this
   * process. False, with nothing stored, if the call is for a row of a call list for which no call may be placed any more.
   */
  placing(start: PlacedCallStart, row?: RowClaim): Promise<boolean> {
    return this.#deps.calls.place(this.#placedJob(start), start.callId, row);
  }

  /** As `placing`, with the key of the request. `UniqueViolationError`, with nothing stored, if another request has the key. */
  placingOnce(start: PlacedCallStart, key: IdempotencyKey, made: KeyedAnswer): Promise<void> {
    return this.#deps.calls.placeOnce(this.#placedJob(start), key, made);
  }

  #placedJob({ callId, orgId, agentId, historyKey, callInfo }: PlacedCallStart): NewJob {
    const payload = { callId, agentId, historyKey, callInfo: { ...callInfo } };
    const { runId } = this.#deps;
    return placedCallJob({ orgId, callId, runId }, payload, this.#now().atMs);
  }

  /** The vendor has refused to place the call. `key`: of its request, which may be sent again. */
  notPlaced(callId: string, key?: IdempotencyKey): void {
    void this.#writes.add({
      callId,
      kind: "note",
      chars: 0,
      store: () => this.#deps.calls.failPlaced(callId, key),
      lossMessage: "a call that was not placed could not be forgotten",
    });
  }

  /** The vendor reports that a placed call is ringing. */
  rings(call: StreamedCall): void {
    const { calls, eventFilters } = this.#deps;
    const event = callRingingEvent(call, this.#now().atMs);
    void this.#writes.add({
      callId: call.callId,
      kind: "note",
      chars: JSON.stringify(event).length,
      store: async () => {
        if ((await eventFilters.of(call.orgId))("call.ringing")) await calls.ring(event);
      },
      lossMessage: "the event of a call that rings could not be stored",
    });
  }

  /**
   * A call was refused before it had a record: its organization's endpoints are notified. Resolves when that is stored;
   * false if it is not going to be, because the store refuses it, or refuses writes and too many are queued already.
   */
  async refused(call: RefusedCall): Promise<boolean> {
    if (!(await this.#deps.eventFilters.of(call.orgId))("call.failed")) return true;
    if (this.keptCount >= REFUSALS_KEPT_MAX) return false;
    const event = callRefusedEvent(call, this.#now().atMs);
    return this.#writes.add({
      callId: call.callId,
      kind: "note",
      chars: JSON.stringify(event).length,
      store: () => this.#deps.calls.refuse(event),
      lossMessage: "failed to store the event of a refused call",
    });
  }

  /**
   * Links the records of a call and of the broken call before it in both directions. `unspoken`: the texts that the call says for the
   * one before.
   */
  link(callId: string, before: string, unspoken: readonly string[] = []): void {
    this.annotate(before, { continuedBy: callId, ...(unspoken.length > 0 && unspokenNote([])) });
    this.annotate(callId, { continues: before });
  }

  /** The caller of a blind transfer to `to` is back with the agent, and the vendor has reported nothing of it: it was not made. */
  transferNotMade(call: Pick<CallRecord, "id" | "orgId">, to: string): void {
    const report = { result: "failed", reason: NOT_REPORTED, durationSec: undefined } as const;
    const { atMs } = this.#now();
    const outcome = { to, mode: "blind", startedAtMs: 0, ...report } as const;
    const isOpen = (metadata: JsonObject) => openBlindTransferOf({ metadata }) === to;
    const event = transferCompletedEvent(call, outcome, atMs);
    this.annotateIf(call.id, isOpen, transferNote({ metadata: {} }, report), event);
  }

  /** Adds metadata to a call, if it has a record. */
  annotate(callId: string, metadata: JsonObject): void {
    void annotate(this.#deps, this.#writes, callId, metadata);
  }

  /** Notes the requests to services that a continuation of the call may repeat. Resolves when they are stored, or dropped; never rejects. */
  noteToolCalls(callId: string, open: readonly OpenToolCall[]): Promise<boolean> {
    return annotate(this.#deps, this.#writes, callId, openToolCallsNote(open));
  }

  /** Enters an action on a call into the audit trail. Resolves when it is stored, or dropped, which is false; never rejects. */
  recordAction(callId: string, entry: AuditRecord): Promise<boolean> {
    return this.#writes.add({
      callId,
      kind: "note",
      chars: JSON.stringify(entry).length,
      store: () => this.#deps.calls.annotate(callId, {}, entry),
      lossMessage: "an action on a call could not be entered into the audit trail",
    });
  }

  /** As `annotate`, with an event, and neither unless the stored metadata meets the condition. */
  annotateIf(
    callId: string,
    isMet: (metadata: JsonObject) => boolean,
    metadata: JsonObject,
    event: NewEvent,
  ): void {
    const { calls } = this.#deps;
    void this.#writes.add({
      callId,
      kind: "note",
      chars: JSON.stringify([metadata, event]).length,
      store: async () => {
        await calls.annotateIf(callId, isMet, metadata, event);
      },
      lossMessage: "a call could not be annotated",
    });
  }

  /** Resolves when the end of every ended call is stored. */
  stored(): Promise<void> {
    return this.#writes.settled();
  }

  /** The server stops: pending writes are lost, and logged. */
  close(): void {
    this.#writes.dropAll();
  }

  /** Two clients may resume one conversation in the same moment. */
  async #store(start: CallStart, began: Moment): Promise<void> {
    const { calls, runId, eventFilters } = this.#deps;
    const { spareSessionId: sessionId } = start;
    const isWanted = (await eventFilters.of(start.orgId))("call.started");
    const events = isWanted ? [callStartedEvent(start, began.atMs)] : [];
    const write = (each: CallStart) =>
      calls.start(newCall(each, began.atMs), runId, began.monotonicMs, events);
    try {
      await write(start);
    } catch (error) {
      if (!(error instanceof UniqueViolationError) || sessionId === undefined) throw error;
      await write({ ...start, sessionId });
    }
  }

  #now(): Moment {
    const { clock } = this.#deps;
    return { atMs: clock.epochMs(), monotonicMs: clock.monotonicMs() };
  }
}

function annotate(
  { calls }: Pick<JournalDeps, "calls">,
  writes: CallWrites,
  callId: string,
  metadata: JsonObject,
): Promise<boolean> {
  return writes.add({
    callId,
    kind: "note",
    chars: JSON.stringify(metadata).length,
    store: () => calls.annotate(callId, metadata),
    lossMessage: "a call could not be annotated",
  });
}

/** Why a blind transfer has failed, in place of the vendor's own word. */
const NOT_REPORTED = "the caller came back, and the telephony vendor reported no outcome";

/** A metadata field of a call with an STT outage that its caller noticed. */
export const LONG_STT_OUTAGE = "longSttOutage";
const LONG_STT_OUTAGE_MS = 5_000;
/** A metadata field of a call with one wait that a caller takes for a dead line, whatever the other waits were. */
export const WAITED_FOR_LONG = "waitedForLong";
const WAITED_FOR_LONG_MS = 5_000;
/**
 * A metadata field of a call that ended before its failures ended it: the agent answered nothing that the caller
 * said, since LLM or TTS failed in each turn. Such a call has failed.
 */
export const EVERY_REPLY_FAILED = "everyReplyFailed";

/** One moment on both clocks: the machine's, which dates it, and the monotonic one, which measures from it. */
export interface Moment {
  readonly atMs: number;
  readonly monotonicMs: number;
}

/** The record of one call. Its writes are not awaited; the call continues even if they fail. */
export class CallEntry implements CallRecorder {
  readonly #deps: JournalDeps;
  readonly #writes: CallWrites;
  readonly #start: CallStart;
  readonly #began: Moment;
  #heardMs: () => number = () => 0;
  #durationMaxMs = Number.POSITIVE_INFINITY;
  #sttOutageMs = 0;
  #longestWaitMs = 0;
  #answeredTurns = 0;
  #failedTurns = 0;
  #hasReplyFailure = false;
  readonly #history: SharedHistory;
  /** What the conversation's messages no longer contain. */
  readonly earlier: EarlierMessages;
  readonly #present = new LiveTranscript();
  #isMuted: boolean;
  #savedTurns = 0;
  #hasCallerWords = false;
  #isEnded = false;

  constructor(deps: JournalDeps, writes: CallWrites, start: CallStart, began: Moment) {
    this.#deps = deps;
    this.#writes = writes;
    this.#start = start;
    this.#began = began;
    this.#isMuted = start.control?.isMuted ?? false;
    const { orgId, historyKey: key, earlier = [] } = start;
    this.#history = new SharedHistory(deps.history, { orgId, key }, earlier, deps.log);
    const { history: store, backgroundLlm, clock, log } = deps;
    const id = { orgId, key };
    this.earlier = new EarlierMessages(
      { store, backgroundLlm, clock, log },
      id,
      start.callId,
      earlier,
    );
  }

  /**
   * Sets the LLM that summarizes earlier messages, the amount of audio that STT received, and the call's maximum
   * duration: a process that was suspended ends the call late, and its caller does not pay for that.
   */
  attach(llm: AgentLlm, heardMs: () => number, durationMaxMs: number): void {
    this.earlier.summarizeWith(llm);
    this.#heardMs = heardMs;
    this.#durationMaxMs = durationMaxMs;
    const { orgId, callId } = this.#start;
    this.#deps.feed.callBegins(orgId, callId, () => ({
      words: this.#present.all,
      isMuted: this.#isMuted,
    }));
  }

  addMessages(message: ClientMessage): void {
    if (message.type !== "transcript") return;
    const { callId, orgId } = this.#start;
    const { role, text, isFinal } = message;
    const words = { role, text, isFinal };
    this.#present.add(words);
    this.#deps.feed.publish(orgId, { ...words, type: "words", callId });
  }

  bargedIn(turn: number, { action, reason, atMs }: BargeIn): void {
    const { feed, metrics } = this.#deps;
    metrics.bargedIn({ action, reason });
    const { callId, orgId } = this.#start;
    feed.publish(orgId, { type: "bargeIn", callId, turn, action, reason, atMs });
  }

  callerTurnEnded(turn: number, endOfTurn: EndOfTurn): void {
    const { feed, metrics } = this.#deps;
    metrics.callerTurnEnded(endOfTurn.reason);
    const { callId, orgId } = this.#start;
    feed.publish(orgId, { ...endOfTurn, type: "endOfTurn", callId, turn });
  }

  /** A continuation of the call begins in this language, whether or not the agent has answered in it. */
  languageSwitched(language: string): void {
    void annotate(this.#deps, this.#writes, this.#start.callId, { language });
  }

  /** The agent of a continuation of the call is muted, too. */
  agentMuted(isMuted: boolean): void {
    const { callId, orgId } = this.#start;
    this.#isMuted = isMuted;
    void annotate(this.#deps, this.#writes, callId, muteNote(isMuted));
    this.#deps.feed.publish(orgId, { type: "muted", callId, isMuted });
  }

  /** A continuation of the call has these notes, too. */
  contextAdded(context: readonly string[]): void {
    void annotate(this.#deps, this.#writes, this.#start.callId, contextNote(context));
  }

  /** A continuation of the call says these texts. */
  textOrdered(unspoken: readonly string[]): void {
    void annotate(this.#deps, this.#writes, this.#start.callId, unspokenNote(unspoken));
  }

  /** A continuation of the call goes on with the same person or machine. */
  answererChanged(answerer: ContinuedAnswerer): void {
    void annotate(this.#deps, this.#writes, this.#start.callId, { answerer: { ...answerer } });
  }

  /**
   * `answers`: which STT, LLM and TTS served the turn. `used`: its tool calls, and the passages it was given. `open`: the
   * requests to services whose results no reply has used, if the turn has changed them.
   */
  turnSaved(
    save: TurnSave,
    answers: TurnAnswers = {},
    used: TurnTools & TurnKnowledge = {},
    open?: readonly OpenToolCall[],
  ): void {
    const { calls, metrics, feed, eventFilters } = this.#deps;
    if (save.report !== undefined) metrics.turnEnded(save.report);
    this.#longestWaitMs = Math.max(this.#longestWaitMs, save.report?.totalMs ?? 0);
    this.#countReply(save.report);
    if (answers.llm?.hedges !== undefined) metrics.hedged(answers.llm.hedges);
    const { callId, orgId } = this.#start;
    const turn = {
      messages: this.#messages(save),
      metrics: save.metrics,
      turn: save.report === undefined ? undefined : { ...save.report, ...answers, ...used },
      atMs: this.#began.atMs + this.#durationMs(),
      ...((save.unspoken !== undefined || open !== undefined) && {
        metadata: {
          ...(save.unspoken !== undefined && unspokenNote(save.unspoken)),
          ...(open !== undefined && openToolCallsNote(open)),
        },
      }),
    };
    this.#savedTurns += 1;
    const about = { call: this.#start, place: this.#savedTurns, messages: turn.messages };
    const added = this.#history.add(save.added);
    this.earlier.add(save.added);
    let isSaved = false;
    const saveTurn = async (history?: HistoryChange) => {
      const isWanted = await eventFilters.of(orgId);
      const events = turnEvents({ ...about, save, used, isWanted }, turn.atMs);
      const isReplaced = await calls.saveTurn(callId, { ...turn, events }, history);
      isSaved = true;
      return isReplaced;
    };
    const isStored = this.#present.settle();
    void this.#writes.add({
      callId,
      kind: "turn",
      chars: charsOf(save) + charsOfTools(used) + charsOfPassages(used),
      store: async () => {
        await this.#history.storeUntil(added, turn.atMs, isSaved ? undefined : saveTurn);
        isStored();
        feed.publish(orgId, { type: "turn", callId, metrics: save.metrics });
      },
      lossMessage: "failed to store a turn",
    });
  }

  #countReply(report: TurnSave["report"]): void {
    if (report?.kind !== "reply") return;
    const { outcome, totalMs } = report;
    if (totalMs !== undefined) this.#answeredTurns += 1;
    else if (outcome === "failed" || (outcome === "cutOff" && this.#hasReplyFailure)) {
      this.#failedTurns += 1;
    }
  }

  vendorFailed(category: "llm" | "tts" | "stt", error: VendorError): void {
    if (category !== "stt") this.#hasReplyFailure = true;
    this.#deps.metrics.vendorFailed(category, error);
    const { vendor, fault, status, requestId } = error;
    const fields = { callId: this.#start.callId, category, vendor, fault, status, requestId };
    this.#deps.log.warn({ ...fields, reason: error.message }, "vendor request failed");
  }

  wasDeaf(durationMs: number): void {
    this.#sttOutageMs += durationMs;
    this.#deps.metrics.listenerWasDeaf(durationMs);
  }

  /** The first ending counts: a call that breaks while it is being ended is not ended twice. */
  ended(ending: Ending, save: TurnSave, open?: readonly OpenToolCall[]): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.earlier.close(save.added);
    const { orgId, callId } = this.#start;
    this.#deps.feed.callIsOver(orgId, callId);
    const callEnd = this.#callEnd(ending, save, open);
    this.#publish(ending, callEnd);
    const added = this.#history.add(save.added);
    const storeEnd = untilDone((lostTurns: number, withWords: boolean) =>
      this.#store(afterLosses(callEnd, lostTurns, withWords)),
    );
    this.#writeEnd(save, async (lostTurns, withWords) => {
      if (!withWords) return storeEnd(lostTurns, withWords);
      // A reader that finds the call ended continues its conversation, which must be complete by
      // then; a failure to store the words does not delay the end.
      const words = this.#history.storeUntil(added, callEnd.endedAtMs);
      const end = words.catch(() => undefined).then(() => storeEnd(lostTurns, withWords));
      await together(words, end);
    });
  }

  /** As `ended`, for a call that `begin` stores first; false, or UniqueViolationError: it already has its record. */
  endedBeforeItBegan(ending: Ending, begin: () => Promise<boolean>): void {
    this.#isEnded = true;
    const callEnd = this.#callEnd(ending, NO_WORDS);
    this.#writeEnd(NO_WORDS, async () => {
      try {
        if (!(await begin())) return;
      } catch (error) {
        if (error instanceof UniqueViolationError) return;
        throw error;
      }
      await this.#store(callEnd);
      this.#publish(ending, callEnd);
    });
  }

  #writeEnd(save: TurnSave, store: CallWrite["store"]): void {
    const { callId } = this.#start;
    const lossMessage = "failed to store the end of a call";
    void this.#writes.add({ callId, kind: "end", chars: charsOf(save), store, lossMessage });
  }

  async #store(callEnd: CallEnd): Promise<void> {
    const { calls, feed } = this.#deps;
    const { callId, orgId } = this.#start;
    await calls.finish(callId, callEnd);
    const { status, metadata } = callEnd;
    feed.publish(orgId, {
      type: "ended",
      callId,
      status,
      endReason: String(metadata["endReason"]),
    });
  }

  #publish(ending: Ending, { durationSec, metrics }: CallEnd): void {
    const { callId, channel, orgId } = this.#start;
    this.#deps.metrics.callEnded(channel, ending);
    this.#deps.log.info(
      { callId, orgId, channel, reason: ending.reason, durationSec, ...metrics },
      "call ended",
    );
  }

  #callEnd(ending: Ending, save: TurnSave, open?: readonly OpenToolCall[]): CallEnd {
    const durationMs = this.#durationMs();
    const endedAtMs = this.#began.atMs + durationMs;
    const durationSec = Math.round(durationMs / 100) / 10;
    const isUnanswered = this.#failedTurns > 0 && this.#answeredTurns === 0;
    // It ended normally, but its vendors had failed for good: decision 051.
    const everyReplyFailed = isUnanswered && ending.status === "completed";
    const status = everyReplyFailed ? "failed" : ending.status;
    const startedAtMs = this.#began.atMs;
    const over = { startedAtMs, endedAtMs, durationSec, status, ending, metrics: save.metrics };
    const messages = this.#messages(save);
    return {
      status,
      endedAtMs,
      durationSec,
      metrics: save.metrics,
      jobs: this.#hasCallerWords ? this.#jobs(endedAtMs) : [],
      events: callEndedEvents(this.#start, over),
      metadata: {
        endReason: ending.reason,
        endMessage: ending.message,
        ...placedCallFacts(this.#start, ending, status),
        ...transferNoteOf(ending),
        ...(open !== undefined && openToolCallsNote(open)),
        ...this.#deafness(),
        ...this.#longWait(),
        ...(everyReplyFailed && { [EVERY_REPLY_FAILED]: true }),
      },
      ...blindTransferOf(ending),
      messages,
      usage: this.#usage(save, endedAtMs, durationSec),
    };
  }

  /** The jobs that follow the end of the call. */
  #jobs(atMs: number): readonly NewJob[] {
    const { orgId, callId, isAnalyzed = false } = this.#start;
    const summary = summaryJob(orgId, callId, atMs);
    return isAnalyzed ? [summary, analysisJob(orgId, callId, atMs)] : [summary];
  }

  /** By the monotonic clock: an adjustment of the machine's clock during the call is not billed. */
  #durationMs(): number {
    const passedMs = this.#deps.clock.monotonicMs() - this.#began.monotonicMs;
    return Math.round(Math.min(passedMs, this.#durationMaxMs));
  }

  #messages(save: TurnSave): TranscriptMessage[] {
    this.#hasCallerWords ||= save.messages.some(({ role }) => role === "user");
    return save.messages.map(({ role, text, atMs }) => ({
      role,
      text,
      timestamp: Math.round(this.#began.atMs + atMs),
    }));
  }

  #usage(save: TurnSave, endedAtMs: number, durationSec: number): UsageRecord {
    return {
      orgId: this.#start.orgId,
      date: utcDate(endedAtMs),
      calls: 1,
      minutes: durationSec / 60,
      ttsChars: save.metrics.ttsChars,
      llmTokens: save.metrics.totalTokens + this.earlier.tokens,
      sttSeconds: this.#heardMs() / 1_000,
    };
  }

  #deafness(): JsonObject {
    if (this.#sttOutageMs === 0) return {};
    const sttOutageMs = Math.round(this.#sttOutageMs);
    return this.#sttOutageMs < LONG_STT_OUTAGE_MS
      ? { sttOutageMs }
      : { sttOutageMs, [LONG_STT_OUTAGE]: true };
  }

  #longWait(): JsonObject {
    if (this.#longestWaitMs < WAITED_FOR_LONG_MS) return {};
    return { longestWaitMs: Math.round(this.#longestWaitMs), [WAITED_FOR_LONG]: true };
  }
}

/** The result of a warm transfer is stored as it develops, maybe before the call's end. */
function transferNoteOf({ transferTo: to, callerId, briefing }: Ending): JsonObject {
  const isWarm = to !== undefined && briefing !== undefined;
  return isWarm ? { transfer: { to, callerId: callerId ?? null } } : {};
}

function blindTransferOf({
  transferTo: to,
  callerId,
  briefing,
}: Ending): Pick<CallEnd, "metadataFrom"> {
  if (to === undefined || briefing !== undefined) return {};
  return { metadataFrom: (stored) => blindTransferAtEnd(stored, { to, callerId }) };
}

/** Requests in one turn of the event loop take effect together. Rejects when both have settled, if one has failed. */
async function together(...work: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) {
    if (result.status === "rejected") throw result.reason;
  }
}
