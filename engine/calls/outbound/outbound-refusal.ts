import { Failure, type FailureKind } from "../../failure.js";
import type { Logger } from "../../log.js";
import { TelephonyRefusal } from "../../telephony/telephony-request.js";
import { VendorError } from "../../vendors/contracts.js";
import { codeOf } from "../../vendors/vendor-fault.js";
import type { OpenRefusal, RefusalReason } from "../opening/open-refusal.js";

const KIND_BY_REFUSAL: Readonly<Record<RefusalReason, FailureKind>> = {
  agentNotFound: "notFound",
  providerUnavailable: "conflict",
  modelNotAllowed: "forbidden",
  limitReached: "rateLimited",
  overloaded: "unavailable",
  storeFailing: "unavailable",
  callerLeft: "unavailable",
  serverStopping: "unavailable",
};

/** A call that is in the way lasts minutes, and a vendor that is down seldom less; nobody knows better. */
const RETRY_AFTER_SEC = 10;

/** Why no call would be opened, for who places one. */
export function placingRefused({ reason, message }: OpenRefusal): Failure {
  const kind = KIND_BY_REFUSAL[reason];
  const isPassing = kind === "rateLimited" || kind === "unavailable";
  return new Failure(kind, message, isPassing ? { retryAfterSec: RETRY_AFTER_SEC } : {});
}

/** All calls that the plan allows at the same time are taken. */
export function callsTaken(callsMax: number): Failure {
  const message = `the plan allows ${callsMax} calls at the same time`;
  return new Failure("rateLimited", message, { retryAfterSec: RETRY_AFTER_SEC });
}

/** What the telephony vendor's error means for who places the call; other errors as they are. */
export function placingFailed(error: unknown, log: Logger): unknown {
  if (!(error instanceof VendorError)) return error;
  const what = mayHaveBeenPlaced(error)
    ? "it is not known whether a call was placed: its answer was lost"
    : "a call could not be placed";
  log.warn({ vendor: error.vendor, reason: error.message }, what);
  const options = { cause: error, retryAfterSec: RETRY_AFTER_SEC };
  if (!(error instanceof TelephonyRefusal) || error.code === undefined || error.retryable) {
    return new Failure("unavailable", "the telephony vendor does not take calls now", options);
  }
  const words = `the telephony vendor refused the call with its error ${error.code}`;
  const isOrder = error.fault === "refused";
  return isOrder
    ? new Failure("invalid", words, { cause: error })
    : new Failure("unavailable", words, options);
}

/** The order may have reached the vendor, whose answer was lost or came too late. */
export function mayHaveBeenPlaced(error: unknown): boolean {
  if (!(error instanceof VendorError) || error instanceof TelephonyRefusal) return false;
  if (codeOf(error) === "UND_ERR_CONNECT_TIMEOUT") return false;
  return error.fault === "timeout" || error.fault === "disconnected";
}
