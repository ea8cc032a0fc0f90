import type { CallEvent, PresentCall, TranscriptWords } from "../../../engine/calls/call-events.js";
import type { EventFilter } from "../../../engine/calls/event-filters.js";
import type { CallEnd, SavedTurn } from "../../../storage/calls/call-store.js";
import type { HistoryChange, HistoryKey } from "../../../storage/calls/history-store.js";
import type { HistoryMessage, JsonObject } from "../../../storage/records.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { NOON_MS } from "../../storage/sample-records.js";

/** A journal's dependencies, in memory: every request is listed in order, and a test decides which one fails. */
export class WrittenCalls {
  readonly clock = new VirtualClock(NOON_MS);
  readonly log = new RecordingLogger();
  readonly runId = "run";
  /** Each request of the store, in its order. */
  readonly asked: (readonly [what: string, ...given: readonly unknown[]])[] = [];
  readonly turns: SavedTurn[] = [];
  readonly ends: CallEnd[] = [];
  readonly measured: (readonly [what: string, given: unknown])[] = [];
  readonly told: CallEvent[] = [];
  /** What each call that is in progress would tell a new watcher. */
  readonly present = new Map<string, () => readonly TranscriptWords[]>();
  /** Called with each request; throws instead of the store. */
  fault: (what: string) => void = () => undefined;
  /** Whether a conversation's change is accepted, which it is not if another call was first. */
  isReplaced = true;

  readonly calls = {
    start: (...given: readonly unknown[]) => this.#ask("start", given),
    saveTurn: async (callId: string, turn: SavedTurn, history?: HistoryChange) => {
      await this.#ask("saveTurn", [callId, turn, history]);
      this.turns.push(turn);
      return history === undefined || this.isReplaced;
    },
    finish: async (callId: string, end: CallEnd) => {
      await this.#ask("finish", [callId, end]);
      this.ends.push(end);
      return true;
    },
    annotate: (callId: string, metadata: JsonObject) => this.#ask("annotate", [callId, metadata]),
    annotateIf: async (callId: string, _isMet: unknown, metadata: JsonObject) => {
      await this.#ask("annotate", [callId, metadata]);
      return true;
    },
    placeOnce: async (...given: readonly unknown[]) => {
      await this.#ask("placeOnce", given);
    },
    place: async (...given: readonly unknown[]) => {
      await this.#ask("place", given);
      return true;
    },
    failPlaced: (...given: readonly unknown[]) => this.#ask("notPlaced", given),
    ring: (...given: readonly unknown[]) => this.#ask("ring", given),
    refuse: (...given: readonly unknown[]) => this.#ask("refuse", given),
    findById: async (...given: readonly unknown[]) => {
      await this.#ask("findById", given);
      return undefined;
    },
  };
  readonly history = {
    load: async (..._given: readonly unknown[]) => [],
    replace: async (
      id: HistoryKey,
      known: readonly HistoryMessage[],
      kept: readonly HistoryMessage[],
      savedAtMs: number,
    ) => {
      await this.#ask("replace", [id, known, kept, savedAtMs]);
      return this.isReplaced;
    },
    loadSummary: async (..._given: readonly unknown[]) => undefined,
    saveSummary: (...given: readonly unknown[]) => this.#ask("saveSummary", given),
  };
  readonly metrics = {
    turnEnded: (given: unknown) => void this.measured.push(["turnEnded", given]),
    hedged: (given: unknown) => void this.measured.push(["hedged", given]),
    bargedIn: (given: unknown) => void this.measured.push(["bargedIn", given]),
    callerTurnEnded: (given: unknown) => void this.measured.push(["callerTurnEnded", given]),
    listenerWasDeaf: (given: unknown) => void this.measured.push(["listenerWasDeaf", given]),
    vendorFailed: (...given: readonly unknown[]) => void this.measured.push(["failed", given]),
    callEnded: (...given: readonly unknown[]) => void this.measured.push(["callEnded", given]),
  };
  /** Which events an endpoint wants. */
  isWanted: EventFilter = () => true;
  readonly eventFilters = { of: async (_orgId: string) => this.isWanted };
  readonly backgroundLlm = {
    answer: async (..._given: readonly unknown[]) => undefined,
  };
  readonly feed = {
    publish: (_orgId: string, news: CallEvent) => void this.told.push(news),
    callBegins: (_orgId: string, callId: string, now: () => PresentCall) =>
      void this.present.set(callId, () => now().words),
    callIsOver: (_orgId: string, callId: string) => void this.present.delete(callId),
  };

  /** The names of the requests, without their arguments. */
  get steps(): readonly string[] {
    return this.asked.map(([what]) => what);
  }

  async #ask(what: string, given: readonly unknown[]): Promise<void> {
    this.asked.push([what, ...given]);
    this.fault(what);
  }
}
