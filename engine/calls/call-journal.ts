import type { CallStore } from "../../storage/calls/call-store.js";
import type { JsonObject } from "../../storage/records.js";
import { UniqueViolation } from "../../storage/statements/unique-violation.js";
import type { Ending } from "../conversation/call-end.js";
import type { Logger } from "../log.js";
import type { Metrics } from "../metrics/metrics.js";
import type { Clock } from "../time/clock.js";
import type { CallFeed } from "./call-feed.js";
import type { CallSummaries } from "./call-summaries.js";
import type { SummaryAccess } from "./earlier-messages.js";
import { CallEntry, type Moment } from "./opening/call-entry.js";
import { type CallStart, newCall } from "./opening/call-start.js";
import type { HistoryAccess } from "./shared-history.js";
import { CallWrites } from "./unstored/call-writes.js";

export interface JournalSurroundings {
  readonly calls: Pick<CallStore, "start" | "findById" | "saveTurn" | "annotate" | "finish">;
  readonly history: HistoryAccess & SummaryAccess;
  readonly summaries: Pick<CallSummaries, "add" | "answer">;
  readonly metrics: Pick<
    Metrics,
    "turnEnded" | "hedged" | "vendorFailed" | "listenerWasDeaf" | "callEnded"
  >;
  readonly feed: Pick<CallFeed, "tell" | "callBegins" | "callIsOver">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Tells this process' calls from those that an earlier one left behind. */
  readonly runId: string;
}

/**
 * Writes calls down as they go: at the start, after each turn and at the end, so that a crash loses one turn at most. What
 * cannot be stored is kept until it can.
 */
export class CallJournal {
  readonly #around: JournalSurroundings;
  readonly #writes: CallWrites;

  constructor(around: JournalSurroundings) {
    this.#around = around;
    this.#writes = new CallWrites(around);
  }

  /** Turns, notes and ends that the store refuses for now. */
  get keptCount(): number {
    return this.#writes.keptCount;
  }

  /** Whether something of this call is still to be stored. */
  isStoring(callId: string): boolean {
    return this.#writes.has(callId);
  }

  /** Resolves when the call is stored as `active`; rejects when it cannot be. */
  async begin(start: CallStart): Promise<CallEntry> {
    const began = this.#now();
    const { feed } = this.#around;
    await this.#store(start, began);
    const { callId, orgId, agentId, channel } = start;
    feed.tell(orgId, { type: "began", callId, agentId, channel, startedAtMs: began.atMs });
    return new CallEntry(this.#around, this.#writes, start, began);
  }

  /** A call that was over before it began; nothing, when it has its record already. */
  recordFailed(start: CallStart, ending: Ending): void {
    const began = this.#now();
    const { calls, runId } = this.#around;
    let isBegun = false;
    const begin = async () => {
      // An end that could not be stored is tried again, but its call is begun once.
      if (isBegun) return true;
      if ((await calls.findById(start.orgId, start.callId)) !== undefined) return false;
      await calls.start(newCall(start, began.atMs), runId, began.monotonicMs);
      isBegun = true;
      return true;
    };
    const entry = new CallEntry(this.#around, this.#writes, start, began);
    entry.endedBeforeItBegan({ ...ending, status: "failed" }, begin);
  }

  /** The records of a call, and of the one that broke before it, name each other. */
  link(callId: string, before: string): void {
    this.annotate(before, { continuedBy: callId });
    this.annotate(callId, { continues: before });
  }

  /** Adds to what is known of a call, if it has a record. */
  annotate(callId: string, metadata: JsonObject): void {
    void this.#writes.add({
      callId,
      kind: "note",
      chars: JSON.stringify(metadata).length,
      store: () => this.#around.calls.annotate(callId, metadata),
      lossMessage: "a call could not be annotated",
    });
  }

  /** Resolves when the end of every call that has ended is stored, and its summary is asked for. */
  stored(): Promise<void> {
    return this.#writes.settled();
  }

  /** The server stops: what is still kept is lost, and said. */
  close(): void {
    this.#writes.giveUp();
  }

  /** Two clients may come back to one conversation in the same moment. */
  async #store(start: CallStart, began: Moment): Promise<void> {
    const { calls, runId } = this.#around;
    const { spareSessionId: sessionId } = start;
    const write = (each: CallStart) =>
      calls.start(newCall(each, began.atMs), runId, began.monotonicMs);
    try {
      await write(start);
    } catch (error) {
      if (!(error instanceof UniqueViolation) || sessionId === undefined) throw error;
      await write({ ...start, sessionId });
    }
  }

  #now(): Moment {
    const { clock } = this.#around;
    return { atMs: clock.epochMs(), monotonicMs: clock.monotonicMs() };
  }
}
