import { setTimeout as sleep } from "node:timers/promises";
import type { Exchange } from "./exchange.js";
import type { SpeechFault } from "./faults.js";
import type { SandboxContext } from "./simulator.js";

/** Odd, and no multiple of an MP3 frame: clients may count on neither. */
export const AUDIO_CHUNK_BYTES = 1431;
const SLOW_FIRST_BYTE_MS = 3000;
/** A fifth of real time. */
const SLOW_BYTES_PER_SECOND = 1200;

export interface SpeechDelays {
  readonly fault?: string;
  readonly firstByteMs?: number;
  readonly bytesPerSecond?: number;
}

export function firstByteDelayMs(delays: SpeechDelays, fault: string | undefined): number {
  return fault === "slow" ? SLOW_FIRST_BYTE_MS : (delays.firstByteMs ?? 0);
}

/** Cuts audio into chunks and hands them out at the vendor's rate, counted from the first so that delays do not add up. */
export async function* chunksOf(
  audio: Uint8Array,
  delays: () => SpeechDelays,
  fault: string | undefined,
): AsyncGenerator<Uint8Array> {
  const startMs = performance.now();
  for (let at = 0; at < audio.length; at += AUDIO_CHUNK_BYTES) {
    const rate = fault === "slow" ? SLOW_BYTES_PER_SECOND : (delays().bytesPerSecond ?? 0);
    if (rate > 0) {
      const waitMs = startMs + (at / rate) * 1000 - performance.now();
      if (waitMs >= 1) await sleep(waitMs, undefined, { ref: false });
    }
    yield audio.subarray(at, at + AUDIO_CHUNK_BYTES);
  }
}

/** Answers with audio as the HTTP vendors do: raw chunks, and the end of the body is the end. */
export async function streamAudio(
  context: SandboxContext,
  vendor: "elevenlabs" | "openaiSpeech",
  request: number,
  exchange: Exchange,
  headers: Record<string, string>,
  audio: Uint8Array,
  fault: SpeechFault | undefined,
): Promise<void> {
  const { faults, journal } = context;
  if (fault === "stallBeforeFirstByte") await exchange.stall();
  await exchange.pause(firstByteDelayMs(faults[vendor], fault));
  if (fault === "disconnectBeforeFirstByte") {
    exchange.disconnect();
    return;
  }
  exchange.start(headers);
  const body = fault === "emptyAudio" ? new Uint8Array() : fault === "garbage" ? noise() : audio;
  let isFirst = true;
  for await (const chunk of chunksOf(body, () => faults[vendor], fault)) {
    await exchange.write(chunk);
    if (isFirst) journal.record(vendor, "firstByte", request);
    isFirst = false;
    if (fault === "stallMidStream") await exchange.stall();
    if (fault === "disconnectMidStream") {
      exchange.disconnect();
      return;
    }
  }
  exchange.end();
  journal.record(vendor, "lastByte", request);
}

/** Bytes that no decoder can make sense of: there is no MPEG sync word in them. */
export function noise(): Uint8Array {
  return Uint8Array.from({ length: 3000 }, (_, n) => (n * 7) % 199);
}
