import type { BucketSettings } from "./bucket-settings.js";

/**
 * A bucket that does not do what it is asked. `away`: it may later, as it is; `refused`: somebody has to mend the settings or
 * the bucket first. The message says in words what to do, and holds no secret.
 */
export class BucketFault extends Error {
  override readonly name = "BucketFault";
  readonly kind: "away" | "refused";

  constructor(kind: "away" | "refused", message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.kind = kind;
  }
}

/** What an object store answers when it does not do it. */
export interface BucketRefusal {
  readonly status: number;
  /** The first bytes of an answer in XML; empty for HEAD. */
  readonly body: string;
}

const TOO_MANY_REQUESTS = 429;
const REQUEST_TIMEOUT = 408;
const SERVER_ERROR = 500;
/** Longer ones are no code of an object store. */
const CODE = /<Code>(\w{1,64})<\/Code>/;
const REGION = /<Region>([\w-]{1,64})<\/Region>/;

export function refusedBy(settings: BucketSettings, { status, body }: BucketRefusal): BucketFault {
  const code = CODE.exec(body)?.[1];
  const place = placeOf(settings);
  const isPassing =
    status >= SERVER_ERROR || status === TOO_MANY_REQUESTS || status === REQUEST_TIMEOUT;
  if (isPassing || code === "RequestTimeout") {
    return new BucketFault("away", `${place} answers ${status}${named(code)}`);
  }
  const advice = ADVICE[code ?? ""] ?? `it answers ${status}${named(code)}`;
  const region = REGION.exec(body)?.[1];
  const isElsewhere = region !== undefined && region !== settings.region;
  const hint = isElsewhere ? `; the bucket says it is in ${region}` : "";
  return new BucketFault("refused", `${place}: ${advice}${hint}`);
}

export function unreachable(settings: BucketSettings, cause: unknown): BucketFault {
  const reason = cause instanceof Error ? reasonOf(cause) : String(cause);
  return new BucketFault("away", `${placeOf(settings)} cannot be reached: ${reason}`, { cause });
}

/** As an operator knows it. */
export function placeOf({ name, prefix, endpoint }: BucketSettings): string {
  return `s3://${name}/${prefix}${endpoint === undefined ? "" : ` at ${endpoint}`}`;
}

const ANOTHER_REGION = "the bucket is in another region: set RECORDINGS_REGION";

const ADVICE: Readonly<Record<string, string>> = {
  NoSuchBucket: "there is no such bucket: make it, or correct RECORDINGS_URL",
  InvalidAccessKeyId: "RECORDINGS_ACCESS_KEY_ID is not known there",
  SignatureDoesNotMatch:
    "RECORDINGS_SECRET_ACCESS_KEY does not belong to RECORDINGS_ACCESS_KEY_ID, or RECORDINGS_REGION is wrong",
  AccessDenied:
    "the key may not do that: it needs s3:PutObject, s3:GetObject and s3:DeleteObject there",
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
