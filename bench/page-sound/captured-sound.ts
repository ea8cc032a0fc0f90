/** Between two syllables of the sandbox's voice there is less; who has fallen silent is silent for longer. */
const SILENCE_MS = 80;

/** Samples of the loudspeaker, the last of which ends at a moment of the day. */
export interface CapturedPiece {
  readonly endAtMs: number;
  readonly rateHz: number;
  readonly samples: Int16Array;
}

interface Stretch {
  readonly beganAtMs: number;
  endedAtMs: number;
}

/** When a loudspeaker sounded and when it was silent, to the sample. */
export class CapturedSound {
  readonly #stretches: Stretch[] = [];
  #heardUntilMs = Number.NEGATIVE_INFINITY;

  push({ endAtMs, rateHz, samples }: CapturedPiece): void {
    for (const [index, sample] of samples.entries()) {
      if (sample === 0) continue;
      const atMs = endAtMs - ((samples.length - index) * 1_000) / rateHz;
      const last = this.#stretches.at(-1);
      if (last !== undefined && atMs - last.endedAtMs < SILENCE_MS) last.endedAtMs = atMs;
      else this.#stretches.push({ beganAtMs: atMs, endedAtMs: atMs });
    }
    this.#heardUntilMs = endAtMs;
  }

  /** The first sound at that moment or after it; undefined while there is none. */
  firstSoundFrom(atMs: number): number | undefined {
    return this.#stretches.find(({ beganAtMs }) => beganAtMs >= atMs)?.beganAtMs;
  }

  /** The end of the sound at that moment, which is that moment where there is none; undefined while it may go on. */
  silentFrom(atMs: number): number | undefined {
    if (this.#heardUntilMs < atMs + SILENCE_MS) return undefined;
    const deps = this.#stretches.find(
      ({ beganAtMs, endedAtMs }) => beganAtMs <= atMs && endedAtMs >= atMs,
    );
    if (deps === undefined) return atMs;
    return this.#heardUntilMs - deps.endedAtMs >= SILENCE_MS ? deps.endedAtMs : undefined;
  }
}
