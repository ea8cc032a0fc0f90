import type { CallEnd } from "../../storage/calls/call-store.js";
import { isRetryable } from "../../storage/statements/storage-error.js";
import type { TurnSave } from "../conversation/effects.js";
import type { TurnKnowledge } from "../knowledge/call-knowledge.js";
import type { Logger } from "../log.js";
import type { CancelTimer, Clock } from "../time/clock.js";
import type { TurnTools } from "../tools/tool-log.js";

/**
 * One part of a write that is retried as a whole: completed parts are not repeated. On PostgreSQL, concurrent
 * parts can have different outcomes.
 */
export function untilDone<Given extends readonly unknown[]>(
  work: (...given: Given) => Promise<void>,
): (...given: Given) => Promise<void> {
  let isDone = false;
  return async (...given) => {
    if (isDone) return;
    await work(...given);
    isDone = true;
  };
}

/** The size of what cannot be kept forever: the words. */
export function charsOf({ messages, added, report }: TurnSave): number {
  const unheard = report?.unheard?.length ?? 0;
  const said = messages.reduce((sum, { text }) => sum + text.length, unheard);
  return added.reduce((sum, { content }) => sum + content.length, said);
}

/** As `charsOf`, for the retrieved passages. */
export function charsOfPassages({ passages = [] }: TurnKnowledge): number {
  return passages.reduce((sum, { text }) => sum + text.length, 0);
}

/** As `charsOf`, for the arguments and results of tools. */
export function charsOfTools({ tools = [] }: TurnTools): number {
  return tools.reduce((sum, { input, output = "" }) => sum + input.length + output.length, 0);
}

/** The facts of an end are stored even if its words had to be dropped; the record says what it lacks. */
export function afterLosses(callEnd: CallEnd, lostTurns: number, withWords: boolean): CallEnd {
  const { messages, ...facts } = callEnd;
  const lost = lostTurns + (withWords || messages.length === 0 ? 0 : 1);
  const metadata = lost === 0 ? facts.metadata : { ...facts.metadata, lostTurns: lost };
  return { ...facts, messages: withWords ? messages : [], metadata };
}

/** Turns and notes that are kept while the store accepts nothing: an hour of a full server. */
export const KEPT_WRITES_MAX = 20_000;
/** Their maximum total, in characters of what was said. */
export const KEPT_CHARS_MAX = 32 * 1024 * 1024;
/** Ends are few, since no call begins while writes are kept; they lose their words before they are dropped. */
export const KEPT_ENDS_MAX = 20_000;
/** The delay after a failed write. */
const RETRY_MS = 1_000;

/** One write of a call's record. */
export interface CallWrite {
  readonly callId: string;
  readonly kind: "turn" | "note" | "end";
  /** The length of its words, as a measure of its memory. */
  readonly chars: number;
  /**
   * Stores it. `lostTurns`: how many of the call's turns were dropped before it; `withWords` is false for an end
   * beyond the limit, of which only the facts are left.
   */
  store(lostTurns: number, withWords: boolean): Promise<unknown>;
  /** The log message when it is dropped. */
  readonly lossMessage: string;
}

interface QueuedWrite {
  readonly write: CallWrite;
  readonly withWords: boolean;
  readonly settle: (isStored: boolean) => void;
}

/** The writes of one call, one after the other: a turn must not be stored before the one before it. */
interface Line {
  readonly writes: QueuedWrite[];
  lostTurns: number;
  isMoving: boolean;
}

export interface CallWritesOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly keptWritesMax?: number;
  readonly keptCharsMax?: number;
  readonly keptEndsMax?: number;
}

/**
 * Makes sure that the writes of calls are stored. A write that the store cannot accept now (a full disk, a lock, a
 * missing file) is kept and retried; a write that is refused for its own content is logged and dropped.
 */
export class CallWrites {
  readonly #options: Required<CallWritesOptions>;
  readonly #lines = new Map<string, Line>();
  readonly #unsettled = new Set<Promise<boolean>>();
  #waitingCount = 0;
  #waitingChars = 0;
  #waitingEnds = 0;
  #stalledAtMs: number | undefined;
  #cancelRetry: CancelTimer | undefined;
  #isGivingUp = false;

  constructor(options: CallWritesOptions) {
    this.#options = {
      keptWritesMax: KEPT_WRITES_MAX,
      keptCharsMax: KEPT_CHARS_MAX,
      keptEndsMax: KEPT_ENDS_MAX,
      ...options,
    };
  }

  /** Writes that the store has refused, with all that followed them; 0 while it accepts writes. */
  get keptCount(): number {
    return this.#stalledAtMs === undefined ? 0 : this.#waitingCount;
  }

  /** Whether a write of this call is pending. */
  has(callId: string): boolean {
    return (this.#lines.get(callId)?.writes.length ?? 0) > 0;
  }

  /** Resolves when it is stored, or dropped, which is false; never rejects. The first of a call is sent immediately. */
  add(write: CallWrite): Promise<boolean> {
    const line = this.#lines.get(write.callId) ?? { writes: [], lostTurns: 0, isMoving: false };
    const withWords = this.#hasRoom(write);
    if (!withWords && (write.kind !== "end" || this.#waitingEnds >= this.#options.keptEndsMax)) {
      this.#lose(line, write, "write queue full");
      return Promise.resolve(false);
    }
    const stored = new Promise<boolean>((resolve) => {
      line.writes.push({ write, withWords, settle: resolve });
    });
    this.#count(write, withWords, 1);
    this.#lines.set(write.callId, line);
    this.#unsettled.add(stored);
    void stored.then(() => this.#unsettled.delete(stored));
    if (this.#stalledAtMs === undefined) void this.#move(line);
    return stored;
  }

  /** Resolves when no write is pending. */
  async settled(): Promise<void> {
    while (this.#unsettled.size > 0) await Promise.all(this.#unsettled);
  }

  /** The server stops: pending writes are lost, and logged. */
  dropAll(): void {
    this.#isGivingUp = true;
    this.#cancelRetry?.();
    const count = this.#waitingCount;
    if (count === 0) return;
    const calls = this.#lines.size;
    this.#options.log.error(
      { count, calls },
      "the server stops with turns and ends of calls that could not be stored; the next start closes these calls as failed",
    );
  }

  #hasRoom({ chars }: CallWrite): boolean {
    const { keptWritesMax, keptCharsMax } = this.#options;
    const isFull = this.#waitingCount >= keptWritesMax || this.#waitingChars + chars > keptCharsMax;
    return !isFull;
  }

  #count({ kind, chars }: CallWrite, withWords: boolean, sign: 1 | -1): void {
    this.#waitingCount += sign;
    if (withWords) this.#waitingChars += sign * chars;
    if (kind === "end") this.#waitingEnds += sign;
  }

  /** Runs until the queue is empty, or the store refuses: then the queue waits, and the result is false. */
  async #move(line: Line): Promise<boolean> {
    if (line.isMoving) return true;
    line.isMoving = true;
    try {
      for (let [next] = line.writes; next !== undefined; [next] = line.writes) {
        const outcome = await this.#try(line, next);
        if (outcome === "refused") return false;
        line.writes.shift();
        this.#count(next.write, next.withWords, -1);
        this.#forgetIfOver(line, next.write);
        next.settle(outcome === "stored");
      }
      return true;
    } finally {
      line.isMoving = false;
    }
  }

  /** The number of a call's lost turns is kept until its end. */
  #forgetIfOver({ writes, lostTurns }: Line, { callId, kind }: CallWrite): void {
    if (writes.length === 0 && (lostTurns === 0 || kind === "end")) this.#lines.delete(callId);
  }

  /** A write that the store refuses has to be retried. */
  async #try(
    line: Line,
    { write, withWords }: QueuedWrite,
  ): Promise<"stored" | "refused" | "dropped"> {
    try {
      await write.store(line.lostTurns, withWords);
      return "stored";
    } catch (error) {
      if (isRetryable(error) && !this.#isGivingUp) {
        this.#stall(error);
        return "refused";
      }
      this.#options.log.error({ callId: write.callId, error }, write.lossMessage);
      if (write.kind === "turn") line.lostTurns += 1;
      return "dropped";
    }
  }

  #stall(error: unknown): void {
    const { clock, log } = this.#options;
    if (this.#stalledAtMs === undefined) {
      this.#stalledAtMs = clock.monotonicMs();
      log.error({ error }, "call writes failed; queued for retry");
    }
    this.#retryLater();
  }

  #retryLater(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = this.#options.clock.after(RETRY_MS, () => void this.#retry());
  }

  /** One queue first: a store that still refuses is not tried a thousand times. */
  async #retry(): Promise<void> {
    const waiting = [...this.#lines.values()].filter(({ writes }) => writes.length > 0);
    const still = waiting.find(({ isMoving }) => !isMoving);
    if (still === undefined && waiting.length > 0) return this.#retryLater();
    if (still !== undefined && !(await this.#move(still))) return;
    const { clock, log } = this.#options;
    const sinceMs = this.#stalledAtMs ?? clock.monotonicMs();
    const count = this.#waitingCount;
    this.#stalledAtMs = undefined;
    const afterMs = Math.round(clock.monotonicMs() - sinceMs);
    log.info({ count, afterMs }, "call writes resumed");
    // All queues, not only those that waited before: writes that arrived during the first one have not started.
    for (const line of this.#lines.values()) void this.#move(line);
  }

  #lose(line: Line, write: CallWrite, reason: string): void {
    const { callId, kind, lossMessage } = write;
    if (kind === "turn") line.lostTurns += 1;
    this.#lines.set(callId, line);
    this.#forgetIfOver(line, write);
    this.#options.log.error({ callId, reason }, lossMessage);
  }
}
