import { Failure, type FailureKind } from "../../failure.js";
import type { Logger } from "../../log.js";
import { TelephonyRefusal } from "../../telephony/telephony-request.js";
import { VendorError } from "../../vendors/contracts.js";
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

/** Why no call would be opened, for who places one. */
export function placingRefused({ reason, message }: OpenRefusal): Failure {
  return new Failure(KIND_BY_REFUSAL[reason], message);
}

/** What the telephony vendor's error means for who places the call; other errors as they are. */
export function placingFailed(error: unknown, log: Logger): unknown {
  if (!(error instanceof VendorError)) return error;
  log.warn({ vendor: error.vendor, reason: error.message }, "a call could not be placed");
  const options = { cause: error };
  if (!(error instanceof TelephonyRefusal) || error.code === undefined || error.retryable) {
    return new Failure("unavailable", "the telephony vendor does not take calls now", options);
  }
  const words = `the telephony vendor refused the call with its error ${error.code}`;
  const isOrder = error.fault === "refused";
  return new Failure(isOrder ? "invalid" : "unavailable", words, options);
}
