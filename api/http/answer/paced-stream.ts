import type { CancelTimer, Clock } from "../../../engine/time/clock.js";
import { ParleyError } from "../../../storage/parley-error.js";
import type { HttpResponse } from "../backend/http-backend.js";

/**
 * The most text passed to the system at once; uWebSockets.js copies what the system does not accept for this one
 * client.
 */
const PIECE_CHARS = 32 * 1024;
/** A client that has not read for this long is taken to have stopped reading. */
const STALL_MAX_MS = 30_000;

export interface Pace {
  /**
   * The maximum text that waits for one client, besides the piece that it is reading; beyond it, the client is
   * dropped.
   */
  readonly backlogBytesMax: number;
  /** Text without a meaning, sent when a client has caught up, because uWebSockets.js then needs something to write. */
  readonly filler: string;
}

/** The server dropped a client that did not read in time. */
export class SlowClientError extends ParleyError {
  override readonly name = "SlowClientError";
  readonly code = "client_too_slow";

  constructor() {
    super("the client did not read in time");
  }
}

/**
 * A response that many clients receive at the same time, each as fast as it reads. Waiting texts are kept as they
 * were written, and shared by all clients. Requires a response whose head is written.
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

  /** Set when the client was dropped. */
  get slowClientError(): SlowClientError | undefined {
    return this.#slowClient;
  }

  /** Does nothing after the end of the response. */
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

  /** Sends waiting text with the end; a client with a backlog is disconnected. */
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

  /** The client has disconnected: the response must not be used any more. */
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

  /** The client has read: something must be written, or uWebSockets.js would not send the rest of its buffer. */
  #resume(): void {
    if (this.#isOver) return;
    if (this.#waiting.length === 0) this.#send(this.#pace.filler);
    else this.#send(this.#nextPiece());
    this.#sendWhatWaits();
  }

  #sendWhatWaits(): void {
    while (!this.#hasBacklog && this.#waiting.length > 0) this.#send(this.#nextPiece());
  }

  /** uWebSockets.js reports a backlog immediately for a large piece, and for a small one with the next piece. */
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

  /** Never splits between the two halves of a surrogate pair. */
  #endOfPiece(text: string): number {
    const end = this.#sentChars + PIECE_CHARS;
    const last = text.charCodeAt(end - 1);
    return last >= 0xd800 && last <= 0xdbff ? end + 1 : end;
  }
}
