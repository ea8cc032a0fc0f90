import { Failure } from "../../engine/failure.js";
import { PlayedReport } from "../contract/played-report.js";
import { validated } from "../http/validation.js";

/** Many times the longest report. */
const MESSAGE_BYTES_MAX = 1_024;

/** A text frame of a client in the stream mode. Failure `invalid` names the field, and what was expected. */
export function playedReport(message: Uint8Array): PlayedReport {
  if (message.byteLength > MESSAGE_BYTES_MAX) {
    throw new Failure("invalid", `message: expected at most ${MESSAGE_BYTES_MAX} bytes`);
  }
  return validated(PlayedReport, parsed(message), "message");
}

function parsed(message: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(message).toString());
  } catch {
    return undefined;
  }
}
