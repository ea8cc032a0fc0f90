import * as v from "valibot";
import {
  choiceField,
  nameField,
  numberField,
  requestObject,
  textField,
  wholeNumberField,
  worded,
} from "./fields.js";

const DAY_MS = 24 * 60 * 60 * 1_000;
/** More than anybody says at once. */
const WRITTEN_CHARACTERS_MAX = 1_000;
/** A page may serve several agents, of which each has 16 tools at most. */
const OFFERED_TOOLS_MAX = 64;
const TOOL_NAME_CHARACTERS_MAX = 64;
const TOOL_ERROR_CHARACTERS_MAX = 1_000;

/** The text frames of a client of the stream mode. */
export const CallerMessageHead = requestObject({
  type: choiceField("the kind of message", ["played", "written", "tools", "toolResult"]),
});

/** What a client says of its playing; what can be true of a turn is known by the call alone. */
export const PlayedReport = requestObject({
  type: choiceField("the kind of message", ["played"]),
  turnId: wholeNumberField("the `turnId` of an `audioStart`", 1, Number.MAX_SAFE_INTEGER),
  ms: numberField("how much of that turn's audio was played until now, in ms", 0, DAY_MS),
});
export type PlayedReport = v.InferOutput<typeof PlayedReport>;

/** What the caller has written in place of saying it. */
export const WrittenWords = requestObject({
  type: choiceField("the kind of message", ["written"]),
  text: nameField("the caller's words", WRITTEN_CHARACTERS_MAX),
});
export type WrittenWords = v.InferOutput<typeof WrittenWords>;

/** Which of the agent's tools of the type `client` this client does, from now on; those of before are no longer done. */
export const OfferedTools = requestObject({
  type: choiceField("the kind of message", ["tools"]),
  names: worded(
    v.pipe(
      v.array(v.pipe(v.string(), v.nonEmpty(), v.maxLength(TOOL_NAME_CHARACTERS_MAX))),
      v.maxLength(OFFERED_TOOLS_MAX),
      v.description(
        `names of tools, a list of at most ${OFFERED_TOOLS_MAX} texts of 1 to ${TOOL_NAME_CHARACTERS_MAX} characters`,
      ),
    ),
  ),
});
export type OfferedTools = v.InferOutput<typeof OfferedTools>;

/** What came of a tool that the client was asked to use: any JSON, or why it was not done. */
export const ToolResult = requestObject({
  type: choiceField("the kind of message", ["toolResult"]),
  id: wholeNumberField("the `id` of a `toolCall`", 1, Number.MAX_SAFE_INTEGER),
  result: v.exactOptional(v.unknown()),
  error: v.exactOptional(textField("why it was not done", TOOL_ERROR_CHARACTERS_MAX)),
});
export type ToolResult = v.InferOutput<typeof ToolResult>;

export type CallerMessage = PlayedReport | WrittenWords | OfferedTools | ToolResult;
