/** What hears a call on its line, both sides, as it goes. None of these throws, and the bytes are only valid during the call. */
export interface CallAudioTap {
  /** As the recognizer is given it. */
  caller(audio: Uint8Array): void;
  /** As the line takes it, when it leaves: it is heard at once, or when what left before it has been. */
  agent(audio: Uint8Array): void;
  /** Nothing of what has left and was not heard yet is heard any more. */
  agentCut(): void;
  /** The call is over. */
  end(): void;
}
