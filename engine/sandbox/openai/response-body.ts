import type { Reply } from "../language-model/reply-stream.js";
import type { ResponsesRequest } from "./responses-request.js";

export interface MessageItem {
  readonly type: "message";
  readonly id: string;
  readonly status: "completed" | "incomplete";
  readonly role: "assistant";
  readonly content: readonly TextPart[];
}

export interface TextPart {
  readonly type: "output_text";
  readonly text: string;
  readonly annotations: readonly never[];
  readonly logprobs: readonly never[];
}

export interface FunctionCallItem {
  readonly type: "function_call";
  readonly id: string;
  readonly status: "completed";
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
}

export type OutputItem = MessageItem | FunctionCallItem;

/** The model's output: its words, then its calls. Empty if it stays silent. */
export function outputItems(reply: Reply, id: number): readonly OutputItem[] {
  const calls = reply.toolCalls.map(
    ({ name, argumentsJson }, position): FunctionCallItem => ({
      type: "function_call",
      id: `fc_${id}_${position}`,
      status: "completed",
      call_id: `call_${id}_${position}`,
      name,
      arguments: argumentsJson,
    }),
  );
  if (reply.tokens.length === 0) return calls;
  const message: MessageItem = {
    type: "message",
    id: `msg_${id}`,
    status: reply.finishReason === "length" ? "incomplete" : "completed",
    role: "assistant",
    content: [textPart(reply.tokens.join(""))],
  };
  return [message, ...calls];
}

export function textPart(text: string): TextPart {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

export function responseId(id: number): string {
  return `resp_${id}`;
}

/** The response object before anything is generated. */
export function startedResponse(request: ResponsesRequest, id: number): object {
  return {
    id: responseId(id),
    object: "response",
    created_at: Math.floor(Date.now() / 1000),
    status: "in_progress",
    background: false,
    error: null,
    incomplete_details: null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    model: request.model,
    output: [],
    parallel_tool_calls: true,
    previous_response_id: request.previous_response_id ?? null,
    reasoning: { effort: null, summary: null },
    service_tier: "default",
    store: request.store ?? true,
    temperature: request.temperature ?? 1,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: request.tools ?? [],
    top_p: 1,
    truncation: "disabled",
    usage: null,
    user: null,
    metadata: {},
  };
}

export function finishedResponse(started: object, reply: Reply, id: number): object {
  const isCut = reply.finishReason === "length";
  const { promptTokens, completionTokens } = reply;
  return {
    ...started,
    status: isCut ? "incomplete" : "completed",
    incomplete_details: isCut ? { reason: "max_output_tokens" } : null,
    output: outputItems(reply, id),
    usage: {
      input_tokens: promptTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: completionTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: promptTokens + completionTokens,
    },
  };
}
