import * as v from "valibot";
import type { ChatMessage } from "../language-model/chat-message.js";
import { type OfferedTool, ToolsOffered } from "../language-model/tool-offer.js";
import { type AnswerLine, chatLine, generateLine } from "./line-dialect.js";

/** What both endpoints that generate ask for. */
export interface GenerationRequest {
  readonly model: string;
  /** Empty when only the model is to be loaded. */
  readonly messages: readonly ChatMessage[];
  readonly offered: readonly OfferedTool[];
  readonly stream: boolean;
  /** Undefined: no limit. */
  readonly tokensMax: number | undefined;
  readonly line: AnswerLine;
}

const asked = {
  model: v.pipe(v.string(), v.minLength(1)),
  stream: v.optional(v.boolean(), true),
  options: v.optional(
    v.looseObject({
      temperature: v.optional(v.number()),
      num_predict: v.optional(v.pipe(v.number(), v.integer())),
    }),
    {},
  ),
};

const Message = v.looseObject({
  role: v.string(),
  content: v.optional(v.string(), ""),
  tool_calls: v.optional(
    v.array(
      v.looseObject({
        function: v.looseObject({
          name: v.string(),
          arguments: v.record(v.string(), v.unknown()),
        }),
      }),
    ),
  ),
});

/** The body of `POST /api/chat`. */
export const ChatRequest = v.pipe(
  v.looseObject({
    ...asked,
    messages: v.optional(v.array(Message), []),
    tools: v.optional(ToolsOffered, []),
  }),
  v.transform(({ model, messages, tools, stream, options }): GenerationRequest => {
    const offered = tools.map((tool) => tool.function);
    const tokensMax = limitOf(options.num_predict);
    return { model, messages, offered, stream, tokensMax, line: chatLine };
  }),
);

/** The body of `POST /api/generate`. */
export const GenerateRequest = v.pipe(
  v.looseObject({
    ...asked,
    prompt: v.optional(v.string(), ""),
    system: v.optional(v.string(), ""),
  }),
  v.transform(({ model, prompt, system, stream, options }): GenerationRequest => {
    const tokensMax = limitOf(options.num_predict);
    const instruction = system === "" ? [] : [{ role: "system", content: system }];
    const messages = prompt === "" ? [] : [...instruction, { role: "user", content: prompt }];
    return { model, messages, offered: [], stream, tokensMax, line: generateLine };
  }),
);

/** -1, the vendor's default, is no limit. */
function limitOf(predictMax = -1): number | undefined {
  return predictMax > 0 ? predictMax : undefined;
}
