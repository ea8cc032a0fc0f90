import type { Reply, SimulatedToolCall, StreamDialect } from "../language-model/reply-stream.js";
import {
  type FunctionCallItem,
  finishedResponse,
  type MessageItem,
  outputItems,
  startedResponse,
  textPart,
} from "./response-body.js";
import type { ResponsesRequest } from "./responses-request.js";

/** Arguments come in pieces of about this length. */
const ARGUMENTS_PIECE_CHARACTERS = 6;

/** The named and numbered events of one streamed response; each method is called once, in the order of the stream. */
export class ResponsesDialect implements StreamDialect {
  readonly contentType = "text/event-stream; charset=utf-8";
  readonly headers: Readonly<Record<string, string>>;
  /** The response as a whole, as it is also sent without `stream`. */
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
