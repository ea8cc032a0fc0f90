import * as v from "valibot";
import type { Exchange } from "../exchange.js";
import { type SpeechFault, takeFault } from "../faults.js";
import { isGoodKey, type SandboxContext } from "../simulator.js";

export interface Refusal {
  readonly http: number;
  readonly status: string;
  readonly message: string;
}

const UNAUTHORIZED: Refusal = { http: 401, status: "invalid_api_key", message: "Invalid API key" };
const FAULT_REFUSALS: Partial<Record<SpeechFault, Refusal>> = {
  unauthorized: UNAUTHORIZED,
  badRequest: { http: 400, status: "unsupported_model", message: "The model cannot do this." },
  rateLimited: {
    http: 429,
    status: "too_many_concurrent_requests",
    message: "Too many concurrent requests.",
  },
  quotaExceeded: { http: 401, status: "quota_exceeded", message: "This exceeds your quota." },
  serverError: { http: 500, status: "internal_error", message: "Internal error." },
};

/** The vendor has no voice with the id that was given. */
export const VOICE_NOT_FOUND: Refusal = {
  http: 404,
  status: "voice_not_found",
  message: "A voice with this id was not found.",
};

/** Why a request is refused immediately: its key, or the fault that was taken for it. */
export function refusalOf(
  context: SandboxContext,
  exchange: Exchange,
  fault: SpeechFault | undefined,
): Refusal | undefined {
  if (!isGoodKey(context, exchange.header("xi-api-key"))) return UNAUTHORIZED;
  return fault === undefined ? undefined : FAULT_REFUSALS[fault];
}

/** As `refusalOf`, for requests with an immediate response: other faults are not counted. */
export function refusalOfLookup(context: SandboxContext, exchange: Exchange): Refusal | undefined {
  const among = ["unauthorized", "rateLimited", "serverError"] as const;
  return refusalOf(context, exchange, takeFault(context.faults, "elevenlabs", among));
}

export function refuse(exchange: Exchange, { http, status, message }: Refusal): void {
  exchange.answerJson(http, { detail: { status, message } });
}

export function refuseBody(exchange: Exchange, issue: v.BaseIssue<unknown>): void {
  const where = (v.getDotPath(issue) ?? "").split(".");
  const detail = [{ loc: ["body", ...where], msg: issue.message, type: "value_error" }];
  exchange.answerJson(422, { detail });
}
