import * as v from "valibot";
import type { JsonObject } from "../../../storage/records.js";
import type {
  ChatMessage,
  CompletionRequest,
  OpaqueToolData,
  ToolCall,
  ToolDefinition,
} from "../contracts.js";
import { tryParse } from "../vendor-json.js";

export interface MessageTerms {
  /** The receiver of the messages: it gets back only its own opaque data. */
  readonly origin: string;
  /** Converts a tool call id to one that the vendor accepts; omitted if it accepts any. */
  readonly callIdOf?: ((id: string) => string) | undefined;
  readonly signsToolCalls?: true | undefined;
}

/** Google documents this signature for tool calls from another vendor's model; it is not validated. */
const UNSIGNED: JsonObject = {
  extra_content: { google: { thought_signature: "skip_thought_signature_validator" } },
};

/** The messages in OpenAI's protocol. */
export function openAiMessages(
  messages: readonly ChatMessage[],
  terms: MessageTerms,
): readonly object[] {
  const { callIdOf = (id: string) => id } = terms;
  return messages.map((message) => {
    if (message.role === "tool") {
      const tool_call_id = callIdOf(message.toolCallId);
      return { role: "tool", tool_call_id, content: message.content };
    }
    if (message.role !== "assistant" || message.toolCalls === undefined) return message;
    const own = message.toolCalls.map((call) => vendorData(call, terms));
    const isSigned = own.some((data) => data !== undefined);
    return {
      ...Object.assign({}, ...own.map((data) => data?.ofMessage ?? {})),
      role: "assistant",
      content: message.content === "" ? null : message.content,
      tool_calls: message.toolCalls.map((call, position) => ({
        ...own[position]?.ofCall,
        // Only the first of several calls is signed.
        ...(terms.signsToolCalls === true && !isSigned && position === 0 ? UNSIGNED : {}),
        id: callIdOf(call.id),
        type: "function",
        function: {
          ...own[position]?.ofFunction,
          name: call.name,
          arguments: JSON.stringify(argumentsOf(call)),
        },
      })),
    };
  });
}

function vendorData({ opaque }: ToolCall, { origin }: MessageTerms): OpaqueToolData | undefined {
  return opaque?.origin === origin ? opaque : undefined;
}

/** The messages in Ollama's format: arguments are objects, and a result names its tool. */
export function ollamaMessages(
  messages: readonly ChatMessage[],
  terms: MessageTerms,
): readonly object[] {
  return messages.map((message, position) => {
    if (message.role === "tool") {
      return {
        role: "tool",
        tool_call_id: message.toolCallId,
        tool_name: toolNameOf(messages.slice(0, position), message.toolCallId),
        content: message.content,
      };
    }
    if (message.role !== "assistant" || message.toolCalls === undefined) return message;
    return {
      role: "assistant",
      content: message.content,
      tool_calls: message.toolCalls.map((call) => {
        const own = vendorData(call, terms);
        return {
          ...own?.ofCall,
          id: call.id,
          function: { ...own?.ofFunction, name: call.name, arguments: argumentsOf(call) },
        };
      }),
    };
  });
}

/** The part of a body that offers tools; empty if there are none. */
export function toolsOffered(tools: readonly ToolDefinition[] | undefined): {
  readonly tools?: readonly object[];
} {
  if (tools === undefined || tools.length === 0) return {};
  return { tools: tools.map((tool) => ({ type: "function", function: { ...tool } })) };
}

/** The request's size without settings, for an estimate of its tokens. */
export function promptCharsOf({ messages, tools = [] }: CompletionRequest): number {
  const offered = tools.length === 0 ? 0 : JSON.stringify(tools).length;
  return messages.reduce((sum, message) => sum + charsOf(message), offered);
}

function charsOf(message: ChatMessage): number {
  const calls = message.role === "assistant" ? (message.toolCalls ?? []) : [];
  return calls.reduce(
    (sum, { name, argumentsJson }) => sum + name.length + argumentsJson.length,
    message.content.length,
  );
}

/** A record's schema also accepts a list, and converts it to an object. */
const argumentsSchema = v.pipe(
  v.unknown(),
  v.check((given) => !Array.isArray(given)),
  v.record(v.string(), v.unknown()),
);

/** Servers refuse a conversation in which the model once wrote arguments that are not a JSON object. */
function argumentsOf({ argumentsJson }: ToolCall): JsonObject {
  return tryParse(argumentsSchema, argumentsJson)?.value ?? {};
}

/** Vendors may reuse ids, so the nearest call counts. */
function toolNameOf(before: readonly ChatMessage[], callId: string): string | undefined {
  for (const message of before.toReversed()) {
    if (message.role !== "assistant") continue;
    const call = message.toolCalls?.find(({ id }) => id === callId);
    if (call !== undefined) return call.name;
  }
  return undefined;
}
