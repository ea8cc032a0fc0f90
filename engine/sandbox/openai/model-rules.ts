import { type ApiError, badRequest, notFound } from "./api-error.js";
import type { ChatCompletionsRequest } from "./chat-completions-request.js";

/**
 * What the real models refuse, from users' reports and not from the product's own code: a simulator that learned
 * its rules from the client would never contradict it.
 */
export interface ModelRules {
  readonly maker: "openai" | "google" | "anthropic";
  readonly temperature: "any" | "one" | "oneWhileThinking" | "none";
  /** Undefined: it has no effort parameter. */
  readonly efforts?: readonly string[];
  /** The default effort. */
  readonly unasked?: string;
  readonly refusesMaxTokens?: true;
  readonly refusesToolsWhileThinking?: true;
  readonly wantsSignatures?: true;
}

const OLD: ModelRules = { maker: "openai", temperature: "any" };
const GPT_5: ModelRules = {
  maker: "openai",
  temperature: "one",
  efforts: ["minimal", "low", "medium", "high"],
  unasked: "medium",
  refusesMaxTokens: true,
};
const O_SERIES: ModelRules = { ...GPT_5, efforts: ["low", "medium", "high"] };
const GPT_5_1: ModelRules = {
  ...GPT_5,
  temperature: "oneWhileThinking",
  efforts: ["none", "low", "medium", "high"],
  unasked: "none",
};
const GPT_5_2: ModelRules = {
  ...GPT_5_1,
  efforts: ["none", "low", "medium", "high", "xhigh"],
  refusesToolsWhileThinking: true,
};
const GPT_5_6: ModelRules = {
  ...GPT_5_2,
  efforts: ["none", "low", "medium", "high", "xhigh", "max"],
  unasked: "medium",
};
const GPT_6_2: ModelRules = {
  ...GPT_5,
  efforts: ["low", "medium", "high", "xhigh", "max"],
};
const GEMINI_3: ModelRules = {
  maker: "google",
  temperature: "any",
  efforts: ["minimal", "low", "medium", "high"],
  unasked: "medium",
  wantsSignatures: true,
};
const CLAUDE_5: ModelRules = { maker: "anthropic", temperature: "none" };

/** The first name that equals the model's, or its beginning up to a hyphen. */
const RULES: readonly (readonly [name: string, rules: ModelRules])[] = [
  ["gpt-5-chat", OLD],
  ["gpt-5-mini", GPT_5],
  ["gpt-5-nano", GPT_5],
  ["gpt-5", GPT_5],
  ["gpt-5.1", GPT_5_1],
  ["gpt-5.2", GPT_5_2],
  ["gpt-5.4", GPT_5_2],
  ["gpt-5.5", GPT_5_2],
  ["gpt-5.6", GPT_5_6],
  ["gpt-6", GPT_5_6],
  ["gpt-6.2", GPT_6_2],
  ["gpt-4o", OLD],
  ["gpt-4.1", OLD],
  ["o1", O_SERIES],
  ["o3", O_SERIES],
  ["o4", O_SERIES],
  ["gemini-3", GEMINI_3],
  ["gemini-3.1", GEMINI_3],
  ["gemini-3.5", GEMINI_3],
  ["gemini-3.6", GEMINI_3],
  ["gemini-3.7", GEMINI_3],
  ["gemini-flash-latest", GEMINI_3],
  ["gemini-pro-latest", GEMINI_3],
  ["claude-sonnet-5", CLAUDE_5],
  ["claude-haiku-5", CLAUDE_5],
  ["claude-opus-5", CLAUDE_5],
];

/** Undefined for an unknown model, unless it is strict: then it counts as one of OpenAI's newest. */
export function rulesOf(model: string, isStrict: boolean): ModelRules | undefined {
  const name = model.replace(/^models\//, "");
  const known = RULES.find(([each]) => name === each || name.startsWith(`${each}-`));
  return known?.[1] ?? (isStrict ? GPT_5_6 : undefined);
}

const GROQ_RETIRED: ReadonlySet<string> = new Set([
  "llama-3.1-8b-instant",
  "llama-3.3-70b-versatile",
]);

export function retiredModelRefusal(
  vendor: "openai" | "groq",
  model: string,
): ApiError | undefined {
  if (vendor !== "groq" || !GROQ_RETIRED.has(model)) return undefined;
  const message = `The model \`${model}\` does not exist or you do not have access to it.`;
  return notFound(message, "model", "model_not_found");
}

/** Groq's models by the reasoning parameters that they accept. */
export function groqModelRefusal(request: ChatCompletionsRequest): ApiError | undefined {
  const { model, reasoning_effort: effort, reasoning_format: format } = request;
  const isOss = model.includes("gpt-oss");
  const isQwen = model.includes("qwen");
  if (format != null && (isOss || model.includes("llama"))) {
    const message = "reasoning_format is not supported with this model";
    return { status: 400, message, type: "invalid_request_error", code: null };
  }
  const efforts = isOss ? ["low", "medium", "high"] : isQwen ? ["none", "default"] : undefined;
  if (effort == null || (!isOss && !isQwen && !model.includes("llama"))) return undefined;
  if (efforts?.includes(effort) === true) return undefined;
  const message =
    efforts === undefined
      ? "reasoning_effort is not supported with this model"
      : `reasoning_effort must be one of ${efforts.map((each) => `'${each}'`).join(", ")}`;
  return { status: 400, message, type: "invalid_request_error", code: null };
}

/** What OpenAI's, Google's and Anthropic's models refuse, by model. */
export function modelRefusal(
  request: ChatCompletionsRequest,
  rules: ModelRules,
): ApiError | undefined {
  const { model, temperature, tools, max_tokens } = request;
  if (rules.refusesMaxTokens === true && max_tokens != null) {
    const message =
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    return badRequest(message, "max_tokens", "unsupported_parameter");
  }
  const refusedEffort = effortRefusal(request, rules);
  if (refusedEffort !== undefined) return refusedEffort;
  const effort = request.reasoning_effort ?? rules.unasked;
  const thinks = effort !== undefined && effort !== "none";
  if (rules.refusesToolsWhileThinking === true && thinks && tools != null) {
    const message =
      `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. ` +
      "To use function tools, use /v1/responses or set reasoning_effort to 'none'.";
    return badRequest(message, "reasoning_effort", null);
  }
  if (temperature == null || rules.temperature === "any") return undefined;
  if (rules.temperature === "none") {
    const message = "`temperature` is deprecated for this model.";
    return { status: 400, message, type: "invalid_request_error", code: null };
  }
  if (temperature === 1 || (rules.temperature === "oneWhileThinking" && !thinks)) return undefined;
  const message = `Unsupported value: 'temperature' does not support ${temperature} with this model. Only the default (1) value is supported.`;
  return badRequest(message, "temperature", "unsupported_value");
}

function effortRefusal(
  { model, reasoning_effort: effort }: ChatCompletionsRequest,
  { maker, efforts }: ModelRules,
): ApiError | undefined {
  // Anthropic's compatible address ignores it.
  if (effort == null || maker === "anthropic") return undefined;
  if (efforts === undefined) {
    const message = "Unsupported parameter: 'reasoning_effort' is not supported with this model.";
    return badRequest(message, "reasoning_effort", "unsupported_parameter");
  }
  if (efforts.includes(effort)) return undefined;
  if (maker === "google") return googleError("Thinking can't be disabled for this model.");
  const taken = efforts.map((each) => `'${each}'`).join(", ");
  const message = `Unsupported value: 'reasoning_effort' does not support '${effort}' with '${model}'. Supported values are: ${taken}.`;
  return badRequest(message, "reasoning_effort", "unsupported_value");
}

/** A tool call of the newest turn that was returned without its data. */
export function signatureRefusal(
  { messages }: ChatCompletionsRequest,
  rules: ModelRules | undefined,
): ApiError | undefined {
  if (rules?.wantsSignatures !== true) return undefined;
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1);
  for (const { tool_calls } of turn) {
    const first = tool_calls?.[0];
    if (first === undefined || SIGNATURE.test(signatureOf(first) ?? "")) continue;
    return googleError(
      `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${first.function.name}\` , position 2. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`,
    );
  }
  return undefined;
}

/** The sandbox's own, and the one that Google accepts for calls of another vendor's model. */
const SIGNATURE = /^(?:sandbox-signature-.+|skip_thought_signature_validator)$/;

/** A model's data with the first of its calls. */
export function signed(rules: ModelRules | undefined, id: number): object {
  if (rules?.wantsSignatures !== true) return {};
  return { extra_content: { google: { thought_signature: `sandbox-signature-${id}` } } };
}

interface WireCall {
  readonly function: { readonly name: string };
  readonly extra_content?: unknown;
}

function signatureOf(call: WireCall): string | undefined {
  const { google } = Object(call.extra_content);
  const { thought_signature } = Object(google);
  return typeof thought_signature === "string" ? thought_signature : undefined;
}

/** Strict vendors refuse another vendor's field in a tool call. */
export function strangeFieldRefusal(
  { messages }: ChatCompletionsRequest,
  vendor: "openai" | "groq" | "mistral",
): ApiError | undefined {
  for (const [at, { tool_calls }] of messages.entries()) {
    for (const [place, call] of (tool_calls ?? []).entries()) {
      const strange = Object.keys(call).find((key) => !KNOWN_CALL_FIELDS.has(key));
      if (strange === undefined) continue;
      const path = `messages[${at}].tool_calls[${place}].${strange}`;
      if (vendor === "openai") {
        return badRequest(`Unknown parameter: '${path}'.`, path, "unknown_parameter");
      }
      if (vendor === "mistral") {
        return extraForbidden(["body", "messages", at, "assistant", "tool_calls", place, strange]);
      }
      const message = `'messages.${at}' : for 'role:assistant' the following must be satisfied[('messages.${at}.tool_calls.${place}' : property '${strange}' is unsupported)]`;
      return { status: 400, message, type: "invalid_request_error", code: null };
    }
  }
  return undefined;
}

const KNOWN_CALL_FIELDS: ReadonlySet<string> = new Set(["id", "type", "function", "index"]);

export function googleError(message: string): ApiError {
  return { status: 400, message, type: "", code: null, shape: "google" };
}

export function extraForbidden(loc: readonly (string | number)[]): ApiError {
  const message = "Extra inputs are not permitted";
  return { status: 422, message, type: "extra_forbidden", code: null, shape: "mistral", loc };
}

const MISTRAL_MODEL = /^(?:mistral|ministral|magistral|codestral)-/;
/** It refuses unknown fields, such as OpenAI's newer name of the limit. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "stream",
  "temperature",
  "top_p",
  "max_tokens",
  "stop",
  "n",
  "random_seed",
  "response_format",
  "reasoning_effort",
]);
const CALL_ID = /^[a-zA-Z0-9]{9}$/;

export function isMistral({ model }: ChatCompletionsRequest): boolean {
  return MISTRAL_MODEL.test(model);
}

/** Mistral accepts only tool call ids in its own format; its errors have no `error` object. */
export function mistralRefusal(request: ChatCompletionsRequest): ApiError | undefined {
  if (!isMistral(request)) return undefined;
  const unknown = Object.keys(request).find((key) => !KNOWN_FIELDS.has(key));
  if (unknown !== undefined) return extraForbidden(["body", unknown]);
  const strange = strangeFieldRefusal(request, "mistral");
  if (strange !== undefined) return strange;
  const ids = request.messages.flatMap(({ tool_calls, tool_call_id }) => [
    ...(tool_calls ?? []).map(({ id }) => id),
    ...(tool_call_id === undefined ? [] : [tool_call_id]),
  ]);
  const odd = ids.find((id) => !CALL_ID.test(id));
  if (odd === undefined) return undefined;
  const message = `Tool call id was ${odd} but must be a-z, A-Z, 0-9, with a length of 9.`;
  return { status: 400, message, type: "invalid_function_call", code: "3280", isBare: true };
}

export function mistralCallId(id: number, position: number): string {
  return `c${String(id % 1_000_000).padStart(6, "0")}${String(position).padStart(2, "0")}`;
}
