import { CallError } from "./call-error.js";
import { rmsOf } from "./loudness.js";
import type { Sound, SoundListener } from "./sound.js";

export interface OwnSoundOptions {
  /** Called with the agent's audio as it arrives, which is faster than real time. */
  readonly onAudio: (samples: Int16Array<ArrayBuffer>, turn: number, rateHz: number) => void;
  /** The caller interrupted: drop audio that has not been played yet. */
  readonly onStop?: () => void;
}

/** Audio that a program handles itself, for example in Node: nothing is recorded or played here. */
export class OwnSound implements Sound {
  readonly #options: OwnSoundOptions;
  #listener: SoundListener | undefined;
  #turn = 0;
  #rateHz = 0;
  #isMuted = false;
  #isNew = false;

  constructor(options: OwnSoundOptions) {
    this.#options = options;
  }

  /** The program calls it with 20 ms of its microphone, 16 kHz, 50 times a second. */
  write(samples: Int16Array<ArrayBuffer>): void {
    if (this.#listener === undefined) throw new CallError("soundFailed", "the call is not open");
    this.#listener.frame(this.#isMuted ? new Int16Array(samples.length) : samples);
  }

  /** Reports how much of a turn the caller heard. Without these reports the server estimates it by its clock. */
  report(turn: number, ms: number): void {
    this.#listener?.played(turn, ms);
  }

  async open(listener: SoundListener): Promise<void> {
    this.#listener = listener;
  }

  startTurn(turn: number, rateHz: number): void {
    this.#turn = turn;
    this.#rateHz = rateHz;
    this.#isNew = true;
  }

  play(samples: Int16Array<ArrayBuffer>): void {
    if (this.#isNew) this.#listener?.sounding(this.#turn);
    this.#isNew = false;
    this.#listener?.agentLoudness(rmsOf(samples));
    this.#options.onAudio(samples, this.#turn, this.#rateHz);
  }

  finish(): void {
    this.#listener?.agentLoudness(0);
  }

  stop(): void {
    this.#listener?.agentLoudness(0);
    this.#options.onStop?.();
  }

  setMuted(isMuted: boolean): void {
    this.#isMuted = isMuted;
  }

  setVolume(): void {}

  close(): void {
    this.#listener = undefined;
  }
}
