/** A server sends a fraction of a second ahead of what is heard. */
const ECHO_FRAMES_MAX = 500;

/** A loudspeaker beside the microphone: what the agent says goes back to it, while the caller says nothing. */
export class SpeakerPhone {
  isOn = false;
  #frames: string[] = [];

  /** Takes a frame of the agent's audio, in base64. */
  play(frame: string): void {
    if (this.isOn && this.#frames.length < ECHO_FRAMES_MAX) this.#frames.push(frame);
  }

  /** What the microphone hears of it in the next 20 ms. */
  next(): string | undefined {
    return this.#frames.shift();
  }

  clear(): void {
    this.#frames = [];
  }
}
