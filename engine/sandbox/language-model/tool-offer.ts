import * as v from "valibot";

/** The part of a tool's JSON schema that the simulated language model looks at. */
export const ToolParameters = v.looseObject({
  properties: v.optional(
    v.record(
      v.string(),
      v.looseObject({
        type: v.optional(v.unknown()),
        enum: v.optional(v.array(v.unknown())),
      }),
    ),
    {},
  ),
  required: v.optional(v.array(v.string()), []),
});

/** The `tools` of a request, as all chat vendors take them. */
export const ToolsOffered = v.array(
  v.looseObject({
    type: v.literal("function"),
    function: v.looseObject({
      name: v.pipe(v.string(), v.regex(/^[a-zA-Z0-9_-]{1,64}$/)),
      description: v.optional(v.string()),
      parameters: v.optional(ToolParameters),
    }),
  }),
);

export type OfferedTool = v.InferOutput<typeof ToolsOffered>[number]["function"];

/** The fields of a chat message that tie tool calls to their results. */
export const toolMessageFields = {
  tool_calls: v.optional(
    v.nullable(
      v.array(
        v.looseObject({
          id: v.string(),
          type: v.literal("function"),
          function: v.looseObject({ name: v.string(), arguments: v.string() }),
        }),
      ),
    ),
  ),
  tool_call_id: v.optional(v.string()),
};

interface ToolMessage {
  readonly role: string;
  readonly tool_calls?: readonly { readonly id: string }[] | null | undefined;
  readonly tool_call_id?: string | undefined;
}

/** What is wrong with a conversation in which tools were used: every call wants its result right behind it. */
export function toolConversationFault(messages: readonly ToolMessage[]): string | undefined {
  let waiting = new Set<string>();
  for (const { role, tool_calls, tool_call_id } of messages) {
    if (role === "tool") {
      if (!waiting.delete(tool_call_id ?? "")) {
        return "a message of role 'tool' answers no tool call before it";
      }
    } else if (waiting.size > 0) {
      return `tool calls without a result: ${[...waiting].join(", ")}`;
    } else {
      waiting = new Set(tool_calls?.map(({ id }) => id));
    }
  }
  return waiting.size > 0 ? `tool calls without a result: ${[...waiting].join(", ")}` : undefined;
}
