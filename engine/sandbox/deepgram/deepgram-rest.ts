import { randomUUID } from "node:crypto";
import type { Exchange } from "../exchange.js";
import { takeFault } from "../faults.js";
import { isGoodKey, type SandboxContext } from "../simulator.js";
import { grantedToken, keyDetails, models, PROJECT_ID, project } from "./deepgram-account.js";
import { HANDSHAKE_FAULTS, keyOf, type Refusal, refusalOfFault } from "./deepgram-handshake.js";
import { transcribe } from "./prerecorded.js";

/** Deepgram over plain HTTP: recordings, and what its SDKs ask about the account. */
export async function answerRest(context: SandboxContext, exchange: Exchange): Promise<void> {
  const { journal } = context;
  const requestId = randomUUID();
  const request = journal.nextRequest();
  exchange.whenAborted(() => journal.record("deepgram", "aborted", request));
  journal.record("deepgram", "request", request);
  const fault = takeFault(context.faults, "deepgram", HANDSHAKE_FAULTS);
  if (fault === "stallHandshake") await exchange.stall();
  const isKeyGood = isGoodKey(context, keyOf(exchange.request));
  const refusal = refusalOfFault(isKeyGood ? fault : "unauthorized");
  const answer = refusal ?? (await answerOf(exchange, requestId));
  if (isRefusal(answer)) {
    refuse(exchange, answer, requestId);
    journal.record("deepgram", "fault", request, String(answer.status));
  } else {
    exchange.answerJson(200, answer, { "dg-request-id": requestId });
    journal.record("deepgram", "lastByte", request);
  }
}

async function answerOf(exchange: Exchange, requestId: string): Promise<object> {
  const { pathname } = exchange.url;
  switch (`${exchange.request.method} ${pathname}`) {
    case "POST /v1/listen":
      return transcribe(exchange, requestId);
    case "GET /v1/projects":
      return { projects: [project()] };
    case `GET /v1/projects/${PROJECT_ID}`:
      return project();
    case "GET /v1/auth/token":
      return keyDetails();
    case "POST /v1/auth/grant":
      return grantedToken();
    case "GET /v1/models":
    case `GET /v1/projects/${PROJECT_ID}/models`:
      return models();
    default:
      return notFound(pathname);
  }
}

function notFound(pathname: string): Refusal {
  return pathname.startsWith("/v1/projects/")
    ? { status: 404, code: "PROJECT_NOT_FOUND", message: "Project not found." }
    : { status: 404, code: "NOT_FOUND", message: "Not found." };
}

function isRefusal(answer: object): answer is Refusal {
  return "status" in answer && "code" in answer;
}

function refuse(exchange: Exchange, { status, code, message }: Refusal, requestId: string): void {
  const headers = { "dg-request-id": requestId, "dg-error": message };
  const retry = status === 429 ? { "retry-after": "1" } : {};
  const body = { err_code: code, err_msg: message, request_id: requestId };
  exchange.answerJson(status, body, { ...headers, ...retry });
}
