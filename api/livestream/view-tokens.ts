import { createHmac, timingSafeEqual } from "node:crypto";
import type { Clock } from "../../engine/time/clock.js";

/** In the list of private streams: all of them. */
const ANY_STREAM = "*";
/** A time in seconds since 1970, and the signature over it and the stream's key. */
const TOKEN = /^(\d{10})-([A-Za-z0-9_-]{43})$/;

/** A token for watching one stream until then; it is part of addresses, so it needs no escaping. */
export function issueViewToken(secret: string, streamKey: string, expiresAtMs: number): string {
  const expiresAtSec = Math.floor(expiresAtMs / 1_000)
    .toString()
    .padStart(10, "0");
  return `${expiresAtSec}-${signature(secret, streamKey, expiresAtSec).toString("base64url")}`;
}

export interface PrivateStreamsOptions {
  /** Keys, or `*` for all. */
  readonly streamKeys: readonly string[];
  readonly tokenSecret: string;
  readonly clock: Clock;
}

/** Which streams require a token for viewing. */
export class PrivateStreams {
  readonly #streamKeys: ReadonlySet<string>;
  readonly #options: PrivateStreamsOptions;

  constructor(options: PrivateStreamsOptions) {
    this.#options = options;
    this.#streamKeys = new Set(options.streamKeys);
  }

  has(streamKey: string): boolean {
    return this.#streamKeys.has(ANY_STREAM) || this.#streamKeys.has(streamKey);
  }

  /**
   * Whether one of the tokens (there may be none) opens the stream now; a stream that is not private is open to
   * all.
   */
  mayWatch(streamKey: string, tokens: readonly string[]): boolean {
    return !this.has(streamKey) || tokens.some((token) => this.#opens(streamKey, token));
  }

  #opens(streamKey: string, token: string): boolean {
    const [, expiresAtSec = "", given = ""] = TOKEN.exec(token) ?? [];
    if (expiresAtSec === "") return false;
    const { tokenSecret, clock } = this.#options;
    const right = signature(tokenSecret, streamKey, expiresAtSec);
    const isRight = timingSafeEqual(Buffer.from(given, "base64url"), right);
    return isRight && Number(expiresAtSec) * 1_000 > clock.epochMs();
  }
}

function signature(secret: string, streamKey: string, expiresAtSec: string): Buffer {
  return createHmac("sha256", secret).update(`${expiresAtSec} ${streamKey}`).digest();
}
