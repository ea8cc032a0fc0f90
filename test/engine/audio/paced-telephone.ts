import { FRAME_MS } from "../../../engine/audio/audio-format.js";
import { type PacedStream, Pacer } from "../../../engine/audio/pacer.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const SEND_AHEAD_MS = 160;

export const FORMAT = { frameBytes: 160, silence: 0xff };
export const AHEAD_FRAMES = SEND_AHEAD_MS / FRAME_MS;

/** Audio of this many frames. */
export function speech(frames: number, value = 1): Uint8Array {
  return new Uint8Array(Math.round(frames * FORMAT.frameBytes)).fill(value);
}

/** What a telephone receives, with the time of each frame and mark, and how late waiting audio was. */
export function telephone() {
  const clock = new VirtualClock(0);
  const pacer = new Pacer(clock);
  const sent: { atMs: number; what: string; bytes: Uint8Array }[] = [];
  const late: number[] = [];
  const stream: PacedStream = pacer.open(FORMAT, {
    frame: (bytes) =>
      sent.push({ atMs: clock.monotonicMs(), what: "frame", bytes: Uint8Array.from(bytes) }),
    mark: (name) => sent.push({ atMs: clock.monotonicMs(), what: name, bytes: new Uint8Array() }),
    late: (lateMs) => late.push(lateMs),
  });
  return {
    clock,
    pacer,
    stream,
    sent,
    late,
    frames: () => sent.filter(({ what }) => what === "frame"),
  };
}
