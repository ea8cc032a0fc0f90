import type { RefusalReason } from "../../engine/calls/call-refused-error.js";
import type { EndReason } from "../../engine/conversation/call-end.js";
import type { VoiceErrorCode } from "../../storage/parley-error.js";

/** Codes of the contract (4xxx) and of RFC 6455 (1xxx). */
export const CLOSE_UNAUTHORIZED = 4001;
export const CLOSE_RATE_LIMITED = 4029;
export const CLOSE_POLICY_VIOLATION = 1008;
export const CLOSE_TOO_BIG = 1009;
export const CLOSE_INTERNAL_ERROR = 1011;

export const CLOSE_CODE_BY_REFUSAL: Readonly<Record<RefusalReason, number>> = {
  agentNotFound: 4005,
  providerUnavailable: 4004,
  modelNotAllowed: 4003,
  limitReached: CLOSE_RATE_LIMITED,
  overloaded: CLOSE_RATE_LIMITED,
  storeFailing: CLOSE_RATE_LIMITED,
  callerLeft: 1000,
  serverStopping: 1012,
};

export const CLOSE_CODE_BY_ENDING: Readonly<Record<EndReason, number>> = {
  callerLeft: 1000,
  agentHungUp: 1000,
  transferred: 1000,
  durationLimit: 1000,
  suspended: CLOSE_UNAUTHORIZED,
  organizationEnded: 1000,
  callerIdle: 1000,
  callerTooSlow: 1013,
  callerTooFast: CLOSE_POLICY_VIOLATION,
  callerProtocol: CLOSE_TOO_BIG,
  languageModelFailed: CLOSE_INTERNAL_ERROR,
  speechFailed: CLOSE_INTERNAL_ERROR,
  sttFailed: CLOSE_INTERNAL_ERROR,
  serverStopping: 1012,
  overloaded: 1013,
  internalError: CLOSE_INTERNAL_ERROR,
  busy: 1000,
  noAnswer: 1000,
  vendorFailed: CLOSE_INTERNAL_ERROR,
  notConnected: CLOSE_INTERNAL_ERROR,
  outcomeUnknown: CLOSE_INTERNAL_ERROR,
  machine: 1000,
  notPutThrough: 1000,
  unsupportedAudio: 1003,
};

/** The `code` in the `error` before the close frame. A call that ends normally sends none. */
export const ERROR_CODE_BY_ENDING: Readonly<Record<EndReason, VoiceErrorCode>> = {
  callerLeft: "caller_left",
  agentHungUp: "call_ended",
  transferred: "call_ended",
  durationLimit: "call_duration_limit_reached",
  suspended: "organization_pending",
  organizationEnded: "call_ended",
  callerIdle: "caller_idle",
  callerTooSlow: "client_too_slow",
  callerTooFast: "client_too_fast",
  callerProtocol: "frame_too_large",
  languageModelFailed: "language_model_failed",
  speechFailed: "speech_synthesis_failed",
  sttFailed: "speech_recognition_failed",
  serverStopping: "server_stopping",
  overloaded: "overloaded",
  internalError: "internal_error",
  busy: "call_not_answered",
  noAnswer: "call_not_answered",
  vendorFailed: "telephony_unavailable",
  notConnected: "telephony_unavailable",
  outcomeUnknown: "telephony_unavailable",
  machine: "call_not_answered",
  notPutThrough: "call_not_answered",
  unsupportedAudio: "unsupported_audio",
};

/** RFC 6455 gives a close frame 125 bytes, two of them the code. */
const CLOSE_REASON_BYTES_MAX = 123;

export function closeReason(message: string): string {
  const bytes = Buffer.from(message);
  if (bytes.length <= CLOSE_REASON_BYTES_MAX) return message;
  // A character that was cut is dropped: a close frame must be valid UTF-8.
  return bytes
    .subarray(0, CLOSE_REASON_BYTES_MAX)
    .toString()
    .replace(/\uFFFD+$/, "");
}
