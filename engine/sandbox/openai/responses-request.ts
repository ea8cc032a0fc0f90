import * as v from "valibot";
import {
  type ChatMessage,
  type OfferedTool,
  ToolParameters,
} from "../language-model/simulated-language-model.js";
import { type ApiError, badRequest } from "./api-error.js";
import { MessageContent } from "./chat-completions-request.js";
import { rulesOf } from "./model-rules.js";

/** The vendor accepts no lower limit. */
const OUTPUT_TOKENS_MIN = 16;

const Message = v.pipe(
  v.object({
    type: v.optional(v.literal("message")),
    role: v.picklist(["system", "developer", "user", "assistant"]),
    content: MessageContent,
  }),
  v.transform(({ role, content }) => ({ type: "message" as const, role, content })),
);

const FunctionCall = v.object({
  type: v.literal("function_call"),
  call_id: v.string(),
  name: v.string(),
  arguments: v.string(),
});

const FunctionCallOutput = v.object({
  type: v.literal("function_call_output"),
  call_id: v.string(),
  output: MessageContent,
});

/** Returned reasoning of the model: the sandbox's has none. */
const Reasoning = v.object({ type: v.literal("reasoning") });

const ConversationItem = v.union([FunctionCall, FunctionCallOutput, Reasoning, Message]);
export type ConversationItem = v.InferOutput<typeof ConversationItem>;

const ItemReference = v.pipe(
  v.object({ type: v.nullish(v.literal("item_reference")), id: v.string() }),
  v.transform(({ id }) => ({ type: "item_reference" as const, id })),
);

const Tool = v.looseObject({
  type: v.string(),
  name: v.optional(v.string()),
  description: v.optional(v.nullable(v.string())),
  parameters: v.optional(v.nullable(ToolParameters)),
});

export const ResponsesRequest = v.looseObject({
  model: v.pipe(v.string(), v.minLength(1)),
  input: v.union([v.string(), v.array(v.union([ConversationItem, ItemReference]))]),
  instructions: v.optional(v.nullable(v.string())),
  previous_response_id: v.optional(v.nullable(v.string())),
  stream: v.optional(v.nullable(v.boolean())),
  store: v.optional(v.nullable(v.boolean())),
  tools: v.optional(v.nullable(v.array(Tool))),
  temperature: v.optional(v.nullable(v.pipe(v.number(), v.minValue(0), v.maxValue(2)))),
  reasoning: v.optional(v.nullable(v.looseObject({ effort: v.optional(v.nullable(v.string())) }))),
  max_output_tokens: v.optional(
    v.nullable(v.pipe(v.number(), v.integer(), v.minValue(OUTPUT_TOKENS_MIN))),
  ),
});
export type ResponsesRequest = v.InferOutput<typeof ResponsesRequest>;

/** Why a request whose references are resolved is refused. */
export function responsesRefusal(
  { model, temperature, reasoning }: ResponsesRequest,
  items: readonly ConversationItem[],
  isStrict: boolean,
): ApiError | undefined {
  const rules = rulesOf(model, isStrict);
  const asked = reasoning?.effort;
  const efforts = rules?.efforts;
  if (rules !== undefined && asked != null && efforts?.includes(asked) !== true) {
    const taken = (efforts ?? []).map((each) => `'${each}'`).join(", ");
    const message =
      efforts === undefined
        ? "Unsupported parameter: 'reasoning.effort' is not supported with this model."
        : `Unsupported value: '${asked}' is not supported with the '${model}' model. Supported values are: ${taken}.`;
    return badRequest(
      message,
      "reasoning.effort",
      efforts === undefined ? null : "unsupported_value",
    );
  }
  const effort = asked ?? rules?.unasked;
  const isQuiet = rules?.temperature === "oneWhileThinking" && effort === "none";
  if (rules !== undefined && rules.temperature !== "any" && !isQuiet && temperature != null) {
    const message = "Unsupported parameter: 'temperature' is not supported with this model.";
    return badRequest(message, "temperature", null);
  }
  const calls = new Set(items.filter((item) => item.type === "function_call").map(callIdOf));
  for (const item of items) {
    if (item.type === "function_call_output" && !calls.delete(callIdOf(item))) {
      const message = `No tool call found for function call output with call_id ${callIdOf(item)}.`;
      return badRequest(message, "input", null);
    }
  }
  const [waiting] = calls;
  if (waiting === undefined) return undefined;
  return badRequest(`No tool output found for function call ${waiting}.`, "input", null);
}

export function conversationOf(
  instructions: string | null | undefined,
  items: readonly ConversationItem[],
): readonly ChatMessage[] {
  const system = instructions == null ? [] : [{ role: "system", content: instructions }];
  return [...system, ...items.flatMap(messagesOf)];
}

export function offeredTools({ tools }: ResponsesRequest): readonly OfferedTool[] {
  return (tools ?? []).flatMap(({ type, name, parameters }) =>
    type !== "function" || name === undefined
      ? []
      : [{ name, parameters: parameters ?? undefined }],
  );
}

function messagesOf(item: ConversationItem): readonly ChatMessage[] {
  switch (item.type) {
    case "function_call":
      return [{ role: "assistant", content: "" }];
    case "function_call_output":
      return [{ role: "tool", content: item.output }];
    case "reasoning":
      return [];
    case "message":
      return [{ role: item.role, content: item.content }];
  }
}

function callIdOf(item: { readonly call_id: string }): string {
  return item.call_id;
}
