/** Hears both sides of a call as it goes. No method throws, and the bytes are only valid until it returns. */
export interface CallAudioTap {
  /** The caller's audio, as the recognizer is given it. */
  caller(audio: Uint8Array): void;
  /** The agent's audio as it leaves for the leg; it is heard at once, or after what left before it. */
  agent(audio: Uint8Array): void;
  /** Nothing of what has left and was not heard yet is heard any more. */
  agentCut(): void;
  /** The call is over. */
  end(): void;
}
