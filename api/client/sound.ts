import type { CallError, CallErrorCode } from "./call-error.js";
import type { MicrophoneChange } from "./call-events.js";

/** What a call is told by its sound. */
export interface SoundListener {
  /** 20 ms of the microphone: 320 samples at 16 kHz. To be called for silence too. */
  frame(samples: Int16Array<ArrayBuffer>): void;
  /** The first sample of the turn is heard from now on. */
  sounding(turn: number): void;
  /** So much of the turn's audio was heard until now; left out by sound that cannot know it. */
  played(turn: number, ms: number): void;
  /** How loud the agent is: the root mean square of its samples, 0 to 1. */
  agentLoudness(rms: number): void;
  microphone(change: MicrophoneChange): void;
  fault(fault: CallError): void;
  /** Such a fault is over. */
  mended(code: CallErrorCode): void;
}

/** Where a call's audio comes from and goes to: a page's devices, or a program's own. */
export interface Sound {
  /** Rejects with a CallError. In a browser it has to be called in a click. */
  open(listener: SoundListener): Promise<void>;
  /** The audio that follows is of this turn: 16 bit at `rateHz`, mono. */
  startTurn(turn: number, rateHz: number): void;
  play(samples: Int16Array<ArrayBuffer>): void;
  /** The turn is over: nothing more is said about how much of it was heard. */
  finish(): void;
  /** Nothing of what was given is heard any more. */
  stop(): void;
  setMuted(isMuted: boolean): void;
  /** From 0 to 1. */
  setVolume(volume: number): void;
  close(): void;
}
