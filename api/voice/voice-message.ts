import type { ClientToolCall } from "../../engine/conversation/caller-channel.js";
import type { ClientMessage } from "../../engine/conversation/effects.js";
import type { VoiceErrorCode } from "../../storage/parley-error.js";
import { STREAM_FORMATS, type StreamEncoding } from "./audio-mode.js";
import { ERROR_CODE_BY_ENDING } from "./close-codes.js";

export interface CallView {
  readonly agentName: string;
  readonly historyKey: string;
  /** Omitted if the contract fixes the message. */
  readonly callId?: string;
}

/** The contract's JSON of messages to a caller's client. */
export function voiceMessage(
  message: ClientMessage,
  { agentName, historyKey, callId }: CallView,
): string {
  switch (message.type) {
    case "connected":
      return JSON.stringify({ type: "connected", agentName, historyKey, callId });
    case "transcript": {
      const { role, text, isFinal } = message;
      return JSON.stringify({ type: "transcript", payload: { role, text, isFinal } });
    }
    case "audioStop":
    case "audioEnd":
      return JSON.stringify({ type: message.type });
    case "error":
      return errorMessage(ERROR_CODE_BY_ENDING[message.reason], message.message);
  }
}

export function errorMessage(code: VoiceErrorCode, message: string): string {
  return JSON.stringify({ type: "error", payload: { message, code } });
}

/** The audio that follows belongs to this turn. */
export function audioStartMessage(turnId: number, encoding: StreamEncoding): string {
  const { sampleRateHz } = STREAM_FORMATS[encoding];
  return JSON.stringify({ type: "audioStart", turnId, encoding, sampleRateHz });
}

/** The client is to run this tool for the agent, and to respond with the same id. */
export function toolCallMessage(id: number, { name, arguments: given }: ClientToolCall): string {
  return JSON.stringify({ type: "toolCall", id, name, arguments: given });
}
