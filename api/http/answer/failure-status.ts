import { Failure, type FailureKind } from "../../../engine/failure.js";
import type { Logger } from "../../../engine/log.js";
import { type Answer, type HeaderLine, jsonAnswer } from "./answer.js";
import { HttpRefusal } from "./http-refusal.js";

const STATUS_BY_KIND: Readonly<Record<FailureKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  notFound: 404,
  conflict: 409,
  rateLimited: 429,
  unavailable: 503,
};

/** After these statuses the client may still be sending a body, which the server does not read. */
const LEAVES_BODY: ReadonlySet<number> = new Set([400, 408, 413, 429, 503]);

/** Tells browsers and clients which of the two ways of authentication to try. */
const CHALLENGE: HeaderLine = ["www-authenticate", 'Bearer realm="api"'];

/**
 * The only place where what went wrong becomes a status. Refusals are answered in their own words; anything else
 * is a fault of ours: the log gets it whole, the client only the request id that finds it there.
 */
export function answerToError(error: unknown, requestId: string, logger: Logger): Answer {
  if (error instanceof Failure) return answerToFailure(error);
  if (error instanceof HttpRefusal) return answerToRefusal(error);
  if (error instanceof Error && error.name === "StorageOverloaded") {
    logger.warn({ requestId }, "request refused: storage is overloaded");
    return jsonAnswer(503, { error: "the service is busy, try again" }, [["retry-after", "1"]]);
  }
  if (error instanceof Error && error.name === "StorageUnwritable") {
    logger.warn({ requestId, error }, "request refused: nothing can be stored");
    const words = { error: "nothing can be stored for the moment, try again" };
    return jsonAnswer(503, words, [["retry-after", "5"]]);
  }
  logger.error({ requestId, error }, "request failed");
  return jsonAnswer(500, { error: "internal error", requestId });
}

function answerToRefusal({ status, message, headers }: HttpRefusal): Answer {
  const answer = jsonAnswer(status, { error: message }, headers);
  return LEAVES_BODY.has(status) ? { ...answer, closesConnection: true } : answer;
}

function answerToFailure(failure: Failure): Answer {
  const body = {
    ...failure.extra,
    error: failure.message,
    ...(failure.details === undefined ? {} : { details: failure.details }),
  };
  const headers: HeaderLine[] = [];
  if (failure.kind === "unauthenticated") headers.push(CHALLENGE);
  if (failure.retryAfterSec !== undefined) {
    headers.push(["retry-after", String(Math.max(1, Math.ceil(failure.retryAfterSec)))]);
  }
  return jsonAnswer(STATUS_BY_KIND[failure.kind], body, headers);
}
