import * as v from "valibot";
import { type ChatFault, takeFault } from "../faults.js";
import { composeReply, streamReply } from "../language-model/reply-stream.js";
import { badRequest, notFound, refusalOf, refusalOfLookup, refuse } from "./api-error.js";
import type { ApiRequest } from "./api-request.js";
import { outputItems, responseId } from "./response-body.js";
import { ResponsesDialect } from "./responses-dialect.js";
import {
  conversationOf,
  offeredTools,
  ResponsesRequest,
  responsesRefusal,
} from "./responses-request.js";
import type { StoredResponses } from "./stored-responses.js";
import { answerWhole } from "./whole-answer.js";

/** `POST /responses` of OpenAI, which remembers its answers unless `store` is false. */
export async function answerResponse(request: ApiRequest, stored: StoredResponses): Promise<void> {
  const { context, vendor, exchange, id, receivedNs } = request;
  const parsed = v.safeParse(ResponsesRequest, await exchange.readJson());
  const said = parsed.success ? lastWords(parsed.output) : undefined;
  context.journal.record(vendor, "request", id, said, receivedNs);
  const fault = takeFault(context.faults, vendor);
  const refusal = refusalOf(request, fault);
  if (refusal !== undefined) refuse(request, refusal);
  else if (parsed.success) await answer(request, stored, parsed.output, fault);
  else {
    const issue = parsed.issues[0];
    refuse(request, badRequest(issue.message, v.getDotPath(issue) ?? "body", null));
  }
}

/** `GET /responses/{id}`. */
export function answerStoredResponse(
  request: ApiRequest,
  stored: StoredResponses,
  responseName: string,
): void {
  const refusal = refusalOfLookup(request);
  const body = stored.bodyOf(responseName);
  if (refusal !== undefined) refuse(request, refusal);
  else if (body !== undefined) request.exchange.answerJson(200, body);
  else refuse(request, notFound(`Response with id '${responseName}' not found.`, "id", null));
}

async function answer(
  request: ApiRequest,
  stored: StoredResponses,
  body: ResponsesRequest,
  fault: ChatFault | undefined,
): Promise<void> {
  const { context, vendor, exchange, id } = request;
  const items = stored.resolve(body);
  if ("status" in items) {
    refuse(request, items);
    return;
  }
  const isStrict = vendor === "openai" && context.faults.openai.strictModels === true;
  const refusal = responsesRefusal(body, items, isStrict);
  if (refusal !== undefined) {
    refuse(request, refusal);
    return;
  }
  const messages = conversationOf(body.instructions, items);
  const tokensMax = body.max_output_tokens ?? undefined;
  const reply = composeReply(messages, offeredTools(body), tokensMax, fault);
  const dialect = new ResponsesDialect(body, reply, id);
  if (body.store !== false) {
    stored.add(responseId(id), dialect.finished, items, outputItems(reply, id));
  }
  if (body.stream === true) {
    await streamReply(context, vendor, id, exchange, dialect, reply, fault);
  } else await answerWhole(request, fault, dialect.finished, dialect.headers);
}

function lastWords({ input }: ResponsesRequest): string | undefined {
  if (typeof input === "string") return input;
  const last = input.at(-1);
  return last?.type === "message" ? last.content : undefined;
}
