import type { CallEnd } from "../../storage/calls/call-store.js";
import { isRetryable } from "../../storage/statements/storage-error.js";
import type { TurnSave } from "../conversation/effects.js";
import type { TurnKnowledge } from "../knowledge/call-knowledge.js";
import type { Logger } from "../log.js";
import type { CancelTimer, Clock } from "../time/clock.js";
import type { TurnTools } from "../tools/tool-log.js";

/**
 * One part of a write that is tried again as a whole: what has succeeded is not done a second time. On PostgreSQL, parts that
 * are asked for at once can have different fates.
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

/** What cannot be kept for ever: the words. */
export function charsOf({ messages, added, report }: TurnSave): number {
  const unheard = report?.unheard?.length ?? 0;
  const said = messages.reduce((sum, { text }) => sum + text.length, unheard);
  return added.reduce((sum, { content }) => sum + content.length, said);
}

/** As `charsOf`: what was looked up. */
export function charsOfPassages({ passages = [] }: TurnKnowledge): number {
  return passages.reduce((sum, { text }) => sum + text.length, 0);
}

/** As `charsOf`: what tools were given, and what they answered. */
export function charsOfTools({ tools = [] }: TurnTools): number {
  return tools.reduce((sum, { input, output = "" }) => sum + input.length + output.length, 0);
}

/** The facts of an end are stored even where its words had to be given up; the record says what it lacks. */
export function afterLosses(callEnd: CallEnd, lostTurns: number, withWords: boolean): CallEnd {
  const { messages, ...facts } = callEnd;
  const lost = lostTurns + (withWords || messages.length === 0 ? 0 : 1);
  const metadata = lost === 0 ? facts.metadata : { ...facts.metadata, lostTurns: lost };
  return { ...facts, messages: withWords ? messages : [], metadata };
}

/** Turns and notes that are kept while the store takes nothing: an hour of a full server. */
export const KEPT_WRITES_MAX = 20_000;
/** What they may hold together, in characters of what was said. */
export const KEPT_CHARS_MAX = 32 * 1024 * 1024;
/** Ends are few, since no call begins while something is kept; they lose their words before they are given up. */
export const KEPT_ENDS_MAX = 20_000;
/** How long after a failed write the next is tried. */
const RETRY_MS = 1_000;

/** One write of a call's record. */
export interface CallWrite {
  readonly callId: string;
  readonly kind: "turn" | "note" | "end";
  /** What was said in it, as a measure of what it costs to keep. */
  readonly chars: number;
  /**
   * Stores it. `lostTurns`: how many of the call's turns were given up before it; `withWords` is false for an end that was
   * kept beyond the limit, of which only the facts are left.
   */
  store(lostTurns: number, withWords: boolean): Promise<unknown>;
  /** What the log says when it is given up. */
  readonly lossMessage: string;
}

interface QueuedWrite {
  readonly write: CallWrite;
  readonly withWords: boolean;
  readonly settle: () => void;
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
 * Sees to it that what is written of calls is stored. What the store cannot take now (a full disk, a lock, a file that is
 * gone) is kept and tried again until it is; what it refuses for the write's own sake is logged and given up.
 */
export class CallWrites {
  readonly #options: Required<CallWritesOptions>;
  readonly #lines = new Map<string, Line>();
  readonly #unsettled = new Set<Promise<void>>();
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

  /** Writes that the store has refused, with all that came after them; 0 while it takes what it is given. */
  get keptCount(): number {
    return this.#stalledAtMs === undefined ? 0 : this.#waitingCount;
  }

  /** Whether something of this call is still to be stored. */
  has(callId: string): boolean {
    return (this.#lines.get(callId)?.writes.length ?? 0) > 0;
  }

  /** Resolves when it is stored or given up; never rejects. The first of a call is asked for at once. */
  add(write: CallWrite): Promise<void> {
    const line = this.#lines.get(write.callId) ?? { writes: [], lostTurns: 0, isMoving: false };
    const withWords = this.#hasRoom(write);
    if (!withWords && (write.kind !== "end" || this.#waitingEnds >= this.#options.keptEndsMax)) {
      this.#lose(line, write, "write queue full");
      return Promise.resolve();
    }
    const stored = new Promise<void>((resolve) => {
      line.writes.push({ write, withWords, settle: resolve });
    });
    this.#count(write, withWords, 1);
    this.#lines.set(write.callId, line);
    this.#unsettled.add(stored);
    void stored.then(() => this.#unsettled.delete(stored));
    if (this.#stalledAtMs === undefined) void this.#move(line);
    return stored;
  }

  /** Resolves when nothing waits. */
  async settled(): Promise<void> {
    while (this.#unsettled.size > 0) await Promise.all(this.#unsettled);
  }

  /** The server stops: what has not been stored by now is not, and is said. */
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

  /** Until the line is empty, or the store refuses: then the line stands still, and this is false. */
  async #move(line: Line): Promise<boolean> {
    if (line.isMoving) return true;
    line.isMoving = true;
    try {
      for (let [next] = line.writes; next !== undefined; [next] = line.writes) {
        if (!(await this.#try(line, next))) return false;
        line.writes.shift();
        this.#count(next.write, next.withWords, -1);
        this.#forgetIfOver(line, next.write);
        next.settle();
      }
      return true;
    } finally {
      line.isMoving = false;
    }
  }

  /** How many turns a call has lost is known until its end. */
  #forgetIfOver({ writes, lostTurns }: Line, { callId, kind }: CallWrite): void {
    if (writes.length === 0 && (lostTurns === 0 || kind === "end")) this.#lines.delete(callId);
  }

  /** False when it is to be tried again. */
  async #try(line: Line, { write, withWords }: QueuedWrite): Promise<boolean> {
    try {
      await write.store(line.lostTurns, withWords);
      return true;
    } catch (error) {
      if (isRetryable(error) && !this.#isGivingUp) {
        this.#stall(error);
        return false;
      }
      this.#options.log.error({ callId: write.callId, error }, write.lossMessage);
      if (write.kind === "turn") line.lostTurns += 1;
      return true;
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

  /** One line first: a store that still refuses is not asked a thousand times. */
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
    // Not only those that waited before: what came while the first was stored has moved nothing.
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
