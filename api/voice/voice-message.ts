import type { OpenedCall } from "../../engine/calls/call-opener.js";
import type { ClientMessage } from "../../engine/session/effects.js";
import { STREAM_FORMATS, type StreamEncoding } from "./audio-mode.js";

/** The contract's JSON of what a caller's client is told. */
export function voiceMessage(message: ClientMessage, call: OpenedCall): string {
  switch (message.type) {
    case "connected":
      return JSON.stringify({
        type: "connected",
        agentName: call.agentName,
        historyKey: call.historyKey,
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

/** The audio that follows is of this turn. */
export function audioStartMessage(turnId: number, encoding: StreamEncoding): string {
  const { sampleRateHz } = STREAM_FORMATS[encoding];
  return JSON.stringify({ type: "audioStart", turnId, encoding, sampleRateHz });
}
