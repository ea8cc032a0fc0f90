import { Failure } from "../../engine/failure.js";
import { CallerMessageHead, PlayedReport, WrittenWords } from "../contract/caller-message.js";
import { validated } from "../http/validation.js";

/** More than the longest written words take, whose every sign may be escaped. */
const MESSAGE_BYTES_MAX = 8_192;

/** A text frame of a client in the stream mode. Failure `invalid` names the field, and what was expected. */
export function callerMessage(message: Uint8Array): PlayedReport | WrittenWords {
  if (message.byteLength > MESSAGE_BYTES_MAX) {
    throw new Failure("invalid", `message: expected at most ${MESSAGE_BYTES_MAX} bytes`);
  }
  const body = parsed(message);
  switch (validated(CallerMessageHead, body, "message").type) {
    case "played":
      return validated(PlayedReport, body, "message");
    case "written":
      return validated(WrittenWords, body, "message");
  }
}

function parsed(message: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(message).toString());
  } catch {
    return undefined;
  }
}
