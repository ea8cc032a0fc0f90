import { newResampler } from "../../../engine/audio/resampler.js";
import {
  type ConversionFormats,
  SpeechConversion,
} from "../../../engine/audio/speech-conversion.js";

/** A whole recording at another rate. */
export function resampled(pcm: Int16Array, rateHz: number, targetHz = 8_000): Int16Array {
  const resampler = newResampler(rateHz, targetHz);
  return Int16Array.of(...resampler.push(pcm), ...resampler.end());
}

/** A whole sentence, in pieces of this many bytes, in another format. */
export async function converted(
  audio: Uint8Array,
  format: ConversionFormats,
  pieceBytes = audio.byteLength + 1,
): Promise<Uint8Array> {
  const conversion = await SpeechConversion.open(format);
  try {
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < audio.byteLength; at += pieceBytes) {
      pieces.push(conversion.write(audio.subarray(at, at + pieceBytes)));
    }
    return Buffer.concat([...pieces, conversion.end()]);
  } finally {
    conversion.close();
  }
}
