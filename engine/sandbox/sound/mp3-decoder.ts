import { mp3Decoders } from "../../mp3-decoder.js";
import { decodeSpeech } from "../telephone/tone-code.js";
import { atDecodableRate, type Sound } from "./raw-audio.js";

/** Decodes a whole MP3; anything else gives no samples, at a rate of zero. */
export async function decodeMp3(mp3: Uint8Array): Promise<Sound> {
  const stream = await mp3Decoders.open({ gapless: true });
  try {
    const { channelData, sampleRate, samplesDecoded } = stream.decode(mp3);
    const samples = channelData[0] ?? new Float32Array();
    const pcm = Int16Array.from(samples, (sample) =>
      Math.max(-32_768, Math.min(32_767, Math.round(sample * 32_768))),
    );
    return { pcm, sampleRateHz: samplesDecoded === 0 ? 0 : sampleRate };
  } finally {
    stream.close();
  }
}

/** The text of a simulated voice's MP3; `listenMs` limits it to the beginning, and to whole words. */
export async function recognizeMp3(
  mp3: Uint8Array,
  listenMs = Number.POSITIVE_INFINITY,
): Promise<string> {
  const { pcm, sampleRateHz } = atDecodableRate(await decodeMp3(mp3));
  if (sampleRateHz === 0) return "";
  const heardSamples = Math.floor((listenMs * sampleRateHz) / 1000);
  if (heardSamples >= pcm.length) return decodeSpeech(pcm, sampleRateHz);
  const text = decodeSpeech(pcm, sampleRateHz);
  const part = decodeSpeech(pcm.subarray(0, heardSamples), sampleRateHz);
  if (part.length >= text.length || text[part.length] === " ") return part;
  return part.slice(0, Math.max(0, part.lastIndexOf(" ")));
}

const KBPS_OF_MPEG2_LAYER3 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const RATES_OF_MPEG2_HZ = [22_050, 24_000, 16_000];
const SAMPLES_PER_FRAME = 576;

/** The length of an MPEG-2 Layer III stream (the 24 kHz family), from the headers of its frames. */
export function mp3DurationMs(mp3: Uint8Array): number {
  let durationMs = 0;
  let at = 0;
  while (at + 4 <= mp3.length) {
    const bits = mp3[at + 2] ?? 0;
    const isFrame = mp3[at] === 0xff && ((mp3[at + 1] ?? 0) & 0xfe) === 0xf2;
    const kbps = KBPS_OF_MPEG2_LAYER3[bits >> 4] ?? 0;
    const rateHz = RATES_OF_MPEG2_HZ[(bits >> 2) & 3];
    if (!isFrame || kbps === 0 || rateHz === undefined) {
      at += 1;
      continue;
    }
    durationMs += (SAMPLES_PER_FRAME * 1000) / rateHz;
    at += Math.floor((72_000 * kbps) / rateHz) + ((bits >> 1) & 1);
  }
  return durationMs;
}
