import { write, writeSync } from "node:fs";

/** What is kept while the reader of the log is slow: some 4,000 lines. */
const WAITING_BYTES_MAX = 1_048_576;
const RETRY_MS = 100;
/** At the end of the process a reader that does not read is waited for so often. */
const LAST_TRIES_MAX = 10;

/**
 * Lines to a file descriptor, in order, never at the cost of those who log: a reader that is gone, a full disk and a slow
 * reader lose lines, and the first line that gets through again says how many.
 */
export class LogLines {
  readonly #fd: number;
  readonly #lossLine: (lostLines: number, reason: string) => string;
  #waiting: string[] = [];
  #waitingBytes = 0;
  /** What the system is being asked to write, from the first byte that it has not taken yet. */
  #writing: Buffer | undefined;
  #isAsked = false;
  #lostLines = 0;
  #lossReason = "";
  #isReaderGone = false;

  /** `lossLine` makes the line, with its end, that tells of lines that were lost. What is left is written when the process exits. */
  constructor(fd: number, lossLine: (lostLines: number, reason: string) => string) {
    this.#fd = fd;
    this.#lossLine = lossLine;
    process.once("exit", () => this.#writeLast());
  }

  /** `line` has its end. */
  write(line: string): void {
    if (this.#isReaderGone) return;
    if (this.#waitingBytes + line.length > WAITING_BYTES_MAX)
      return this.#lose(1, "the reader is slow");
    this.#waiting.push(line);
    this.#waitingBytes += line.length;
    if (this.#writing === undefined) this.#next();
  }

  #next(): void {
    this.#writing = this.#taken();
    if (this.#writing !== undefined) this.#ask(this.#writing);
  }

  /** All that waits, as one piece; undefined when nothing does. */
  #taken(): Buffer | undefined {
    if (this.#waiting.length === 0) return undefined;
    if (this.#lostLines > 0)
      this.#waiting.unshift(this.#lossLine(this.#lostLines, this.#lossReason));
    this.#lostLines = 0;
    const bytes = Buffer.from(this.#waiting.join(""));
    this.#waiting = [];
    this.#waitingBytes = 0;
    return bytes;
  }

  #ask(bytes: Buffer): void {
    this.#isAsked = true;
    write(this.#fd, bytes, (error, count) => {
      this.#isAsked = false;
      if (error !== null) return this.#failed(error, bytes);
      const rest = bytes.subarray(count);
      if (rest.length === 0) return this.#next();
      this.#writing = rest;
      this.#ask(rest);
    });
  }

  #failed(error: NodeJS.ErrnoException, bytes: Buffer): void {
    if (isBusy(error)) {
      setTimeout(() => this.#ask(bytes), RETRY_MS).unref();
      return;
    }
    this.#abandon(error, bytes);
    this.#next();
  }

  /** Nobody reads any more, or what was to be written has no room. */
  #abandon(error: NodeJS.ErrnoException, bytes: Buffer): void {
    this.#writing = undefined;
    if (error.code === "EPIPE") {
      this.#isReaderGone = true;
      this.#waiting = [];
      return;
    }
    this.#lose(linesIn(bytes), error.code ?? error.message);
  }

  #lose(lines: number, reason: string): void {
    this.#lostLines += lines;
    this.#lossReason = reason;
  }

  #writeLast(): void {
    // What was asked for is written before the process ends: its threads are waited for.
    let bytes = (this.#isAsked ? undefined : this.#writing) ?? this.#taken();
    for (let tries = 0; bytes !== undefined && tries < LAST_TRIES_MAX; ) {
      try {
        bytes = bytes.subarray(writeSync(this.#fd, bytes));
        if (bytes.length === 0) bytes = this.#taken();
      } catch (error) {
        if (!(error instanceof Error) || !isBusy(error)) return;
        tries += 1;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
      }
    }
  }
}

function isBusy(error: NodeJS.ErrnoException): boolean {
  return error.code === "EAGAIN" || error.code === "EBUSY";
}

function linesIn(bytes: Buffer): number {
  let lines = 0;
  for (const byte of bytes) if (byte === 0x0a) lines += 1;
  return lines;
}
