import { mp3DurationMs, recognizeMp3 } from "./mp3-decoder.js";

/** One received MP3, and the part of it that was played. */
export interface PlayedReply {
  /** The whole text of the MP3. */
  readonly text: string;
  /** The whole words that were played until now, or until playback was stopped. */
  readonly playedText: string;
  readonly arrivedNs: bigint;
}

interface Playing {
  readonly mp3: Uint8Array;
  readonly arrivedNs: bigint;
  readonly startNs: bigint;
  readonly endNs: bigint;
  stoppedNs: bigint | undefined;
}

/** A long call's worth; the oldest are dropped first. */
const MP3S_MAX = 2000;

/** Simulates playback of one MP3 after another in real time, to know what would have been heard. */
export class Loudspeaker {
  readonly #playing: Playing[] = [];

  play(mp3: Uint8Array, atNs: bigint): void {
    const before = this.#playing.at(-1);
    const freeNs = before === undefined ? atNs : (before.stoppedNs ?? before.endNs);
    const startNs = freeNs > atNs ? freeNs : atNs;
    const endNs = startNs + BigInt(Math.round(mp3DurationMs(mp3) * 1e6));
    this.#playing.push({ mp3, arrivedNs: atNs, startNs, endNs, stoppedNs: undefined });
    if (this.#playing.length > MP3S_MAX) this.#playing.shift();
  }

  /** Silence immediately; waiting audio is dropped. */
  stop(atNs: bigint): void {
    for (const playing of this.#playing) {
      if (playing.endNs > atNs) playing.stoppedNs ??= atNs;
    }
  }

  /** When the audio received until now will have been played; undefined without audio. */
  get endsNs(): bigint | undefined {
    const last = this.#playing.at(-1);
    return last?.stoppedNs ?? last?.endNs;
  }

  async playedReplies(atNs: bigint): Promise<readonly PlayedReply[]> {
    const replies = [...this.#playing].map(async ({ mp3, arrivedNs, startNs, stoppedNs }) => {
      const untilNs = stoppedNs ?? atNs;
      const playedMs = Math.max(0, Number(untilNs - startNs) / 1e6);
      const text = await recognizeMp3(mp3);
      return { text, playedText: await recognizeMp3(mp3, playedMs), arrivedNs };
    });
    return Promise.all(replies);
  }
}
