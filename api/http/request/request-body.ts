import type { CancelTimer, Clock } from "../../../engine/time/clock.js";
import { BODY_BYTES_MAX } from "../../contract/routes/route.js";
import { HttpError, RequestAbortedError } from "../answer/http-error.js";
import type { HttpResponse } from "../backend/http-backend.js";

/** A phone on a bad network needs less than this for a megabyte; a slower client only occupies a connection. */
const BODY_DEADLINE_MS = 30_000;

/** The limit for the bodies of all requests without a response yet, in this process. */
export const BODIES_BYTES_MAX = 64 * 1024 * 1024;
/** The limit for the bodies of one organization, or of one address while the organization is unknown. */
export const BODIES_PER_OWNER_BYTES_MAX = 16 * 1024 * 1024;
const RETRY_LATER: HttpError["headers"] = [["retry-after", "1"]];

const NOT_ENCODED = /^(?:\s|,|identity)*$/i;
const COMPRESSED = "content-encoding: expected none (identity): send the body uncompressed";

const EMPTY = Buffer.alloc(0);

/** The part of a body that counts. */
interface CountedBody {
  readonly owner: string;
  readonly byteCount: number;
  /** The body can no longer be refused. If it still counts, it is complete, and its request is being handled. */
  readonly isSettled: boolean;
  refuse(error: HttpError): void;
}

/**
 * Bounds the bytes of all bodies whose requests have no response yet. An owner above its own limit gets a 429. If
 * the process has too many, the newest unfinished body of the owner with most bytes gets a 503, or the body that
 * has just grown.
 */
export class BodyMemory {
  readonly #bytesByOwner = new Map<string, number>();
  readonly #bodies = new Set<CountedBody>();
  #byteCount = 0;

  get byteCount(): number {
    return this.#byteCount;
  }

  /** More bytes of a body have arrived. Returns false if the body had to be refused because of them. */
  take(body: CountedBody, bytes: number): boolean {
    const owned = (this.#bytesByOwner.get(body.owner) ?? 0) + bytes;
    if (owned > BODIES_PER_OWNER_BYTES_MAX) {
      body.refuse(new HttpError("concurrency_limit_reached", tooMany(body.owner), RETRY_LATER));
      return false;
    }
    this.#bodies.add(body);
    this.#add(body.owner, bytes);
    if (this.#byteCount <= BODIES_BYTES_MAX) return true;
    const givesWay = this.#newestUnfinished() ?? body;
    if (givesWay === body) this.#add(body.owner, -bytes);
    givesWay.refuse(
      new HttpError("overloaded", "the server has too many unfinished requests", RETRY_LATER),
    );
    return givesWay !== body;
  }

  /** Counts a body's bytes for another owner from now on. */
  move(body: CountedBody, from: string, to: string): void {
    this.#add(from, -body.byteCount);
    this.#add(to, body.byteCount);
  }

  release(body: CountedBody): void {
    if (this.#bodies.delete(body)) this.#add(body.owner, -body.byteCount);
  }

  /** The newest unfinished body of the owner with most bytes; undefined if all bodies are complete. */
  #newestUnfinished(): CountedBody | undefined {
    let newest: CountedBody | undefined;
    const bytesOf = ({ owner }: CountedBody): number => this.#bytesByOwner.get(owner) ?? 0;
    for (const body of this.#bodies) {
      if (body.isSettled) continue;
      if (newest === undefined || bytesOf(body) >= bytesOf(newest)) newest = body;
    }
    return newest;
  }

  #add(owner: string, bytes: number): void {
    const owned = (this.#bytesByOwner.get(owner) ?? 0) + bytes;
    if (owned === 0) this.#bytesByOwner.delete(owner);
    else this.#bytesByOwner.set(owner, owned);
    this.#byteCount += bytes;
  }
}

export interface RequestBodyOptions {
  readonly announcedLength: string;
  /** The header `content-encoding`; empty if there is none. */
  readonly encoding?: string;
  /** Identifies the sender, as far as known before the request is authenticated. */
  readonly owner: string;
  readonly clock: Clock;
  readonly memory: BodyMemory;
  readonly bytesMax?: number;
}

/**
 * Collects the body of one request. Must be created inside the request's callback: uWebSockets.js offers data only
 * then.
 */
export class RequestBody implements CountedBody {
  /** Settles once: with the bytes, or with the reason why they did not arrive. */
  readonly whole: Promise<Buffer>;
  readonly #memory: BodyMemory;
  readonly #bytesMax: number;
  readonly #isEncoded: boolean;
  #owner: string;
  #resolve: (bytes: Buffer) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;
  #isSettled = false;
  #parts: Buffer[] = [];
  #byteCount = 0;
  #cancelDeadline: CancelTimer = () => undefined;

  constructor(response: HttpResponse, options: RequestBodyOptions) {
    const {
      announcedLength,
      owner,
      clock,
      memory: room,
      bytesMax = BODY_BYTES_MAX,
      encoding = "",
    } = options;
    this.#memory = room;
    this.#owner = owner;
    this.#bytesMax = bytesMax;
    this.#isEncoded = !NOT_ENCODED.test(encoding);
    this.whole = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Authentication may refuse a request before its body is needed.
    this.whole.catch(() => undefined);
    this.#cancelDeadline = clock.after(BODY_DEADLINE_MS, () =>
      this.refuse(new HttpError("request_timeout", "the body did not arrive in time")),
    );
    if (Number(announcedLength) > bytesMax) this.refuse(tooLarge(bytesMax));
    response.onData((chunk, isLast) => this.#take(chunk, isLast));
  }

  get owner(): string {
    return this.#owner;
  }

  /** The number of buffered bytes. */
  get byteCount(): number {
    return this.#byteCount;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Called when the owner of the request is known. */
  belongsTo(owner: string): void {
    this.#memory.move(this, this.#owner, owner);
    this.#owner = owner;
  }

  /** Called when the request has its response, or its client has disconnected: the body is no longer needed. */
  abort(): void {
    this.refuse(new RequestAbortedError("the client closed the connection"));
    this.#forget();
  }

  /** Drops the received part. */
  refuse(error: Error): void {
    if (this.#isSettled) return;
    this.#settle();
    this.#forget();
    this.#reject(error);
  }

  #take(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.#isSettled) return;
    if (this.#byteCount + chunk.byteLength > this.#bytesMax) {
      this.refuse(tooLarge(this.#bytesMax));
      return;
    }
    if (chunk.byteLength > 0) {
      if (!this.#memory.take(this, chunk.byteLength)) return;
      this.#byteCount += chunk.byteLength;
      // uWebSockets.js owns the chunk's memory, which is invalid when this returns.
      this.#parts.push(Buffer.from(chunk.slice(0)));
    }
    if (isLast) this.#finish();
  }

  /** The bytes count until the request has its response. */
  #finish(): void {
    if (this.#isEncoded) {
      this.refuse(
        new HttpError("unsupported_media_type", COMPRESSED, [["accept-encoding", "identity"]]),
      );
      return;
    }
    const [only = EMPTY] = this.#parts;
    const bytes = this.#parts.length < 2 ? only : Buffer.concat(this.#parts, this.#byteCount);
    this.#settle();
    this.#resolve(bytes);
  }

  #settle(): void {
    this.#isSettled = true;
    this.#parts = [];
    this.#cancelDeadline();
  }

  #forget(): void {
    this.#memory.release(this);
    this.#byteCount = 0;
  }
}

function tooLarge(bytesMax: number): HttpError {
  return new HttpError("body_too_large", `body: expected at most ${bytesMax} bytes`);
}

function tooMany(owner: string): string {
  const [kind] = owner.split(" ", 1);
  return `the bodies of unfinished requests of this ${kind} have more than ${BODIES_PER_OWNER_BYTES_MAX} bytes together`;
}
