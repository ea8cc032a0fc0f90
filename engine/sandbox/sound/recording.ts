import { decodeMuLaw, samplesOf } from "../telephone/telephone-audio.js";
import { type DecodedWord, ToneDecoder } from "../telephone/tone-code.js";
import { decodeMp3 } from "./mp3-decoder.js";
import { atDecodableRate, type Sound } from "./raw-audio.js";

export interface RecognizedRecording {
  readonly text: string;
  readonly words: readonly DecodedWord[];
  readonly durationSec: number;
}

interface WavFormat {
  readonly code: number;
  readonly channels: number;
  readonly sampleRateHz: number;
}

const PCM_FORMAT = 1;
const MU_LAW_FORMAT = 7;
const WAV_HEADER_BYTES = 12;
const SAMPLE_RATE_HZ_MIN = 8000;

/** A WAV of 16-bit PCM or µ-law, or an MP3; only the first channel is used. Undefined for anything else. */
export async function decodeRecording(bytes: Uint8Array): Promise<Sound | undefined> {
  if (asciiOf(bytes.subarray(0, 4)) === "RIFF") return decodeWav(bytes);
  const sound = await decodeMp3(bytes);
  return sound.pcm.length === 0 || sound.sampleRateHz === 0 ? undefined : sound;
}

/** The text of a recording in the tone code, at any rate from 8000 Hz. */
export function recognizeRecording(recording: Sound): RecognizedRecording {
  const { pcm, sampleRateHz } = atDecodableRate(recording);
  const words: DecodedWord[] = [];
  const decoder = new ToneDecoder(sampleRateHz, {
    onWord: (word) => {
      if (word.text !== "") words.push(word);
    },
  });
  decoder.write(pcm);
  decoder.end();
  const text = words.map((word) => word.text).join(" ");
  return { text, words, durationSec: pcm.length / sampleRateHz };
}

/** The declared size is not trusted: a streamed WAV contains none. */
function decodeWav(bytes: Uint8Array): Sound | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let format: WavFormat | undefined;
  for (let at = WAV_HEADER_BYTES; at + 8 <= bytes.length; ) {
    const name = asciiOf(bytes.subarray(at, at + 4));
    const sizeBytes = view.getUint32(at + 4, true);
    const body = bytes.subarray(at + 8, at + 8 + sizeBytes);
    if (name === "fmt " && body.length >= 16) {
      format = {
        code: view.getUint16(at + 8, true),
        channels: view.getUint16(at + 10, true),
        sampleRateHz: view.getUint32(at + 12, true),
      };
    }
    if (name === "data") return format === undefined ? undefined : firstChannel(body, format);
    at += 8 + sizeBytes + (sizeBytes % 2);
  }
  return undefined;
}

function firstChannel(body: Uint8Array, format: WavFormat): Sound | undefined {
  const { code, channels, sampleRateHz } = format;
  if (code !== PCM_FORMAT && code !== MU_LAW_FORMAT) return undefined;
  if (channels < 1 || sampleRateHz < SAMPLE_RATE_HZ_MIN) return undefined;
  const samples = code === MU_LAW_FORMAT ? decodeMuLaw(body) : samplesOf(body);
  const pcm = channels === 1 ? samples : samples.filter((_, n) => n % channels === 0);
  return { pcm, sampleRateHz };
}

function asciiOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}
