import type { CallError, CallErrorCode } from "./call-error.js";
import type { MicrophoneChange } from "./call-events.js";

/** The events of a call's sound. */
export interface SoundListener {
  /** 20 ms of the microphone: 320 samples at 16 kHz. Called during silence too. */
  frame(samples: Int16Array<ArrayBuffer>): void;
  /** The caller hears the first sample of the turn at this moment. */
  sounding(turn: number): void;
  /** How much of the turn's audio the caller has heard so far. Not called by a Sound that cannot know it. */
  played(turn: number, ms: number): void;
  /** The agent's loudness: the root mean square of its samples, 0 to 1. */
  agentLoudness(rms: number): void;
  microphone(change: MicrophoneChange): void;
  fault(fault: CallError): void;
  /** The fault with this code is over. */
  mended(code: CallErrorCode): void;
}

/** The source and the destination of a call's audio: a page's devices, or a program's own. */
export interface Sound {
  /** Rejects with a CallError. In a browser, call it in a click handler. */
  open(listener: SoundListener): Promise<void>;
  /** The audio that follows belongs to this turn: 16 bit at `rateHz`, mono. */
  startTurn(turn: number, rateHz: number): void;
  play(samples: Int16Array<ArrayBuffer>): void;
  /** The turn is over: no more progress is reported for it. */
  finish(): void;
  /** Drops all audio that has not been played. */
  stop(): void;
  setMuted(isMuted: boolean): void;
  /** From 0 to 1. */
  setVolume(volume: number): void;
  close(): void;
}
