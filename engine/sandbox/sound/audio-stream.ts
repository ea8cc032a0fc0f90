import { setTimeout as sleep } from "node:timers/promises";
import type { Exchange } from "../exchange.js";
import type { SpeechFault } from "../faults.js";
import type { SandboxContext } from "../simulator.js";
import { SentPace } from "./sent-pace.js";
import { bytesPerSecondOf, corruptedAudio, type VoiceFormat } from "./simulated-voice.js";

/** Like most vendors: a sentence of three seconds has arrived after three quarters of one. */
export const REAL_TIME_FACTOR = 4;
export const AUDIO_CHUNK_MS = 100;
const SLOW_FIRST_BYTE_MS = 3000;
const SLOW_REAL_TIME_FACTOR = 0.2;

/** How TTS delivers its audio; the settings of the sandbox describe each. */
export interface SpeechDelays {
  readonly fault?: string;
  readonly firstByteMs?: number;
  readonly realTimeFactor?: number;
  readonly chunkMs?: number;
  readonly jitterMs?: number;
}

export function firstByteDelayMs(delays: SpeechDelays, fault: string | undefined): number {
  return fault === "slow" ? SLOW_FIRST_BYTE_MS : (delays.firstByteMs ?? 0);
}

export interface ChunkedVoice {
  readonly bytesPerSecond: number;
  /** Read again for each chunk. */
  readonly delays: () => SpeechDelays;
  readonly fault: string | undefined;
  /** Receives each chunk. */
  readonly pace: SentPace;
}

/**
 * Cuts audio into chunks and delivers them at the voice's rate, counted from the first so that delays do not add
 * up. A chunk is an odd number of bytes: it ends in the middle of a sample or of an MP3 frame.
 */
export async function* chunksOf(
  audio: Uint8Array,
  { bytesPerSecond, delays, fault, pace }: ChunkedVoice,
): AsyncGenerator<Uint8Array> {
  const startMs = performance.now();
  const { chunkMs = AUDIO_CHUNK_MS } = delays();
  const chunkBytes = Math.floor((chunkMs * bytesPerSecond) / 1000) | 1;
  for (let at = 0; at < audio.length; at += chunkBytes) {
    const { realTimeFactor = REAL_TIME_FACTOR, jitterMs = 0 } = delays();
    const factor = fault === "slow" ? SLOW_REAL_TIME_FACTOR : realTimeFactor;
    const chunk = audio.subarray(at, at + chunkBytes);
    let dueMs = startMs;
    if (factor > 0) {
      dueMs += ((at / bytesPerSecond) * 1000) / factor + lateness(at / chunkBytes) * jitterMs;
      const waitMs = dueMs - performance.now();
      if (waitMs >= 1) await sleep(waitMs, undefined, { ref: false });
    }
    pace.chunk((chunk.length / bytesPerSecond) * 1000, dueMs, performance.now());
    yield chunk;
  }
}

/** Between 0 and 1, uneven, and the same in each run, so that a failing test can be repeated. */
function lateness(chunk: number): number {
  return ((chunk * 61) % 97) / 96;
}

export interface VoiceAudio {
  readonly bytes: Uint8Array;
  readonly format: VoiceFormat;
}

/** Sends audio as the HTTP vendors do: raw chunks, and the end of the body is the end. */
export async function streamAudio(
  context: SandboxContext,
  vendor: "elevenlabs" | "openaiSpeech" | "cartesia" | "deepgramSpeech",
  request: number,
  exchange: Exchange,
  headers: Record<string, string>,
  audio: VoiceAudio,
  fault: SpeechFault | undefined,
): Promise<void> {
  const { faults, journal } = context;
  const bytesPerSecond = bytesPerSecondOf(audio.format);
  if (fault === "stallBeforeFirstByte") await exchange.stall();
  await exchange.pause(firstByteDelayMs(faults[vendor], fault));
  if (fault === "disconnectBeforeFirstByte") {
    exchange.disconnect();
    return;
  }
  exchange.start(headers);
  const body = await corruptedAudio(audio.bytes, audio.format, fault);
  const pace = new SentPace();
  const voice = { bytesPerSecond, delays: () => faults[vendor], fault, pace };
  let isFirst = true;
  for await (const chunk of chunksOf(body, voice)) {
    // Recorded before it is sent: a reader may have it before the write has returned.
    if (isFirst) journal.record(vendor, "firstByte", request);
    isFirst = false;
    await exchange.write(chunk);
    if (fault === "stallMidStream") await exchange.stall();
    if (fault === "disconnectMidStream") {
      exchange.disconnect();
      return;
    }
  }
  exchange.end();
  journal.record(vendor, "lastByte", request, pace.text);
}
