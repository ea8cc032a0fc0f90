import type { ListenOptions } from "../contracts.js";

/** How raw audio of a stream is measured. */
export interface AudioFormat {
  readonly bytesPerSample: number;
  readonly bytesPerMs: number;
  readonly silenceByte: number;
}

export function audioFormatOf(options: ListenOptions): AudioFormat {
  const isMulaw = options.encoding === "mulaw";
  const bytesPerSample = isMulaw ? 1 : 2;
  return {
    bytesPerSample,
    bytesPerMs: (options.sampleRateHz * bytesPerSample) / 1_000,
    // ITU-T G.711: all bits set is the µ-law code of zero.
    silenceByte: isMulaw ? 0xff : 0,
  };
}

export function silence(format: AudioFormat, durationMs: number): Uint8Array {
  return new Uint8Array(durationMs * format.bytesPerMs).fill(format.silenceByte);
}
