import type { CancelTimer, Clock } from "../../../engine/time/clock.js";
import { BODY_BYTES_MAX } from "../../contract/routes/route.js";
import { HttpRefusal, RequestAborted } from "../answer/http-refusal.js";
import type { HttpResponse } from "../front/front.js";

/** A phone on a bad network sends a megabyte in less; who takes longer only holds a connection. */
const BODY_DEADLINE_MS = 30_000;

const EMPTY = Buffer.alloc(0);

/** Collects the body of one request. Must be made inside the request's callback: uWebSockets.js offers data only then. */
export class RequestBody {
  /** Settles once: with the bytes, or with why they did not come. */
  readonly whole: Promise<Buffer>;
  #resolve: (bytes: Buffer) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;
  #isSettled = false;
  #parts: Buffer[] = [];
  readonly #bytesMax: number;
  #byteCount = 0;
  #cancelDeadline: CancelTimer = () => undefined;

  constructor(
    response: HttpResponse,
    announcedLength: string,
    clock: Clock,
    bytesMax: number = BODY_BYTES_MAX,
  ) {
    this.#bytesMax = bytesMax;
    this.whole = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Authentication may refuse a request before anybody asks for its body.
    this.whole.catch(() => undefined);
    this.#cancelDeadline = clock.after(BODY_DEADLINE_MS, () =>
      this.#fail(new HttpRefusal(408, "the body did not arrive in time")),
    );
    if (Number(announcedLength) > bytesMax) this.#fail(tooLarge(bytesMax));
    response.onData((chunk, isLast) => this.#take(chunk, isLast));
  }

  abort(): void {
    this.#fail(new RequestAborted("the client closed the connection"));
  }

  #take(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.#isSettled) return;
    this.#byteCount += chunk.byteLength;
    if (this.#byteCount > this.#bytesMax) {
      this.#fail(tooLarge(this.#bytesMax));
      return;
    }
    // The chunk's memory is uWebSockets.js's own and is gone when this returns.
    if (chunk.byteLength > 0) this.#parts.push(Buffer.from(chunk.slice(0)));
    if (isLast) this.#finish();
  }

  #finish(): void {
    const [only = EMPTY] = this.#parts;
    const bytes = this.#parts.length < 2 ? only : Buffer.concat(this.#parts, this.#byteCount);
    this.#settle();
    this.#resolve(bytes);
  }

  #fail(error: Error): void {
    if (this.#isSettled) return;
    this.#settle();
    this.#reject(error);
  }

  #settle(): void {
    this.#isSettled = true;
    this.#parts = [];
    this.#cancelDeadline();
  }
}

function tooLarge(bytesMax: number): HttpRefusal {
  return new HttpRefusal(413, `body: expected at most ${bytesMax} bytes`);
}
