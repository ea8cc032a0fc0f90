import { LRUCache } from "lru-cache";
import { createMp3Encoder } from "wasm-media-encoders";
import { bytesOf, encodeMuLaw } from "../telephone/telephone-audio.js";
import { encodeSpeech } from "../telephone/tone-code.js";
import { resample } from "./raw-audio.js";
import type { SpeechThread } from "./speech-thread-client.js";

export interface VoiceFormat {
  readonly codec: "mp3" | "pcm" | "mulaw";
  readonly sampleRateHz: number;
  /** The bit rate of MP3, in kbit/s. */
  readonly kbps?: 32 | 48 | 64 | 96 | 128 | 192;
  /** Below 1 slower; above 1 is the same as 1. */
  readonly speed?: number;
}

/** The MP3s for 200 callers of a load test in three minutes: encoding them under load would delay the others. */
export const MP3_KEPT_BYTES_MAX = 96 * 1024 * 1024;
/** A longer text is not cached. */
const ENTRY_BYTES_MAX = 2 * 1024 * 1024;

/** Other formats cost no time, and would only evict the MP3s. */
const mp3Kept = new LRUCache<string, Uint8Array>({
  maxSize: MP3_KEPT_BYTES_MAX,
  maxEntrySize: ENTRY_BYTES_MAX,
  sizeCalculation: (audio, key) => audio.byteLength + key.length * 2 + 64,
});
let encoder: ReturnType<typeof createMp3Encoder> | undefined;

/** The bytes of a second of speech. */
export function bytesPerSecondOf({ codec, sampleRateHz, kbps = 48 }: VoiceFormat): number {
  if (codec === "mp3") return (kbps * 1_000) / 8;
  return codec === "pcm" ? sampleRateHz * 2 : sampleRateHz;
}

/** Text without a letter or a digit is silent, as with the real voices. */
export function isSpeakable(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/** The spoken voice of all vendors of this thread; without one they use tones, which programs can decode. */
let spokenVoice: SpeechThread | undefined;
/** The length of a text is requested right after it was spoken. */
const spokenLengths = new LRUCache<string, number>({ max: 1000 });
const MEASURING_RATE_HZ = 8000;

export function useSpokenVoice(voice: SpeechThread | undefined): void {
  spokenVoice = voice;
  spokenLengths.clear();
  mp3Kept.clear();
}

/** The length of a text that `speak` has said. */
export function speechSec(text: string, speed = 1): number {
  const tones = () => encodeSpeech(text, MEASURING_RATE_HZ, speed).length / MEASURING_RATE_HZ;
  return spokenLengths.get(`${speed}/${text}`) ?? tones();
}

/** The text in the requested format. The bytes are shared: do not write into them. */
export async function speak(text: string, format: VoiceFormat): Promise<Uint8Array> {
  const { codec, sampleRateHz, speed = 1, kbps = 48 } = format;
  const key = `${sampleRateHz}/${kbps}/${speed}/${text}`;
  const known = codec === "mp3" ? mp3Kept.get(key) : undefined;
  if (known !== undefined) return known;
  const pcm = await samplesOfText(text, sampleRateHz, speed);
  if (codec === "pcm") return bytesOf(pcm);
  if (codec === "mulaw") return encodeMuLaw(pcm);
  const audio = await encodeMp3(pcm, sampleRateHz, kbps);
  mp3Kept.set(key, audio);
  return audio;
}

async function samplesOfText(text: string, rateHz: number, speed: number): Promise<Int16Array> {
  const spoken = await spokenVoice?.speech(text, speed);
  if (spoken === undefined) return encodeSpeech(text, rateHz, speed);
  const { pcm, sampleRateHz } = spoken;
  spokenLengths.set(`${speed}/${text}`, pcm.length / sampleRateHz);
  const source = rateHz < sampleRateHz ? smoothed(pcm) : pcm;
  return resample(source, sampleRateHz, rateHz);
}

/** Removes most of what a telephone's rate cannot carry and would alias into the voice. */
function smoothed(pcm: Int16Array): Int16Array {
  return pcm.map((sample, n) => ((pcm[n - 1] ?? sample) + 2 * sample + (pcm[n + 1] ?? sample)) / 4);
}

/** A voice's output for this audio under a fault that corrupts it. */
export async function corruptedAudio(
  audio: Uint8Array,
  { codec, sampleRateHz, kbps = 48 }: VoiceFormat,
  fault: string | undefined,
): Promise<Uint8Array> {
  if (fault === "emptyAudio" || fault === "turnEndWithoutAudio") return new Uint8Array();
  if (fault === "garbage") return noise();
  if (fault === "halfAudio") return audio.subarray(0, (audio.length >> 2) << 1);
  if (fault !== "silentAudio") return audio;
  if (codec !== "mp3") return new Uint8Array(audio.length).fill(codec === "mulaw" ? 0xff : 0);
  const samples = (audio.length / bytesPerSecondOf({ codec, sampleRateHz, kbps })) * sampleRateHz;
  return await encodeMp3(new Int16Array(Math.round(samples)), sampleRateHz, kbps);
}

async function encodeMp3(
  pcm: Int16Array,
  sampleRateHz: number,
  bitrate: NonNullable<VoiceFormat["kbps"]>,
): Promise<Uint8Array> {
  const mp3Encoder = await (encoder ??= createMp3Encoder());
  mp3Encoder.configure({
    sampleRate: sampleRateHz,
    channels: 1,
    bitrate,
    outputSampleRate: rateOfMp3(sampleRateHz),
  });
  // Both views use the encoder's own memory, which the next call overwrites.
  const body = Buffer.from(mp3Encoder.encode([Float32Array.from(pcm, (sample) => sample / 32768)]));
  return Buffer.concat([body, mp3Encoder.finalize()]);
}

/** Bytes that no decoder accepts: they contain no MPEG sync word. */
export function noise(): Uint8Array {
  return Uint8Array.from({ length: 3000 }, (_, n) => (n * 7) % 199);
}

const MP3_RATES_HZ = [22_050, 24_000, 44_100] as const;

function rateOfMp3(sampleRateHz: number): (typeof MP3_RATES_HZ)[number] {
  const rate = MP3_RATES_HZ.find((known) => known === sampleRateHz);
  if (rate === undefined) throw new RangeError(`no MP3 voice at ${sampleRateHz} Hz`);
  return rate;
}
