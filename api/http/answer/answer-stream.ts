import type { HttpResponse } from "../front/front.js";

/** What a client may leave unread, beside what the system holds for it; past it, the client has gone or will not keep up. */
export const STREAM_BACKLOG_BYTES_MAX = 256 * 1024;

/** The body of an answer that is sent while it is made. It belongs to a response whose head is written. */
export class AnswerStream {
  readonly #response: HttpResponse;
  #waiting = "";
  #isFlushing = false;
  #isOver = false;
  #backlogBytes = 0;

  constructor(response: HttpResponse) {
    this.#response = response;
  }

  /** What is written in one turn of the event loop goes out together. Does nothing once the answer is over. */
  write(text: string): void {
    if (this.#isOver || text === "") return;
    this.#waiting += text;
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(() => this.#flush());
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const rest = this.#waiting;
    this.#response.cork(() => {
      if (rest !== "") this.#response.write(rest);
      this.#response.end();
    });
  }

  /** The client has gone: the response must not be touched any more. */
  abandon(): void {
    this.#isOver = true;
    this.#waiting = "";
  }

  /** Breaks the connection: an answer without its end cannot be taken for a whole one. */
  breakOff(): void {
    if (this.#isOver) return;
    this.abandon();
    this.#response.close();
  }

  /** What the system does not take, uWebSockets.js keeps and sends later; it says so at the write after that. */
  #flush(): void {
    this.#isFlushing = false;
    if (this.#isOver || this.#waiting === "") return;
    const text = this.#waiting;
    this.#waiting = "";
    let hadNoBacklog = true;
    this.#response.cork(() => {
      hadNoBacklog = this.#response.write(text);
    });
    // An upper bound: some of it may have been sent meanwhile.
    this.#backlogBytes = Buffer.byteLength(text) + (hadNoBacklog ? 0 : this.#backlogBytes);
    if (!hadNoBacklog && this.#backlogBytes > STREAM_BACKLOG_BYTES_MAX) this.breakOff();
  }
}
