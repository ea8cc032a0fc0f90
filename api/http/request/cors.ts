// Own code, since the packages for it are handlers for Express or Node's own server, and this server is neither.
import { matchesOrigin } from "../../../engine/security/origins.js";
import type { HeaderLine } from "../answer/answer.js";

/** How long browsers may cache a preflight: short enough that a changed allow-list takes effect soon. */
const PREFLIGHT_SEC = 600;

/** This entry of the allow-list opens the API to every page. There are no cookies, so a page still needs a key. */
const ANY_ORIGIN = "*";
const VARIES: readonly HeaderLine[] = [["vary", "Origin"]];
const ANSWER_HEADERS: readonly HeaderLine[] = [
  ["access-control-expose-headers", "x-request-id, retry-after, idempotent-replayed"],
];
const PREFLIGHT_HEADERS: readonly HeaderLine[] = [
  ["access-control-allow-methods", "GET, HEAD, POST, PATCH, DELETE"],
  [
    "access-control-allow-headers",
    "authorization, content-type, idempotency-key, x-api-key, x-request-id",
  ],
  ["access-control-max-age", String(PREFLIGHT_SEC)],
];

/** Which web pages of other origins may read responses. An empty list means none, which is the default. */
export class CorsPolicy {
  readonly #origins: readonly string[];

  constructor(origins: readonly string[]) {
    this.#origins = origins;
  }

  get isOn(): boolean {
    return this.#origins.length > 0;
  }

  /** The header lines of a response to `method` (lower case); every OPTIONS request counts as a preflight. */
  headersFor(method: string, origin: string): readonly HeaderLine[] {
    const allowed = this.#allowedOrigin(origin);
    if (allowed === undefined) return VARIES;
    const lines: HeaderLine[] = [...VARIES, ["access-control-allow-origin", allowed]];
    return lines.concat(method === "options" ? PREFLIGHT_HEADERS : ANSWER_HEADERS);
  }

  #allowedOrigin(origin: string): string | undefined {
    if (this.#origins.includes(ANY_ORIGIN)) return ANY_ORIGIN;
    return this.#origins.some((allowed) => matchesOrigin(allowed, origin)) ? origin : undefined;
  }
}
