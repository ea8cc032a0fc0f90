import type { Levels } from "./call-events.js";
import type { ClientClock } from "./client-clock.js";

/** The quietest level that a meter shows, in decibels below full scale. */
const FLOOR_DB = -60;
/** Breath and the noise of a quiet room are below this level. */
const VOICE_RMS_MIN = 0.01;
/** How far a voice is above the room's own noise, as a factor. */
const VOICE_OVER_NOISE = 3;
/** How fast the noise estimate grows per frame. */
const NOISE_GROWTH = 1.01;
/** The meter is updated this often; people do not notice faster changes. */
const LEVELS_PERIOD_MS = 60;

/** The root mean square of samples, 0 to 1. */
export function rmsOf(samples: Int16Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.sqrt(sum / Math.max(1, samples.length)) / 32_768;
}

/** Converts a root mean square to a meter's level: 0 to 1, perceptually even. */
export function levelOf(rms: number): number {
  if (rms <= 0) return 0;
  return Math.min(1, Math.max(0, 1 - (20 * Math.log10(rms)) / FLOOR_DB));
}

/** Roughly distinguishes a voice from the room: for the display of waits, not for turn taking. */
export class VoiceSense {
  #noise = VOICE_RMS_MIN;

  isVoice(rms: number): boolean {
    const limit = Math.max(VOICE_RMS_MIN, this.#noise * VOICE_OVER_NOISE);
    this.#noise = Math.min(rms, this.#noise) || rms;
    this.#noise = Math.max(1e-4, this.#noise * NOISE_GROWTH);
    return rms > limit;
  }
}

/** The loudness of both sides, reported as often as a meter needs it. */
export class LevelMeter {
  readonly #clock: ClientClock;
  readonly #emit: (levels: Levels) => void;
  #levels: Levels = { caller: 0, agent: 0 };
  #emittedAtMs = 0;

  constructor(clock: ClientClock, tell: (levels: Levels) => void) {
    this.#clock = clock;
    this.#emit = tell;
  }

  note(change: Partial<Levels>): void {
    const nowMs = this.#clock.monotonicMs();
    this.#levels = { ...this.#levels, ...change };
    if (nowMs - this.#emittedAtMs < LEVELS_PERIOD_MS) return;
    this.#emittedAtMs = nowMs;
    this.#emit(this.#levels);
  }
}
