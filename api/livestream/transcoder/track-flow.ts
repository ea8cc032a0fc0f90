export const TRACK_KINDS = ["video", "audio"] as const;
export type TrackKind = (typeof TRACK_KINDS)[number];

/** A track has ended when it has been silent for this long while the other one flows. */
const AUDIO_ENDED_AFTER_MS = 3_000;
/** Longer, because an encoder may send a still picture only once in several seconds. */
const VIDEO_ENDED_AFTER_MS = 6_000;
/** A track may have ended when it has been silent for this long. */
const SILENT_AFTER_MS = 500;
/** The longest gap between the packets of a track that flows. */
const FLOWING_MS = 2_500;
/** An ended track is back when it has flowed for this long. */
const BACK_AFTER_MS = 500;
/** Timestamps have jumped ahead when they grow by this much more than time passes. */
const JUMP_AHEAD_MS = 3_000;
/** ffmpeg never lets timestamps decrease: after a jump back they stand still. */
const STANDING_PACKETS_MAX = 8;
const LINE_CHARS_MAX = 4_096;

const TIME_BASE = /^#tb 0: (\d+)\/(\d+)$/;
const PACKET = /^0, *(-?\d+),/;

/** The packets of one track, as ffmpeg's `framecrc` muxer lists them, one per line. */
class PacketWatch {
  readonly #onJump: () => void;
  #rest = "";
  #tickMs = 1;
  #lastTimestampMs: number | undefined;
  #standing = 0;
  /** The beginning of the current flow and the time of the newest packet, on the monotonic clock. */
  #flowingSinceMs = 0;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(onJump: () => void) {
    this.#onJump = onJump;
  }

  get lastMs(): number {
    return this.#lastMs;
  }

  isFlowing(nowMs: number, forMs: number): boolean {
    return nowMs - this.#lastMs <= FLOWING_MS && this.#lastMs - this.#flowingSinceMs >= forMs;
  }

  note(chunk: string, nowMs: number): void {
    const lines = (this.#rest + chunk).split("\n");
    this.#rest = (lines.pop() ?? "").slice(0, LINE_CHARS_MAX);
    for (const line of lines) {
      const [, numerator, denominator] = TIME_BASE.exec(line) ?? [];
      if (denominator !== undefined)
        this.#tickMs = (1_000 * Number(numerator)) / Number(denominator);
      const [, timestamp] = PACKET.exec(line) ?? [];
      if (timestamp !== undefined) this.#packet(Number(timestamp) * this.#tickMs, nowMs);
    }
  }

  #packet(timestampMs: number, nowMs: number): void {
    const passedMs = nowMs - this.#lastMs;
    const grownMs = timestampMs - (this.#lastTimestampMs ?? timestampMs);
    const isFirst = this.#lastTimestampMs === undefined;
    this.#standing = !isFirst && grownMs <= 0 ? this.#standing + 1 : 0;
    if (passedMs > FLOWING_MS) this.#flowingSinceMs = nowMs;
    this.#lastMs = nowMs;
    this.#lastTimestampMs = timestampMs;
    const isAhead = !isFirst && grownMs - passedMs > JUMP_AHEAD_MS;
    if (isAhead || this.#standing > STANDING_PACKETS_MAX) this.#onJump();
  }
}

/** ffmpeg reports and ignores a track that was missing when it began to read. */
const NEW_TRACK = /New (audio|video) stream 0:\d+ at pos/;
/** ffmpeg has received nothing of a track that the media server reports. */
const NO_TRACK = /Stream map '0:([av]):0' matches no streams/;

/** Determines which tracks of a broadcast flow, from the packets that one ffmpeg reads. */
export class TrackFlow {
  readonly #watches: ReadonlyMap<TrackKind, PacketWatch>;
  readonly #appeared = new Set<TrackKind>();
  readonly #missing = new Set<TrackKind>();

  /** Calls `onJump` when the timestamps jump: the later packets do not continue the earlier ones. */
  constructor(kinds: readonly TrackKind[], onJump: () => void) {
    this.#watches = new Map(kinds.map((kind) => [kind, new PacketWatch(onJump)]));
  }

  note(kind: TrackKind, chunk: string, nowMs: number): void {
    this.#watches.get(kind)?.note(chunk, nowMs);
  }

  /** Takes a line of ffmpeg's standard error. */
  noteLine(line: string): void {
    const [, appeared] = NEW_TRACK.exec(line) ?? [];
    if (appeared === "audio" || appeared === "video") this.#appeared.add(appeared);
    const [, letter] = NO_TRACK.exec(line) ?? [];
    if (letter !== undefined) this.#missing.add(letter === "a" ? "audio" : "video");
  }

  /** Silent for some seconds while the other track flows. False when only one track is watched. */
  hasEnded(kind: TrackKind, nowMs: number): boolean {
    if (this.#missing.has(kind)) return true;
    const other = this.#watches.get(kind === "video" ? "audio" : "video");
    const watch = this.#watches.get(kind);
    if (watch === undefined || other === undefined) return false;
    const afterMs = kind === "video" ? VIDEO_ENDED_AFTER_MS : AUDIO_ENDED_AFTER_MS;
    return nowMs - watch.lastMs > afterMs && other.isFlowing(nowMs, afterMs);
  }

  /** One track is silent while another one flows, and it may have ended. */
  isUnsure(nowMs: number): boolean {
    const watches = [...this.#watches.values()];
    const isFlowing = watches.some((watch) => watch.isFlowing(nowMs, FLOWING_MS));
    return isFlowing && watches.some(({ lastMs }) => nowMs - lastMs > SILENT_AFTER_MS);
  }

  isBack(kind: TrackKind, nowMs: number): boolean {
    return (
      this.#appeared.has(kind) ||
      (this.#watches.get(kind)?.isFlowing(nowMs, BACK_AFTER_MS) ?? false)
    );
  }
}
