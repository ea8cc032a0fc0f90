import { LRUCache } from "lru-cache";
import * as v from "valibot";
import { sparseCache } from "../../sparse-cache.js";
import { type ChatFault, takeFault } from "../faults.js";
import {
  composeReply,
  type Reply,
  type SimulatedToolCall,
  type StreamDialect,
  streamReply,
} from "../language-model/reply-stream.js";
import {
  type ApiError,
  badRequest,
  notFound,
  refusalOf,
  refusalOfLookup,
  refuse,
} from "./api-error.js";
import type { ApiRequest } from "./api-request.js";
import {
  type FunctionCallItem,
  finishedResponse,
  type MessageItem,
  type OutputItem,
  outputItems,
  responseId,
  startedResponse,
  textPart,
} from "./response-body.js";
import {
  type ConversationItem,
  conversationOf,
  offeredTools,
  ResponsesRequest,
  responsesRefusal,
} from "./responses-request.js";
import { answerWhole } from "./whole-answer.js";

/** The oldest are dropped, which the vendor does after thirty days. */
const RESPONSES_MAX = 1000;
const ITEMS_MAX = 10_000;

interface StoredResponse {
  readonly body: object;
  /** The whole conversation, including the response. */
  readonly items: readonly ConversationItem[];
}

/** Responses that the vendor stores, so that a later request can refer to them instead of repeating them. */
export class StoredResponses {
  readonly #responses = new LRUCache<string, StoredResponse>({ max: RESPONSES_MAX });
  readonly #items = sparseCache<string, ConversationItem>(ITEMS_MAX);

  add(
    id: string,
    body: object,
    input: readonly ConversationItem[],
    output: readonly OutputItem[],
  ): void {
    this.#responses.set(id, { body, items: [...input, ...output.map(previousMessages)] });
    for (const item of output) this.#items.set(item.id, previousMessages(item));
  }

  bodyOf(id: string): object | undefined {
    return this.#responses.get(id)?.body;
  }

  /** The whole conversation of a request, with everything that it refers to; or why that cannot be found. */
  resolve({
    input,
    previous_response_id: previousId,
  }: ResponsesRequest): readonly ConversationItem[] | ApiError {
    const previous = previousId == null ? undefined : this.#responses.get(previousId);
    if (previousId != null && previous === undefined) {
      const message = `Previous response with id '${previousId}' not found.`;
      return badRequest(message, "previous_response_id", "previous_response_not_found");
    }
    const before = previous?.items ?? [];
    if (typeof input === "string")
      return [...before, { type: "message", role: "user", content: input }];
    const resolved: ConversationItem[] = [...before];
    for (const item of input) {
      const whole = item.type === "item_reference" ? this.#items.get(item.id) : item;
      if (whole === undefined) return notFound("Item not found.", "input", null);
      resolved.push(whole);
    }
    return resolved;
  }
}

/** A response as it appears in the conversation that follows. */
function previousMessages(item: OutputItem): ConversationItem {
  if (item.type === "function_call") return item;
  const content = item.content.map(({ text }) => text).join("");
  return { type: "message", role: item.role, content };
}

/** Arguments are sent in pieces of about this length. */
const ARGUMENTS_PIECE_CHARACTERS = 6;

/** The named and numbered events of one streamed response; each method is called once, in the order of the stream. */
export class ResponsesDialect implements StreamDialect {
  readonly contentType = "text/event-stream; charset=utf-8";
  readonly headers: Readonly<Record<string, string>>;
  /** The whole response, as it is also sent without `stream`. */
  readonly finished: object;
  readonly #started: object;
  readonly #message: MessageItem | undefined;
  readonly #calls: readonly FunctionCallItem[];
  readonly #isCut: boolean;
  #sequence = 0;
  #isMessageOpen = false;

  constructor(request: ResponsesRequest, reply: Reply, id: number) {
    const output = outputItems(reply, id);
    this.headers = { "x-request-id": `req_${id}` };
    this.#started = startedResponse(request, id);
    this.finished = finishedResponse(this.#started, reply, id);
    this.#message = output.find((item) => item.type === "message");
    this.#calls = output.filter((item) => item.type === "function_call");
    this.#isCut = reply.finishReason === "length";
  }

  opening(): string {
    const response = this.#started;
    return this.#event("created", { response }) + this.#event("in_progress", { response });
  }

  token(text: string): string {
    const delta = { ...this.#textPlace(), delta: text, logprobs: [], obfuscation: "aB3xY" };
    const opening = this.#isMessageOpen ? "" : this.#openMessage();
    return opening + this.#event("output_text.delta", delta);
  }

  toolCall(_call: SimulatedToolCall, position: number): readonly string[] {
    const item = this.#calls[position];
    if (item === undefined) return [];
    const index = (this.#message === undefined ? 0 : 1) + position;
    const place = { item_id: item.id, output_index: index };
    const begun = { ...item, status: "in_progress", arguments: "" };
    const pieces = [
      this.#closeMessage() + this.#event("output_item.added", { output_index: index, item: begun }),
    ];
    for (let at = 0; at < item.arguments.length; at += ARGUMENTS_PIECE_CHARACTERS) {
      const delta = item.arguments.slice(at, at + ARGUMENTS_PIECE_CHARACTERS);
      pieces.push(this.#event("function_call_arguments.delta", { ...place, delta }));
    }
    const { name, arguments: whole } = item;
    pieces.push(
      this.#event("function_call_arguments.done", { ...place, name, arguments: whole }) +
        this.#event("output_item.done", { output_index: index, item }),
    );
    return pieces;
  }

  closing(_reply: Reply, isWhole: boolean): string {
    const last = this.#closeMessage();
    if (!isWhole) return last;
    const kind = this.#isCut ? "incomplete" : "completed";
    return last + this.#event(kind, { response: this.finished });
  }

  error(): string {
    const message = "The sandbox was told to fail here.";
    const error = { type: "server_error", code: "server_error", message, param: null };
    return this.#named("error", { error });
  }

  filler(): string {
    return ": keep-alive\r\n\r\n";
  }

  #openMessage(): string {
    this.#isMessageOpen = true;
    const item = { ...this.#message, status: "in_progress", content: [] };
    return (
      this.#event("output_item.added", { output_index: 0, item }) +
      this.#event("content_part.added", { ...this.#textPlace(), part: textPart("") })
    );
  }

  #closeMessage(): string {
    const [part] = this.#message?.content ?? [];
    if (!this.#isMessageOpen || part === undefined) return "";
    this.#isMessageOpen = false;
    const place = this.#textPlace();
    return (
      this.#event("output_text.done", { ...place, text: part.text, logprobs: [] }) +
      this.#event("content_part.done", { ...place, part }) +
      this.#event("output_item.done", { output_index: 0, item: this.#message })
    );
  }

  #textPlace(): object {
    return { item_id: this.#message?.id, output_index: 0, content_index: 0 };
  }

  #event(name: string, body: object): string {
    return this.#named(`response.${name}`, body);
  }

  #named(type: string, body: object): string {
    const sequence_number = this.#sequence;
    this.#sequence += 1;
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...body })}\n\n`;
  }
}

/** `POST /responses` of OpenAI, which stores its responses unless `store` is false. */
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
