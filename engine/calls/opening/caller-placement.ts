import type { AudioTrack } from "../recording/audio-track.js";

/** A longer pause in the leg's audio is silence; a shorter one is the network's unevenness. */
export const GAP_MS = 60;
/** How far the caller's clock may run away from ours before a sample is left out or said twice. */
const SLIP_TOLERANCE_MS = 8;
/** One sample in so many: a change of pitch by a hundredth of a semitone's tenth, which nobody hears. */
const SLIP_EVERY_SAMPLES = 160;
/** A leg that brings more than this ahead of time is flooding; what is too much is left out. */
const CALLER_AHEAD_MAX_MS = 5_000;
/** So much of what the network held back and then brings at once is kept; of a longer stall, the end. */
export const STALL_MAX_MS = 10_000;
/** What comes while the end of a stall waits to be placed. */
const WAITING_MAX_MS = STALL_MAX_MS + 2_000;
/** So many pieces of 3 ms; legs send some of 20 ms. */
const WAITING_CHUNKS_MAX = WAITING_MAX_MS / 3;

interface Chunk {
  readonly pcm: Int16Array;
  /** Where the call was when the last of it arrived. */
  readonly arrivedAt: number;
}

/**
 * Finds the positions of the caller's audio, whose chunks come more or less late. Audio is contiguous unless nothing
 * that follows makes up for a delay, so a chunk waits a while for those after it.
 */
export class CallerPlacement {
  readonly #track: AudioTrack;
  readonly #gapSamples: number;
  readonly #toleranceSamples: number;
  readonly #aheadSamplesMax: number;
  readonly #waitingSamplesMax: number;
  #waiting: Chunk[] = [];
  #waitingSamples = 0;
  /** Where the last chunk that was placed ends. */
  #endsAt: number | undefined;

  constructor(track: AudioTrack, rateHz: number) {
    this.#track = track;
    this.#gapSamples = (GAP_MS * rateHz) / 1_000;
    this.#toleranceSamples = (SLIP_TOLERANCE_MS * rateHz) / 1_000;
    this.#aheadSamplesMax = (CALLER_AHEAD_MAX_MS * rateHz) / 1_000;
    this.#waitingSamplesMax = (WAITING_MAX_MS * rateHz) / 1_000;
  }

  /** Until there everything is placed; 0 before anything is. */
  get endsAt(): number {
    return this.#endsAt ?? 0;
  }

  add(pcm: Int16Array, arrivedAt: number): void {
    this.#waiting.push({ pcm, arrivedAt });
    this.#waitingSamples += pcm.length;
    while (
      this.#waitingSamples > this.#waitingSamplesMax ||
      this.#waiting.length > WAITING_CHUNKS_MAX
    ) {
      this.#waitingSamples -= this.#waiting.shift()?.pcm.length ?? 0;
    }
  }

  /** Places what is left: with nothing after it, only a gap can be told from a delay. */
  finish(): void {
    this.settle(Number.POSITIVE_INFINITY, this.#gapSamples);
  }

  /** Places every chunk that arrived until then; those after it tell how late it was. */
  settle(arrivedUntil: number, toleranceSamples = this.#toleranceSamples): void {
    const starts = this.#latestStarts();
    let count = 0;
    for (const [index, chunk] of this.#waiting.entries()) {
      if (chunk.arrivedAt > arrivedUntil) break;
      this.#place(chunk, starts[index] ?? chunk.arrivedAt, toleranceSamples);
      this.#waitingSamples -= chunk.pcm.length;
      count += 1;
    }
    this.#waiting.splice(0, count);
  }

  /** Where each chunk has to begin at the latest, so that it and all after it, without gaps, end before they arrived. */
  #latestStarts(): readonly number[] {
    const starts: number[] = Array.from({ length: this.#waiting.length });
    let latestEnd = Number.POSITIVE_INFINITY;
    for (let index = this.#waiting.length - 1; index >= 0; index -= 1) {
      const chunk = this.#waiting[index];
      if (chunk === undefined) continue;
      latestEnd = Math.min(latestEnd, chunk.arrivedAt) - chunk.pcm.length;
      starts[index] = latestEnd;
    }
    return starts;
  }

  #place({ pcm, arrivedAt }: Chunk, latestStart: number, toleranceSamples: number): void {
    const endsAt = this.#endsAt ?? latestStart;
    const lag = latestStart - endsAt;
    if (lag > this.#gapSamples) return this.#put(latestStart, pcm);
    if (endsAt > arrivedAt + this.#aheadSamplesMax) return;
    this.#put(endsAt, Math.abs(lag) > toleranceSamples ? slipped(pcm, lag) : pcm);
  }

  #put(at: number, pcm: Int16Array): void {
    this.#track.place(at, pcm);
    this.#endsAt = at + pcm.length;
  }
}

/** A few samples longer or shorter, to make up for the lag. */
function slipped(pcm: Int16Array, lag: number): Int16Array {
  const slip = Math.min(Math.abs(lag), Math.ceil(pcm.length / SLIP_EVERY_SAMPLES));
  const length = Math.max(1, pcm.length + Math.sign(lag) * Math.floor(slip));
  return Int16Array.from(
    { length },
    (_, index) => pcm[Math.floor((index * pcm.length) / length)] ?? 0,
  );
}
