import type { CancelTimer, Clock } from "../../../engine/time/clock.js";
import { ParleyError } from "../../../storage/parley-error.js";
import type { HttpResponse } from "../backend/http-backend.js";

/** Given to the system at once; of what it does not take, uWebSockets.js makes a copy for this one client. */
const PIECE_CHARS = 32 * 1024;
/** A client that has not read on for so long will not. */
const STALL_MAX_MS = 30_000;

export interface Pace {
  /** What may wait for one client, beside the piece that it is reading; past it, it is given up. */
  readonly backlogBytesMax: number;
  /** Text without a meaning. It is sent when a client has caught up: uWebSockets.js wants something to write then. */
  readonly filler: string;
}

/** Why a client was given up that did not go by itself. */
export class SlowClientError extends ParleyError {
  override readonly name = "SlowClientError";
  readonly code = "client_too_slow";

  constructor() {
    super("the client did not read in time");
  }
}

/**
 * An answer that many clients are sent at the same time, each as fast as it reads. What waits is kept as the texts that
 * were written, which all clients share. It belongs to a response whose head is written.
 */
export class PacedStream {
  readonly #response: HttpResponse;
  readonly #pace: Pace;
  readonly #clock: Clock;
  #waiting: string[] = [];
  #waitingBytes = 0;
  /** How much of the first waiting text has been sent. */
  #sentChars = 0;
  #hasBacklog = false;
  #isFlushing = false;
  #isOver = false;
  #cancelStall: CancelTimer = () => undefined;
  #slowClient: SlowClientError | undefined;

  constructor(response: HttpResponse, pace: Pace, clock: Clock) {
    this.#response = response;
    this.#pace = pace;
    this.#clock = clock;
    response.onWritable(() => {
      this.#resume();
      return true;
    });
  }

  /** Set when the client was given up. */
  get slowClientError(): SlowClientError | undefined {
    return this.#slowClient;
  }

  /** Does nothing once the answer is over. */
  write(text: string): void {
    if (this.#isOver || text === "") return;
    this.#waiting.push(text);
    this.#waitingBytes += Buffer.byteLength(text);
    if (this.#hasBacklog) {
      if (this.#waitingBytes > this.#pace.backlogBytesMax) this.#dropSlowClient();
      return;
    }
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(() => this.#flush());
  }

  /** What waits still is sent with the end; a client that has a backlog is broken off. */
  end(): void {
    if (this.#isOver) return;
    if (this.#hasBacklog) {
      this.breakOff();
      return;
    }
    this.#sendWhatWaits();
    this.abandon();
    this.#response.cork(() => this.#response.end());
  }

  /** The client has gone: the response must not be touched any more. */
  abandon(): void {
    this.#isOver = true;
    this.#waiting = [];
    this.#cancelStall();
  }

  breakOff(): void {
    if (this.#isOver) return;
    this.abandon();
    this.#response.close();
  }

  #dropSlowClient(): void {
    if (this.#isOver) return;
    this.#slowClient = new SlowClientError();
    this.breakOff();
  }

  #flush(): void {
    this.#isFlushing = false;
    if (!this.#isOver) this.#sendWhatWaits();
  }

  /** The client has read: something has to be written, or uWebSockets.js would not send the rest of its own. */
  #resume(): void {
    if (this.#isOver) return;
    if (this.#waiting.length === 0) this.#send(this.#pace.filler);
    else this.#send(this.#nextPiece());
    this.#sendWhatWaits();
  }

  #sendWhatWaits(): void {
    while (!this.#hasBacklog && this.#waiting.length > 0) this.#send(this.#nextPiece());
  }

  /** uWebSockets.js tells of a backlog at once for a large piece, and for a small one with the piece after it. */
  #send(piece: string): void {
    let isTaken = true;
    this.#response.cork(() => {
      isTaken = this.#response.write(piece);
    });
    if (isTaken === !this.#hasBacklog) return;
    this.#hasBacklog = !isTaken;
    if (isTaken) this.#cancelStall();
    else this.#cancelStall = this.#clock.after(STALL_MAX_MS, () => this.#dropSlowClient());
  }

  #nextPiece(): string {
    const text = this.#waiting[0] ?? "";
    const piece = text.slice(this.#sentChars, this.#endOfPiece(text));
    this.#sentChars += piece.length;
    this.#waitingBytes -= Buffer.byteLength(piece);
    if (this.#sentChars === text.length) {
      this.#waiting.shift();
      this.#sentChars = 0;
    }
    return piece;
  }

  /** Not between the two halves of one character. */
  #endOfPiece(text: string): number {
    const end = this.#sentChars + PIECE_CHARS;
    const last = text.charCodeAt(end - 1);
    return last >= 0xd800 && last <= 0xdbff ? end + 1 : end;
  }
}
