import type { JsonObject } from "../../storage/records.js";
import type { AgentTool } from "../../storage/tenancy/agent-tool.js";
import { type ToolArguments, toolArguments } from "../conversation/toolbox.js";
import type { ToolDefinition } from "../vendors/contracts.js";

/** The longest thing that is typed into a telephone is a card number with its date; this is twice that. */
const DIGITS_MAX = 40;

const NOTHING: JsonObject = { type: "object", properties: {}, additionalProperties: false };

const DIGITS: JsonObject = {
  type: "object",
  properties: {
    digits: {
      type: "string",
      description: "The keys in their order: 0 to 9, *, # and A to D, without blanks.",
      pattern: "^[0-9*#A-D]+$",
      maxLength: DIGITS_MAX,
    },
  },
  required: ["digits"],
  additionalProperties: false,
};

/** What the model is told about an agent's tools, in their order. */
export function toolDefinitions(tools: readonly AgentTool[]): readonly ToolDefinition[] {
  return tools.map(definitionOf);
}

/** The keys that a call of `sendDigits` asks for; an error for the model when they are none. */
export function digitsToSend(
  argumentsJson: string,
): { readonly digits: string } | Extract<ToolArguments, { ok: false }> {
  const given = toolArguments(argumentsJson, DIGITS);
  if (!given.ok) return given;
  return { digits: String(given.arguments["digits"]) };
}

function definitionOf(tool: AgentTool): ToolDefinition {
  switch (tool.type) {
    case "hangup":
      return {
        name: tool.type,
        description:
          "Ends the call for good. Use it when the caller has said goodbye or wants nothing more, and say goodbye in the same reply, before it.",
        parameters: NOTHING,
      };
    case "transfer":
      return {
        name: tool.type,
        description: `Puts the caller through to somebody else; your part of the call ends by it. Say in the same reply, before it, that you are transferring the call.${purpose(tool.description)}`,
        parameters: NOTHING,
      };
    case "sendDigits":
      return {
        name: tool.type,
        description:
          "Presses keys of the telephone, to choose from a menu or to enter a number at the other end of the line. The caller does not press them, you do.",
        parameters: DIGITS,
      };
    case "http":
    case "client": {
      const { name, description, parameters } = tool;
      return { name, description, parameters };
    }
  }
}

function purpose(description: string | undefined): string {
  return description === undefined || description === "" ? "" : ` When to use it: ${description}`;
}
