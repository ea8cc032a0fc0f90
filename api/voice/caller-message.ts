import { Failure } from "../../engine/failure.js";
import {
  type CallerMessage,
  CallerMessageHead,
  OfferedTools,
  PlayedReport,
  ToolResult,
  WrittenWords,
} from "../contract/caller-message.js";
import { validated } from "../http/request/validation.js";

/** Twice the largest result of a tool, so that one that is too large is told by its name. */
const MESSAGE_BYTES_MAX = 32_768;

/** A text frame of a client in the stream mode. Failure `invalid` names the field, and what was expected. */
export function callerMessage(message: Uint8Array): CallerMessage {
  if (message.byteLength > MESSAGE_BYTES_MAX) {
    throw new Failure("invalid", `message: expected at most ${MESSAGE_BYTES_MAX} bytes`);
  }
  const body = parsed(message);
  switch (validated(CallerMessageHead, body, "message").type) {
    case "played":
      return validated(PlayedReport, body, "message");
    case "written":
      return validated(WrittenWords, body, "message");
    case "tools":
      return validated(OfferedTools, body, "message");
    case "toolResult":
      return validated(ToolResult, body, "message");
  }
}

function parsed(message: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(message).toString());
  } catch {
    return undefined;
  }
}
