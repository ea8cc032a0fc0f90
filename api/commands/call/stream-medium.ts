import { STREAMED_FORMATS } from "../../../engine/sandbox/sound/raw-sound.js";
import { type Medium, WEB } from "./medium.js";
import { RawPlayback, wavOf } from "./raw-playback.js";

/** What the command has the agent's voice streamed in. */
export const STREAM_FORMAT = "pcm24k";
const FORMAT = STREAMED_FORMATS[STREAM_FORMAT];

/** The web, with the agent's voice as a stream. */
export const WEB_STREAM: Medium = {
  ...WEB,
  newPlayback: () => new RawPlayback(FORMAT),
  tellsEveryPiece: false,
  fileOf: (replies) => wavOf(replies, FORMAT),
};
