import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CallRefusedError,
  type RefusalReason,
} from "../../../../engine/calls/call-refused-error.js";
import { placingFailed, placingRefused } from "../../../../engine/calls/outbound/outbound-calls.js";
import { RequestError } from "../../../../engine/request-error.js";
import {
  isOutcomeUnknown,
  TelephonyError,
} from "../../../../engine/telephony/telephony-request.js";
import { VendorError } from "../../../../engine/vendors/contracts.js";
import { connectionFault } from "../../../../engine/vendors/vendor-fault.js";
import type { RequestErrorCode } from "../../../../storage/parley-error.js";
import { RecordingLogger } from "../../../doubles/recording-logger.js";

const CODES: Readonly<Record<RefusalReason, RequestErrorCode>> = {
  agentNotFound: "agent_not_found",
  providerUnavailable: "provider_unavailable",
  modelNotAllowed: "model_not_allowed",
  limitReached: "calls_limit_reached",
  overloaded: "overloaded",
  storeFailing: "database_unavailable",
  callerLeft: "unavailable",
  serverStopping: "server_stopping",
};

test("the client that places a call gets the reason of a refusal, specific to each", () => {
  for (const reason of Object.keys(CODES) as RefusalReason[]) {
    const { code, message } = placingRefused(new CallRefusedError(reason, `since ${reason}`));
    assert.deepEqual([code, message], [CODES[reason], `since ${reason}`]);
  }
});

test("what the telephony vendor refuses is the order's fault where it says so, and its own otherwise", () => {
  const told = (error: unknown) => {
    const log = new RecordingLogger();
    const failure = placingFailed(error, log);
    assert.ok(failure instanceof RequestError);
    assert.deepEqual([failure.cause, log.ofLevel("warn").length], [error, 1]);
    return [failure.code, failure.message];
  };
  const busy = ["telephony_unavailable", "the telephony vendor does not take calls now"];
  assert.deepEqual(told(new TelephonyError("twilio", 400, 21211)), [
    "call_rejected",
    "the telephony vendor refused the call with its error 21211",
  ]);
  assert.deepEqual(told(new TelephonyError("twilio", 401, 20003)), [
    "telephony_unavailable",
    "the telephony vendor refused the call with its error 20003",
  ]);
  assert.deepEqual(told(new TelephonyError("twilio", 400, undefined)), busy);
  assert.deepEqual(told(new TelephonyError("twilio", 503, 20500)), busy);
  assert.deepEqual(told(new VendorError("twilio", "timeout", "no answer")), busy);
  const mistake = new TypeError("a mistake");
  assert.equal(placingFailed(mistake, new RecordingLogger()), mistake);
});

test("an order whose answer is lost or unclear may have been placed; one that was refused, or never reached the vendor, was not", () => {
  const timeout = (code: string) =>
    connectionFault("twilio", Object.assign(new Error(code), { code }));
  for (const [error, may] of [
    [new VendorError("twilio", "timeout", "no answer"), true],
    [new VendorError("twilio", "disconnected", "connection failed"), true],
    [timeout("ECONNRESET"), true],
    [timeout("UND_ERR_CONNECT_TIMEOUT"), false],
    [timeout("ECONNREFUSED"), false],
    [new TelephonyError("twilio", 408, undefined), false],
    [new VendorError("twilio", "badAnswer", "no sense"), true],
    [new TelephonyError("twilio", 502, undefined), true],
    [new TelephonyError("twilio", 503, 20_503), false],
    [new TypeError("a mistake"), false],
  ] as const) {
    assert.equal(isOutcomeUnknown(error), may, String(error));
  }
});

test("a client that has to wait for a slot, or for the vendor, gets the delay; one with an invalid order does not", () => {
  const waitsSec = (failure: unknown) =>
    failure instanceof RequestError ? failure.retryAfterSec : NaN;
  assert.equal(waitsSec(placingRefused(new CallRefusedError("limitReached", "2 calls"))), 10);
  const log = new RecordingLogger();
  const told = (code: number, status: number) =>
    waitsSec(placingFailed(new TelephonyError("twilio", status, code), log));
  assert.deepEqual([told(20_500, 503), told(21_211, 400)], [10, undefined]);
});
