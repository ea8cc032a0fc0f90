const FRAME_MS = 20;
/** Sent at once where speech begins: what a server is ahead of playback, and one frame that starts its beat. */
const BURST_FRAMES = 10;
const NS_PER_MS = 1_000_000;

/** How evenly the frames of calls arrive: what lies between two of them, beside the 20 ms that should. */
export class PhoneJitter {
  readonly #errorsMs: number[] = [];
  isMeasuring = false;

  /** How far each measured pair of pieces is off its time, without the burst at the beginning of speech. */
  get errorsMs(): readonly number[] {
    return this.#errorsMs;
  }

  /** For one call: takes each frame as it comes. */
  ofCall(): (bytes: Uint8Array, atNs: bigint) => void {
    let lastMs = 0;
    let playedOutMs = 0;
    let frames = 0;
    return (_, atNs) => {
      const nowMs = Number(atNs) / NS_PER_MS;
      // The caller had nothing left to hear: speech begins anew.
      if (nowMs >= playedOutMs) frames = 0;
      if (frames >= BURST_FRAMES && this.isMeasuring) {
        this.#errorsMs.push(Math.abs(nowMs - lastMs - FRAME_MS));
      }
      frames += 1;
      lastMs = nowMs;
      playedOutMs = Math.max(playedOutMs, nowMs) + FRAME_MS;
    };
  }
}
