import type { ClientMessage } from "../../engine/session/effects.js";
import type { OpenedLine } from "../../engine/session/session-opener.js";

/** The contract's JSON of what a caller's client is told. */
export function voiceMessage(message: ClientMessage, line: OpenedLine): string {
  switch (message.type) {
    case "connected":
      return JSON.stringify({
        type: "connected",
        agentName: line.agentName,
        historyKey: line.historyKey,
      });
    case "transcript": {
      const { role, text, isFinal } = message;
      return JSON.stringify({ type: "transcript", payload: { role, text, isFinal } });
    }
    case "audioStop":
    case "audioEnd":
      return JSON.stringify({ type: message.type });
    case "error":
      return errorMessage(message.message);
  }
}

export function errorMessage(message: string): string {
  return JSON.stringify({ type: "error", payload: { message } });
}
