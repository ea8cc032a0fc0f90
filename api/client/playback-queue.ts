import { RationalResampler } from "../../engine/audio/rational-resampler.js";

/** The initial buffer of a turn: the server has already waited for as long as its TTS needs. */
const HOLD_MIN_MS = 40;
/** Each audible gap makes the next start later by this much. */
const HOLD_STEP_MS = 40;
const OUTPUT_PAUSE_MAX_MS = 240;
/** A fade for audio that is cut between two samples, which would click. */
const FADE_MS = 5;

interface QueuedTurn {
  readonly turn: number;
  readonly rateHz: number;
  /** Resamples from the turn's rate to the device's. Undefined if they are equal, and after a gap. */
  resampler: RationalResampler | undefined;
  receivedSamples: number;
  /** Samples at the device's rate. */
  playedSamples: number;
  /** The reported position when everything was played except the rest in the resampler: it does not decrease. */
  dryMs: number;
  hasSounded: boolean;
}

interface Piece {
  readonly of: QueuedTurn | undefined;
  readonly samples: Int16Array;
  at: number;
}

export interface TurnProgress {
  readonly turn: number;
  /** How much of the turn's audio has been sent to the device. */
  readonly ms: number;
}

/** The agent's audio on its way to a device of any rate: a jitter buffer that can be emptied immediately. */
export class PlaybackQueue {
  readonly #rateHz: number;
  readonly #onSounding: (turn: number) => void;
  #pieces: Piece[] = [];
  #queued = 0;
  #current: QueuedTurn | undefined;
  #isFlowing = false;
  #holdMs = HOLD_MIN_MS;
  /** Device samples since the first buffered piece. */
  #bufferedSamples = 0;

  /** `onSounding` is called for the first sample of each turn. */
  constructor(rateHz: number, onSounding: (turn: number) => void) {
    this.#rateHz = rateHz;
    this.#onSounding = onSounding;
  }

  get progress(): TurnProgress | undefined {
    const current = this.#current;
    if (current === undefined) return undefined;
    const { turn, playedSamples, dryMs } = current;
    const receivedMs = receivedMsOf(current);
    if (this.#queued === 0) return { turn, ms: receivedMs };
    const playedMs = (playedSamples * 1_000) / this.#rateHz;
    return { turn, ms: Math.min(receivedMs, Math.max(dryMs, playedMs)) };
  }

  startTurn(turn: number, rateHz: number): void {
    this.#current = {
      turn,
      rateHz,
      resampler: undefined,
      receivedSamples: 0,
      playedSamples: 0,
      dryMs: 0,
      hasSounded: false,
    };
  }

  /** Adds audio of the current turn. */
  play(samples: Int16Array): void {
    const current = this.#current;
    if (current === undefined || samples.length === 0) return;
    if (!this.#isFlowing && this.#queued === 0) this.#bufferedSamples = 0;
    // A turn that had begun to sound and ran dry had an audible gap: buffer more from now on.
    if (!this.#isFlowing && current.hasSounded && this.#queued === 0) {
      this.#holdMs = Math.min(OUTPUT_PAUSE_MAX_MS, this.#holdMs + HOLD_STEP_MS);
    }
    if (this.#queued === 0) current.dryMs = receivedMsOf(current);
    current.receivedSamples += samples.length;
    if (current.rateHz === this.#rateHz) return this.#append(current, samples);
    current.resampler ??= new RationalResampler(current.rateHz, this.#rateHz);
    this.#append(current, current.resampler.push(samples));
  }

  /** Marks the end of the turn's audio. */
  finish(): void {
    this.#flush();
    this.#current = undefined;
  }

  /** Drops queued audio, except the few samples in which it fades out. */
  stop(): void {
    const count = Math.round((FADE_MS * this.#rateHz) / 1_000);
    const fading = new Float32Array(count);
    if (this.#isFlowing) this.#take(fading);
    const samples = Int16Array.from(fading, (sample, at) => sample * 32_768 * (1 - at / count));
    this.#pieces = [];
    this.#queued = 0;
    this.#current = undefined;
    if (this.#isFlowing) this.#append(undefined, samples);
  }

  /** Writes the next samples for the device; silence if there are none. */
  fill(output: Float32Array): void {
    if (!this.#isFlowing && !this.#mayFlow(output.length)) return void output.fill(0);
    this.#isFlowing = true;
    if (this.#queued < output.length) this.#flush();
    const count = this.#take(output);
    output.fill(0, count);
    if (count < output.length) this.#isFlowing = false;
  }

  #mayFlow(samples: number): boolean {
    if (this.#queued === 0) return false;
    this.#bufferedSamples += samples;
    const wantedSamples = (this.#holdMs * this.#rateHz) / 1_000;
    return this.#queued >= wantedSamples || this.#bufferedSamples >= wantedSamples;
  }

  #take(output: Float32Array): number {
    let count = 0;
    while (count < output.length) {
      const [piece] = this.#pieces;
      if (piece === undefined) break;
      const { of, samples } = piece;
      if (of !== undefined && !of.hasSounded) {
        of.hasSounded = true;
        this.#onSounding(of.turn);
      }
      const taken = Math.min(output.length - count, samples.length - piece.at);
      for (let n = 0; n < taken; n += 1) {
        output[count + n] = (samples[piece.at + n] ?? 0) / 32_768;
      }
      count += taken;
      piece.at += taken;
      if (of !== undefined) of.playedSamples += taken;
      if (piece.at === samples.length) this.#pieces.shift();
    }
    this.#queued -= count;
    return count;
  }

  /** The last millisecond of audio, which the resampler keeps until it knows what follows. */
  #flush(): void {
    const current = this.#current;
    const rest = current?.resampler?.end();
    if (current === undefined || rest === undefined) return;
    current.resampler = undefined;
    this.#append(current, rest);
  }

  #append(of: QueuedTurn | undefined, samples: Int16Array): void {
    if (samples.length === 0) return;
    this.#pieces.push({ of, samples, at: 0 });
    this.#queued += samples.length;
  }
}

function receivedMsOf({ receivedSamples, rateHz }: QueuedTurn): number {
  return (receivedSamples * 1_000) / rateHz;
}
