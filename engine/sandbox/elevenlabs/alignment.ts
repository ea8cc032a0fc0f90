import type { Exchange } from "../exchange.js";
import { encodeSpeech } from "../telephone/tone-code.js";

const MEASURING_RATE_HZ = 8000;

/** The audio in base64 with the time of every character, whole or as the one line of a stream. */
export function answerTimed(
  exchange: Exchange,
  text: string,
  audio: Uint8Array,
  speed: number,
  isStream: boolean,
): void {
  const alignment = alignmentOf(text, speed);
  const audio_base64 = Buffer.from(audio).toString("base64");
  const body = { audio_base64, alignment, normalized_alignment: alignment };
  if (!isStream) exchange.answerJson(200, body);
  else
    exchange.answerText(200, `${JSON.stringify(body)}\n`, { "content-type": "text/event-stream" });
}

/** Every character sounds for an equal part of the text's duration. */
function alignmentOf(text: string, speed: number): object {
  const characters = Array.from(text);
  const durationSec = encodeSpeech(text, MEASURING_RATE_HZ, speed).length / MEASURING_RATE_HZ;
  const at = (position: number): number => (durationSec * position) / characters.length;
  return {
    characters,
    character_start_times_seconds: characters.map((_, position) => at(position)),
    character_end_times_seconds: characters.map((_, position) => at(position + 1)),
  };
}
