import type { CallStore } from "../../storage/call-store.js";
import type {
  CallChannel,
  CallRecord,
  HistoryMessage,
  JsonObject,
  TranscriptMessage,
  UsageRecord,
} from "../../storage/records.js";
import type { Logger } from "../log.js";
import type { Metrics } from "../metrics/metrics.js";
import type { AgentLlm, CallRecorder } from "../session/effect-runner.js";
import { NO_METRICS, type TurnSave } from "../session/effects.js";
import type { Ending } from "../session/ending.js";
import type { Clock } from "../time/clock.js";
import type { VendorError } from "../vendors/contracts.js";
import type { CallSummaries } from "./call-summaries.js";

export interface CallStart {
  readonly callId: string;
  readonly orgId: string;
  readonly agentId: string;
  readonly sessionId: string;
  readonly historyKey: string;
  readonly channel: CallChannel;
}

export interface JournalSurroundings {
  readonly calls: CallStore;
  readonly summaries: CallSummaries;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
  /** Tells this process' calls from those that an earlier one left behind. */
  readonly runId: string;
}

/** Writes calls down as they go: at the start, after each turn and at the end, so that a crash loses one turn at most. */
export class CallJournal {
  readonly #around: JournalSurroundings;
  readonly #endings = new Set<Promise<void>>();

  constructor(around: JournalSurroundings) {
    this.#around = around;
  }

  /** Resolves when the call is stored as `active`. */
  async begin(start: CallStart): Promise<CallEntry> {
    const atMs = this.#around.clock.epochMs();
    await this.#around.calls.start(newCall(start, atMs), this.#around.runId);
    return new CallEntry(this.#around, start, atMs, (ending) => this.#await(ending));
  }

  /** Adds to what is known of a call, if it has a record. */
  annotate(callId: string, metadata: JsonObject): void {
    const write = this.#around.calls.annotate(callId, metadata).catch((error: unknown) => {
      this.#around.log.error({ callId, error }, "a call could not be annotated");
    });
    this.#await(write);
  }

  /** Resolves when the end of every call that has ended is stored, and its summary is asked for. */
  async stored(): Promise<void> {
    while (this.#endings.size > 0) await Promise.all(this.#endings);
  }

  #await(ending: Promise<void>): void {
    this.#endings.add(ending);
    void ending.finally(() => this.#endings.delete(ending));
  }
}

/** One call being written down. Its writes are not waited for; one that fails is logged and the call goes on. */
export class CallEntry implements CallRecorder {
  readonly #around: JournalSurroundings;
  readonly #start: CallStart;
  readonly #startedAtMs: number;
  readonly #onEnding: (ending: Promise<void>) => void;
  #llm: AgentLlm | undefined;
  #heardMs: () => number = () => 0;
  #deafMs = 0;
  #isEnded = false;

  /** `onEnding` is given the write of the call's end; it never rejects. */
  constructor(
    around: JournalSurroundings,
    start: CallStart,
    startedAtMs: number,
    onEnding: (ending: Promise<void>) => void,
  ) {
    this.#around = around;
    this.#start = start;
    this.#startedAtMs = startedAtMs;
    this.#onEnding = onEnding;
  }

  /** Who writes the summary later, and how much audio the recognizer was given. */
  attach(llm: AgentLlm, heardMs: () => number): void {
    this.#llm = llm;
    this.#heardMs = heardMs;
  }

  turnSaved(save: TurnSave): void {
    const { calls, metrics, clock } = this.#around;
    if (save.report !== undefined) metrics.turnEnded(save.report);
    const write = calls.saveTurn(this.#start.callId, {
      messages: this.#messages(save),
      metrics: save.metrics,
      turn: save.report === undefined ? undefined : { ...save.report },
      ...this.#history(save.history),
      atMs: clock.epochMs(),
    });
    void this.#watch(write, "a turn could not be stored");
  }

  vendorFailed(category: "llm" | "tts" | "stt", error: VendorError): void {
    this.#around.metrics.vendorFailed(category, error);
    const { vendor, fault, status, requestId } = error;
    const fields = { callId: this.#start.callId, category, vendor, fault, status, requestId };
    this.#around.log.warn({ ...fields, reason: error.message }, "vendor request failed");
  }

  wasDeaf(durationMs: number): void {
    this.#deafMs += durationMs;
    this.#around.metrics.listenerWasDeaf(durationMs);
  }

  /** The first ending counts: a call that breaks while it is being ended is not ended twice. */
  ended(ending: Ending, save: TurnSave): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const write = this.#finish(ending, save);
    this.#onEnding(this.#watch(write, "the end of a call could not be stored"));
  }

  async #finish(ending: Ending, save: TurnSave): Promise<void> {
    const { calls, metrics, clock, log } = this.#around;
    const { callId, channel, orgId } = this.#start;
    const endedAtMs = Math.max(clock.epochMs(), this.#startedAtMs);
    const durationSec = Math.round((endedAtMs - this.#startedAtMs) / 100) / 10;
    metrics.callEnded(channel, ending);
    log.info(
      { callId, orgId, channel, reason: ending.reason, durationSec, ...save.metrics },
      "call ended",
    );
    await calls.finish(callId, {
      status: ending.status,
      endedAtMs,
      durationSec,
      metrics: save.metrics,
      metadata: { endReason: ending.reason, endMessage: ending.message, ...this.#deafness() },
      messages: this.#messages(save),
      usage: this.#usage(save, endedAtMs, durationSec),
      ...this.#history(save.history),
    });
    if (this.#llm !== undefined) this.#around.summaries.add({ orgId, callId, llm: this.#llm });
  }

  #messages(save: TurnSave): TranscriptMessage[] {
    return save.messages.map(({ role, text, atMs }) => ({
      role,
      text,
      timestamp: Math.round(this.#startedAtMs + atMs),
    }));
  }

  /** A call that failed before its first word does not wipe out the conversation that it was to continue. */
  #history(messages: readonly HistoryMessage[]) {
    if (messages.length === 0) return {};
    const { orgId, historyKey } = this.#start;
    return { history: { orgId, key: historyKey, messages: [...messages] } };
  }

  #usage(save: TurnSave, endedAtMs: number, durationSec: number): UsageRecord {
    return {
      orgId: this.#start.orgId,
      date: new Date(endedAtMs).toISOString().slice(0, 10),
      calls: 1,
      minutes: durationSec / 60,
      ttsChars: save.metrics.ttsChars,
      llmTokens: save.metrics.totalTokens,
      sttSeconds: this.#heardMs() / 1_000,
    };
  }

  #deafness(): { deafMs?: number } {
    return this.#deafMs === 0 ? {} : { deafMs: Math.round(this.#deafMs) };
  }

  async #watch(write: Promise<unknown>, message: string): Promise<void> {
    try {
      await write;
    } catch (error) {
      this.#around.log.error({ callId: this.#start.callId, error }, message);
    }
  }
}

function newCall(start: CallStart, atMs: number): CallRecord {
  const { callId, orgId, agentId, sessionId, channel } = start;
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
    transcript: [],
    metadata: {},
    createdAtMs: atMs,
  };
}
