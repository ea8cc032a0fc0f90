import { webhookField, webhookNumber } from "./webhook-field.js";

/** How long a transfer rings; Telnyx takes 5 to 120 seconds, and Twilio's own default is 30. */
export const TRANSFER_RING_SEC = 30;

/** No transfer lasts longer: the default of vendors that have one. */
export const TALK_MAX_SEC = 4 * 60 * 60;

/**
 * What became of the leg to the person whom a caller was transferred to. `notAccepted` and `machine` are of warm transfers: the
 * person gave no answer to the question, or an answering machine took the call.
 */
export const TRANSFER_RESULTS = [
  "answered",
  "busy",
  "noAnswer",
  "rejected",
  "failed",
  "canceled",
  "notAccepted",
  "machine",
] as const;

export type TransferResult = (typeof TRANSFER_RESULTS)[number];

/** What the vendor reports about that leg. */
export interface TransferReport {
  readonly result: TransferResult;
  /** The vendor's own word or number for it: plain text of at most 64 characters, empty where it gave none. */
  readonly reason: string;
  /** How long the two talked; undefined where the vendor does not say. */
  readonly durationSec: number | undefined;
}

const RESULT_BY_STATUS: ReadonlyMap<string, TransferResult> = new Map<string, TransferResult>([
  ["completed", "answered"],
  ["answered", "answered"],
  ["busy", "busy"],
  ["no-answer", "noAnswer"],
  ["timeout", "noAnswer"],
  ["unanswered", "noAnswer"],
  ["rejected", "rejected"],
  ["failed", "failed"],
  ["canceled", "canceled"],
  ["cancelled", "canceled"],
  ["cancel", "canceled"],
  // Asterisk's DIALSTATUS, in lower case.
  ["answer", "answered"],
  ["noanswer", "noAnswer"],
]);
/** Q.850 in FreeSWITCH's words (Plivo, Telnyx) and as a number, and final answers of SIP that mean: the person does not want the call. */
const REJECTED_REASONS = new Set(["CALL_REJECTED", "21", "403", "433", "603", "607", "608"]);
const DURATION_SEC_MAX = 24 * 60 * 60;

/** The names of the fields in which a vendor reports the leg. */
export interface TransferFields {
  readonly status: string;
  /** Where the vendor says why, beside the status; the first that is there is the reason. */
  readonly reasons?: readonly string[];
  readonly duration?: string;
}

/** Undefined for a body that reports no leg. A status that is not known counts as failed: nobody has answered for certain. */
export function transferReport(body: string, fields: TransferFields): TransferReport | undefined {
  const status = webhookField(body, fields.status);
  if (status === "") return undefined;
  const causes = (fields.reasons ?? [])
    .map((name) => webhookNumber(body, name))
    .filter((cause) => cause !== "");
  const known = RESULT_BY_STATUS.get(status.toLowerCase()) ?? "failed";
  const isRejected =
    known !== "answered" && causes.some((cause) => REJECTED_REASONS.has(cause.toUpperCase()));
  const seconds = fields.duration === undefined ? "" : webhookNumber(body, fields.duration);
  const durationSec = /^\d{1,6}$/.test(seconds)
    ? Math.min(Number(seconds), DURATION_SEC_MAX)
    : undefined;
  return { result: isRejected ? "rejected" : known, reason: causes[0] ?? status, durationSec };
}
