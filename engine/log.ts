import { write, writeSync } from "node:fs";
import { pino } from "pino";
import { ValiError } from "valibot";
import { type Clock, SystemClock } from "./time/clock.js";

/** What is kept while the reader of the log is slow: some 4,000 lines. */
const WAITING_BYTES_MAX = 1_048_576;
/** A pipe takes a piece of this size whole or not at all, so that no exit leaves half a line. */
const PIECE_BYTES_MAX = 4_096;
const RETRY_MS = 100;
/** At the end of the process a reader that does not read is waited for so often. */
const FINAL_WRITES_MAX = 10;
/** At the end of the process: several times what a thread needs for a piece that is read. */
const THREAD_MS = 50;

/**
 * Lines to a file descriptor, in order, never at the cost of those who log: a reader that is gone, a full disk and a slow
 * reader lose lines, and the first line that gets through again says how many.
 */
export class LogLines {
  readonly #fd: number;
  readonly #lossLine: (lostLines: number, reason: string) => string;
  readonly #clock: Clock;
  #waiting: string[] = [];
  #waitingBytes = 0;
  /** What the system is being asked to write, from the first byte that it has not taken yet. */
  #writing: Buffer | undefined;
  #isWriting = false;
  #lostLines = 0;
  #lossReason = "";
  #isReaderClosed = false;

  /**
   * `lossLine` creates the line, with its end, that reports dropped lines. Pending lines are written when the process
   * exits.
   */
  constructor(fd: number, lossLine: (lostLines: number, reason: string) => string, clock: Clock) {
    this.#fd = fd;
    this.#lossLine = lossLine;
    this.#clock = clock;
    process.once("exit", () => this.#writeLast());
  }

  /** `line` has its end. */
  write(line: string): void {
    if (this.#isReaderClosed) return;
    const hasRoom = this.#waitingBytes + line.length <= WAITING_BYTES_MAX;
    if (!hasRoom) return this.#lose(1, "the reader is slow");
    this.#add(line);
    if (this.#writing === undefined) this.#next();
  }

  #add(line: string): void {
    this.#waiting.push(line);
    this.#waitingBytes += line.length;
  }

  #next(): void {
    this.#writing = this.#nextBatch();
    if (this.#writing !== undefined) this.#write(this.#writing);
  }

  /** The lines that come next, as one piece; undefined when none wait. */
  #nextBatch(): Buffer | undefined {
    if (this.#waiting.length === 0) return undefined;
    let count = 0;
    let sizeBytes = 0;
    for (const line of this.#waiting) {
      if (count > 0 && sizeBytes + Buffer.byteLength(line) > PIECE_BYTES_MAX) break;
      count += 1;
      sizeBytes += Buffer.byteLength(line);
    }
    const lines = this.#waiting.splice(0, count);
    for (const line of lines) this.#waitingBytes -= line.length;
    return Buffer.from(lines.join(""));
  }

  #write(bytes: Buffer): void {
    this.#isWriting = true;
    write(this.#fd, bytes, (error, count) => {
      this.#isWriting = false;
      if (error !== null) return this.#failed(error, bytes);
      const rest = bytes.subarray(count);
      if (rest.length === 0) return this.#wentThrough();
      this.#writing = rest;
      this.#write(rest);
    });
  }

  #wentThrough(): void {
    this.#addLoss();
    this.#next();
  }

  #addLoss(): void {
    if (this.#lostLines > 0) this.#add(this.#lossLine(this.#lostLines, this.#lossReason));
    this.#lostLines = 0;
  }

  #failed(error: NodeJS.ErrnoException, bytes: Buffer): void {
    if (isBusy(error)) {
      const cancel = this.#clock.every(RETRY_MS, () => {
        cancel();
        this.#write(bytes);
      });
      return;
    }
    this.#abandon(error, bytes);
    this.#next();
  }

  /** The reader has gone, or there is no space for the lines. */
  #abandon(error: NodeJS.ErrnoException, bytes: Buffer): void {
    if (error.code === "EPIPE") {
      this.#isReaderClosed = true;
      this.#waiting = [];
      return;
    }
    this.#lose(linesIn(bytes), error.message);
  }

  #lose(lines: number, reason: string): void {
    this.#lostLines += lines;
    this.#lossReason = reason;
  }

  #writeLast(): void {
    // Requested writes finish before the process ends, because its threads are awaited: the next write lets them go
    // first.
    if (this.#isWriting) blockThread(THREAD_MS);
    // Nobody is left to hear that it went through.
    this.#addLoss();
    let bytes = (this.#isWriting ? undefined : this.#writing) ?? this.#nextBatch();
    for (let tries = 0; bytes !== undefined && tries < FINAL_WRITES_MAX; ) {
      try {
        bytes = bytes.subarray(writeSync(this.#fd, bytes));
        if (bytes.length === 0) bytes = this.#nextBatch();
      } catch (error) {
        if (!(error instanceof Error) || !isBusy(error)) return;
        tries += 1;
        blockThread(RETRY_MS);
      }
    }
  }
}

/** For the end of the process alone, where no timer comes any more. */
function blockThread(durationMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs);
}

function isBusy(error: NodeJS.ErrnoException): boolean {
  return error.code === "EAGAIN" || error.code === "EBUSY";
}

function linesIn(bytes: Buffer): number {
  let lines = 0;
  for (const byte of bytes) if (byte === 0x0a) lines += 1;
  return lines;
}

const STANDARD_OUTPUT = 1;

/** Causes of an error that a log line tells. */
const CAUSES_MAX = 5;
/**
 * An error's fields in a log line beside its name, message and stack. Other fields may hold received data: a body, a
 * row.
 */
const ERROR_FIELDS = [
  "code",
  "databaseCode",
  "vendorCode",
  "errno",
  "syscall",
  "address",
  "port",
  "hostname",
  "severity",
  "table",
  "constraint",
  "vendor",
  "fault",
  "kind",
  "limit",
  "status",
  "statusCode",
  "requestId",
  "retryAfterMs",
] as const;

/** Values that a log line carries beside its message: ids, counts, durations; never keys, bodies or what was said. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Where structured log lines go. An error stands under `error`, so that one serializer can shape all of them. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/** JSON lines on standard output; `every` line has these fields. */
export function newLogger(level: LogLevel, every: LogFields | null = null): Logger {
  const options = {
    level,
    base: every,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { error: loggedError },
  };
  return pino(options, new LogLines(STANDARD_OUTPUT, lossLine, new SystemClock()));
}

/** An error in the form of a log line, without quotes of data that could not be parsed. */
export function loggedError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  const fields = new Map(Object.entries(error));
  const told = ERROR_FIELDS.flatMap((name) => {
    const value: unknown = fields.get(name);
    return typeof value === "string" || typeof value === "number" ? [[name, value] as const] : [];
  });
  const cause =
    error.cause === undefined || depth >= CAUSES_MAX
      ? {}
      : { cause: loggedError(error.cause, depth + 1) };
  const several =
    error instanceof AggregateError && depth < CAUSES_MAX
      ? { errors: error.errors.slice(0, CAUSES_MAX).map((each) => loggedError(each, depth + 1)) }
      : {};
  const message = isQuoting(error) ? "data does not have the expected form" : error.message;
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  const stack = [`${error.name}: ${message}`, ...frames].join("\n");
  return { type: error.name, message, stack, ...Object.fromEntries(told), ...cause, ...several };
}

/** The messages of JSON.parse and of schemas hold pieces of what they were given. */
function isQuoting(error: Error): boolean {
  return error instanceof ValiError || (error instanceof SyntaxError && /JSON/.test(error.message));
}

function lossLine(lostLines: number, reason: string): string {
  const words = JSON.stringify({ lostLines, reason, msg: "log lines were dropped" });
  return `{"level":"warn"${pino.stdTimeFunctions.isoTime()},${words.slice(1)}\n`;
}
