import * as v from "valibot";
import { type ChatFault, takeFault } from "../faults.js";
import { composeReply, streamReply } from "../language-model/reply-stream.js";
import { badRequest, refusalOf, refuse } from "./api-error.js";
import type { ApiRequest } from "./api-request.js";
import { chatDialect } from "./chat-completions-dialect.js";
import { ChatCompletionsRequest, groqRefusal, openAiRefusal } from "./chat-completions-request.js";
import { geminiRefusal, thoughtTokensOf } from "./gemini-thoughts.js";
import { mistralRefusal } from "./mistral-rules.js";
import {
  goneRefusal,
  groqModelRefusal,
  modelRefusal,
  rulesOf,
  signatureRefusal,
  signed,
  strangeFieldRefusal,
} from "./model-rules.js";
import { answerWhole } from "./whole-answer.js";

/** `POST /chat/completions` as OpenAI and Groq speak it, each with its own limits, chunks and usage. */
export async function answerChatCompletion(request: ApiRequest): Promise<void> {
  const { context, vendor, exchange, id, receivedNs } = request;
  const parsed = v.safeParse(ChatCompletionsRequest, await exchange.readJson());
  const said = parsed.success ? parsed.output.messages.at(-1)?.content : undefined;
  context.journal.record(vendor, "request", id, said, receivedNs);
  const fault = takeFault(context.faults, vendor);
  const refusal = refusalOf(request, fault);
  if (refusal !== undefined) refuse(request, refusal);
  else if (parsed.success) await answer(request, parsed.output, fault);
  else {
    const issue = parsed.issues[0];
    refuse(request, badRequest(issue.message, v.getDotPath(issue) ?? "body", null));
  }
}

async function answer(
  request: ApiRequest,
  body: ChatCompletionsRequest,
  fault: ChatFault | undefined,
): Promise<void> {
  const { context, vendor, exchange, id } = request;
  const isOpenAi = vendor === "openai" && context.isOpen !== true;
  const isStrict = isOpenAi && context.faults.openai.strictModels === true;
  const rules = vendor === "groq" ? undefined : rulesOf(body.model, isStrict);
  const refusal =
    goneRefusal(vendor, body.model) ??
    (vendor === "groq"
      ? (groqRefusal(body) ?? groqModelRefusal(body) ?? strangeFieldRefusal(body, "groq"))
      : (openAiRefusal(body) ??
        (rules && modelRefusal(body, rules)) ??
        signatureRefusal(body, rules) ??
        geminiRefusal(body) ??
        mistralRefusal(body) ??
        (isOpenAi ? strangeFieldRefusal(body, "openai") : undefined)));
  if (refusal !== undefined) {
    refuse(request, refusal);
    return;
  }
  const offered = body.tools?.map((tool) => tool.function) ?? [];
  const limit = body.max_completion_tokens ?? body.max_tokens ?? undefined;
  const tokensMax = limit === undefined ? undefined : Math.max(0, limit - thoughtTokensOf(body));
  const reply = composeReply(body.messages, offered, tokensMax, fault);
  const dialect = chatDialect(vendor, body, id, signed(rules, id));
  if (body.stream === true) {
    await streamReply(context, vendor, id, exchange, dialect, reply, fault);
    return;
  }
  await answerWhole(request, fault, dialect.whole(reply), dialect.headers);
}
