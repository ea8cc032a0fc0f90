import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { AwsV4Signer } from "aws4fetch";
import { Agent, type Dispatcher, request } from "undici";
import { ParleyError } from "../../storage/parley-error.js";
import type { CancelTimer, Clock } from "../time/clock.js";
import { trust } from "../vendors/transport/tls-trust.js";
import type { BucketSettings } from "./bucket-settings.js";

/**
 * A bucket failure. `away`: a retry may succeed; `refused`: the settings or the bucket must be fixed first. The message
 * says what to do and contains no secret.
 */
export class BucketError extends ParleyError {
  override readonly name = "BucketError";
  readonly code = "bucket_failed";
  readonly kind: "away" | "refused";

  constructor(kind: "away" | "refused", message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.kind = kind;
  }
}

/** An object store's answer with an error status. */
export interface BucketRefusal {
  readonly status: number;
  /** The first bytes of the XML answer; empty for HEAD. */
  readonly body: string;
}

const TOO_MANY_REQUESTS = 429;
const REQUEST_TIMEOUT = 408;
const SERVER_ERROR = 500;
/** An object store's error codes are not longer. */
const CODE = /<Code>(\w{1,64})<\/Code>/;
const REGION = /<Region>([\w-]{1,64})<\/Region>/;

export function refusedBy(settings: BucketSettings, { status, body }: BucketRefusal): BucketError {
  const code = CODE.exec(body)?.[1];
  const place = placeOf(settings);
  const isPassing =
    status >= SERVER_ERROR || status === TOO_MANY_REQUESTS || status === REQUEST_TIMEOUT;
  if (isPassing || code === "RequestTimeout") {
    return new BucketError("away", `${place} answers ${status}${named(code)}`);
  }
  const advice = ADVICE[code ?? ""] ?? `it answers ${status}${named(code)}`;
  const region = REGION.exec(body)?.[1];
  const isElsewhere = region !== undefined && region !== settings.region;
  const hint = isElsewhere ? `; the bucket says it is in ${region}` : "";
  return new BucketError("refused", `${place}: ${advice}${hint}`);
}

export function unreachable(settings: BucketSettings, cause: unknown): BucketError {
  const reason = cause instanceof Error ? reasonOf(cause) : String(cause);
  return new BucketError("away", `${placeOf(settings)} cannot be reached: ${reason}`, { cause });
}

/** The bucket's address in messages for operators. */
export function placeOf({ name, prefix, endpoint }: BucketSettings): string {
  return `s3://${name}/${prefix}${endpoint === undefined ? "" : ` at ${endpoint}`}`;
}

const ANOTHER_REGION = "the bucket is in another region: set RECORDINGS_REGION";

const ADVICE: Readonly<Record<string, string>> = {
  NoSuchBucket: "there is no such bucket: create it, or correct RECORDINGS_URL",
  InvalidAccessKeyId: "the store does not know RECORDINGS_ACCESS_KEY_ID",
  SignatureDoesNotMatch:
    "RECORDINGS_SECRET_ACCESS_KEY does not belong to RECORDINGS_ACCESS_KEY_ID, or RECORDINGS_REGION is wrong",
  AccessDenied:
    "the access key lacks a permission: it needs s3:PutObject, s3:GetObject and s3:DeleteObject",
  AuthorizationHeaderMalformed: ANOTHER_REGION,
  PermanentRedirect: ANOTHER_REGION,
  TemporaryRedirect: ANOTHER_REGION,
  RequestTimeTooSkewed: "this machine's clock and the bucket's differ by too much: set the clock",
};

function named(code: string | undefined): string {
  return code === undefined ? "" : ` (${code})`;
}

function reasonOf(error: Error): string {
  if (error.message !== "") return error.message;
  return "code" in error ? String(error.code) : error.name;
}

/** Aborts an operation that makes no progress for `stallMaxMs`. */
export class StallWatch {
  readonly #clock: Clock;
  readonly #stallMaxMs: number;
  readonly #abort = new AbortController();
  #cancel: CancelTimer = () => {};

  constructor(clock: Clock, stallMaxMs: number) {
    this.#clock = clock;
    this.#stallMaxMs = stallMaxMs;
    this.touch();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Reports progress. */
  touch(): void {
    this.#cancel();
    this.#cancel = this.#clock.after(this.#stallMaxMs, () =>
      this.#abort.abort(new Error(`no progress for ${this.#stallMaxMs / 1_000} seconds`)),
    );
  }

  /** Stops the timer until the next `touch`. */
  rest(): void {
    this.#cancel();
  }
}

const CONNECT_TIMEOUT_MS = 5_000;
/** Simultaneous uploads and downloads; further ones wait. */
const CONNECTIONS_MAX = 16;
/** Idle connections are closed after this time. */
const IDLE_CONNECTION_MS = 10_000;
/** An upload or download without progress for this long is aborted. */
export const STALL_MAX_MS = 30_000;
/** An object store's error messages are shorter. */
const REFUSAL_BYTES_MAX = 16 * 1024;
const OK_MAX = 299;
const NOT_FOUND = 404;
/** The check writes and deletes an object; each check uses its own key. */
const CHECK_KEY = "parley-check-";

export interface BucketDeps {
  readonly clock: Clock;
  /** CA certificates in PEM that are trusted in addition to the public ones. */
  readonly authorities: readonly string[];
}

interface BucketRequest {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: AsyncIterable<Uint8Array>;
}

/**
 * Reads and writes objects in an S3-compatible bucket, by keys below the prefix. Every method rejects with a
 * BucketError; none retries.
 */
export class Bucket {
  readonly settings: BucketSettings;
  readonly #clock: Clock;
  readonly #agent: Agent;
  readonly #root: string;

  constructor(settings: BucketSettings, { clock, authorities }: BucketDeps) {
    this.settings = settings;
    this.#clock = clock;
    this.#root = rootOf(settings);
    this.#agent = new Agent({
      connect: { timeout: CONNECT_TIMEOUT_MS, secureContext: trust(authorities) },
      connections: CONNECTIONS_MAX,
      keepAliveTimeout: IDLE_CONNECTION_MS,
      keepAliveMaxTimeout: IDLE_CONNECTION_MS,
      // Each request has its own timeouts, from the Clock.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /**
   * Resolves when the store has the whole object. `body` is read as fast as the upload allows; its errors are rethrown.
   */
  async put(
    key: string,
    body: AsyncIterable<Uint8Array>,
    sizeBytes: number,
    contentType: string,
  ): Promise<void> {
    const watch = new StallWatch(this.#clock, STALL_MAX_MS);
    const headers = { "content-length": String(sizeBytes), "content-type": contentType };
    const brokenOff: unknown[] = [];
    const watchedBody = watched(body, watch, (error) => brokenOff.push(error));
    try {
      const answer = await this.#request("PUT", key, watch, { headers, body: watchedBody });
      await this.#emptied(answer, watch);
    } catch (error) {
      throw brokenOff[0] ?? error;
    }
  }

  /** Returns undefined if the object does not exist. */
  async sizeOf(key: string): Promise<number | undefined> {
    const watch = new StallWatch(this.#clock, STALL_MAX_MS);
    const answer = await this.#request("HEAD", key, watch, {}, [NOT_FOUND]);
    await this.#emptied(answer, watch);
    if (answer.statusCode === NOT_FOUND) return undefined;
    const sizeBytes = Number(answer.headers["content-length"]);
    if (Number.isSafeInteger(sizeBytes)) return sizeBytes;
    throw new BucketError("refused", `${this.#root} does not report the size of its objects`);
  }

  /**
   * Returns up to `sizeBytes` bytes from `fromByte` on: fewer at the end of the object, or if the connection breaks
   * after some of them. Undefined if the object does not exist.
   */
  async read(key: string, fromByte: number, sizeBytes: number): Promise<Uint8Array | undefined> {
    const watch = new StallWatch(this.#clock, STALL_MAX_MS);
    const headers = { range: `bytes=${fromByte}-${fromByte + sizeBytes - 1}` };
    const answer = await this.#request("GET", key, watch, { headers }, [NOT_FOUND]);
    if (answer.statusCode !== NOT_FOUND) return this.#pieceOf(answer, sizeBytes, watch);
    await this.#emptied(answer, watch);
    return undefined;
  }

  /** Does nothing if the object does not exist. */
  async remove(key: string): Promise<void> {
    const watch = new StallWatch(this.#clock, STALL_MAX_MS);
    const answer = await this.#request("DELETE", key, watch, {}, [NOT_FOUND]);
    await this.#emptied(answer, watch);
  }

  /** Checks that the bucket exists and that objects can be written, read and deleted. Rejects otherwise. */
  async check(): Promise<void> {
    const text = new TextEncoder().encode("Parley checks whether it may write here.\n");
    // A key of its own, since servers that start at the same time would delete each other's object.
    const key = CHECK_KEY + randomUUID();
    await this.put(key, once(text), text.byteLength, "text/plain");
    const size = await this.sizeOf(key);
    await this.remove(key);
    if (size === text.byteLength) return;
    throw new BucketError("refused", `${this.#root} does not return what was stored there`);
  }

  /** Aborts requests in progress. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #request(
    method: "PUT" | "HEAD" | "GET" | "DELETE",
    key: string,
    watch: StallWatch,
    { headers = {}, body }: BucketRequest,
    alsoGood: readonly number[] = [],
  ): Promise<Dispatcher.ResponseData> {
    const url = `${this.#root}${this.settings.prefix}${key}`;
    try {
      const answer = await request(url, {
        method,
        headers: { ...(await this.#signature(method, url)), ...headers },
        body: body === undefined ? null : Readable.from(body, { objectMode: false }),
        signal: watch.signal,
        dispatcher: this.#agent,
      });
      // The reader of the body handles its errors; without this listener, they would be unhandled.
      answer.body.on("error", () => {});
      const { statusCode: status } = answer;
      if (status <= OK_MAX || alsoGood.includes(status)) return answer;
      throw refusedBy(this.settings, { status, body: await firstText(answer) });
    } catch (error) {
      watch.rest();
      throw this.#faultOf(error);
    }
  }

  /** The body is not signed, since it is read only once, during the upload; TLS protects it. */
  async #signature(method: string, url: string): Promise<Record<string, string>> {
    const { accessKeyId, secretAccessKey, region } = this.settings;
    const datetime = new Date(this.#clock.epochMs()).toISOString().replace(/[:-]|\.\d{3}/g, "");
    const keys = { accessKeyId, secretAccessKey, region, service: "s3" };
    const { headers } = await new AwsV4Signer({ ...keys, method, url, datetime }).sign();
    return Object.fromEntries(headers.entries());
  }

  async #emptied({ body }: Dispatcher.ResponseData, watch: StallWatch): Promise<void> {
    try {
      await body.dump({ limit: REFUSAL_BYTES_MAX, signal: watch.signal });
    } catch (error) {
      throw this.#faultOf(error);
    } finally {
      watch.rest();
    }
  }

  async #pieceOf(
    { body }: Dispatcher.ResponseData,
    sizeBytes: number,
    watch: StallWatch,
  ): Promise<Uint8Array> {
    const piece = new Uint8Array(sizeBytes);
    let filled = 0;
    try {
      for await (const part of body) {
        if (!(part instanceof Uint8Array)) continue;
        watch.touch();
        const taken = part.subarray(0, sizeBytes - filled);
        piece.set(taken, filled);
        filled += taken.byteLength;
        // The store sent more than was requested; the rest is not read.
        if (taken.byteLength < part.byteLength) break;
      }
    } catch (error) {
      if (filled === 0) throw this.#faultOf(error);
    } finally {
      watch.rest();
    }
    return piece.subarray(0, filled);
  }

  #faultOf(error: unknown): BucketError {
    return error instanceof BucketError ? error : unreachable(this.settings, error);
  }
}

/** Amazon needs the bucket in the host name, if its certificate covers the name; other stores need it in the path. */
function rootOf({ name, endpoint, region }: BucketSettings): string {
  if (endpoint !== undefined) return `${endpoint}/${name}/`;
  const host = `s3.${region}.amazonaws.com`;
  return name.includes(".") ? `https://${host}/${name}/` : `https://${name}.${host}/`;
}

async function* watched(
  body: AsyncIterable<Uint8Array>,
  watch: StallWatch,
  onBrokenOff: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of body) {
      yield piece;
      watch.touch();
    }
  } catch (error) {
    onBrokenOff(error);
    throw error;
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}

async function firstText({ body }: Dispatcher.ResponseData): Promise<string> {
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const piece of body) {
    if (!(piece instanceof Uint8Array)) continue;
    pieces.push(piece);
    sizeBytes += piece.byteLength;
    if (sizeBytes >= REFUSAL_BYTES_MAX) break;
  }
  return Buffer.concat(pieces).subarray(0, REFUSAL_BYTES_MAX).toString();
}
