import { MPEGDecoder } from "mpg123-decoder";
import { toSample } from "./fir-kernel.js";
import { mp3Stream } from "./mp3-frames.js";
import { decodePcm, encodePcm, encodePhoneAudio, type PhoneEncoding } from "./phone-encoding.js";
import { toRate, toTelephoneRate } from "./rational-resampler.js";

/** A whole sentence of a vendor: MP3 of any rate, or PCM of 16 bits, low byte first. */
export type SpeechSource = "mp3" | "pcm8k" | "pcm16k" | "pcm24k";

export interface SpeechFormat {
  readonly from: SpeechSource;
  /** `pcm16k` is for recordings of calls that are not on the telephone. */
  readonly to: PhoneEncoding | "pcm16k";
}

const PCM_RATES_HZ = { pcm8k: 8_000, pcm16k: 16_000, pcm24k: 24_000 } as const;

/** The sentence as the line wants it, exactly as long; throws an Error when there is nothing in it to be heard. */
export async function convertSentence(
  audio: Uint8Array,
  { from, to }: SpeechFormat,
): Promise<Uint8Array> {
  const sound =
    from === "mp3"
      ? await decodeMp3(audio)
      : { pcm: decodePcm(audio, true), rateHz: PCM_RATES_HZ[from] };
  if (to === "pcm16k") return encodePcm(toRate(sound.pcm, sound.rateHz, PCM_RATES_HZ[to]), true);
  return encodePhoneAudio(toTelephoneRate(sound.pcm, sound.rateHz), to);
}

interface Sound {
  readonly pcm: Int16Array;
  readonly rateHz: number;
}

let decoder: MPEGDecoder | undefined;
let isDecoderFresh = false;

/** Takes some 30 ms, once a thread. */
export async function loadMp3Decoder(): Promise<MPEGDecoder> {
  if (decoder === undefined) {
    const loading = new MPEGDecoder({ enableGapless: false });
    await loading.ready;
    decoder = loading;
    isDecoderFresh = true;
  }
  return decoder;
}

/** A decoder of its own for each sentence, so that no sound of one call reaches another: 0.4 ms more a sentence. */
async function freshMp3Decoder(): Promise<MPEGDecoder> {
  const loaded = await loadMp3Decoder();
  if (!isDecoderFresh) await loaded.reset();
  isDecoderFresh = false;
  return loaded;
}

async function decodeMp3(mp3: Uint8Array): Promise<Sound> {
  const fresh = await freshMp3Decoder();
  const { channelData, samplesDecoded, sampleRate } = fresh.decode(mp3Stream(mp3).audio);
  const [left, right] = channelData;
  if (left === undefined || right === undefined || samplesDecoded === 0) {
    throw new Error("the answer holds no MP3 that can be decoded");
  }
  const pcm = new Int16Array(samplesDecoded);
  for (let index = 0; index < samplesDecoded; index += 1) {
    // Mono comes as two equal channels.
    pcm[index] = toSample(16_384 * ((left[index] ?? 0) + (right[index] ?? 0)));
  }
  return { pcm, rateHz: sampleRate };
}
