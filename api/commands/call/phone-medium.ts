import { MULAW_8K } from "../../../engine/sandbox/sound/raw-sound.js";
import { type FrameMeasures, FrameMeter } from "./frame-meter.js";
import type { Medium } from "./medium.js";
import { LATE_MS } from "./phone-voice-call.js";
import { RawPlayback, wavOf } from "./raw-playback.js";

/** One reply in µ-law of 8 kHz, as the vendor plays it. */
class PhonePlayback extends RawPlayback {
  readonly #meter = new FrameMeter();

  constructor() {
    super(MULAW_8K);
  }

  get frames(): FrameMeasures {
    return this.#meter.measures;
  }

  override play(sound: Uint8Array, atNs: bigint): void {
    this.#meter.add(sound.length, atNs);
    super.play(sound, atNs);
  }
}

export const TELEPHONE: Medium = {
  newPlayback: () => new PhonePlayback(),
  tellsEveryPiece: false,
  // A stream is open before its session is, and the first one starts the server's threads for audio.
  greetingWaitMs: 10_000,
  // A server sends a fraction of a second ahead, so nothing is ever left for long, and a frame may be late.
  leftMsMin: -LATE_MS,
  fileOf: (replies) => wavOf(replies, MULAW_8K),
};
