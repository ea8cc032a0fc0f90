export const TRACK_KINDS = ["video", "audio"] as const;
export type TrackKind = (typeof TRACK_KINDS)[number];

/** One track is taken to have ended when it is silent for so long while the other one flows. */
const AUDIO_ENDED_AFTER_MS = 3_000;
/** Longer, since a picture that does not change may be sent once in seconds. */
const VIDEO_ENDED_AFTER_MS = 6_000;
/** A track may have ended when it is silent for so long. */
const SILENT_AFTER_MS = 500;
/** A track flows while its packets are no further apart. */
const FLOWING_MS = 2_500;
/** An ended track is back when it has flowed for so long. */
const BACK_AFTER_MS = 500;
/** Timestamps that grow by so much more than time passes have jumped. */
const JUMP_AHEAD_MS = 3_000;
/** ffmpeg lets no timestamp go back: after a jump back they stand still. */
const STANDING_PACKETS_MAX = 8;
const LINE_CHARS_MAX = 4_096;

const TIME_BASE = /^#tb 0: (\d+)\/(\d+)$/;
const PACKET = /^0, *(-?\d+),/;

/** The packets of one track, as ffmpeg's `framecrc` muxer lists them, one a line. */
class PacketWatch {
  readonly #onJump: () => void;
  #rest = "";
  #tickMs = 1;
  #lastTimestampMs: number | undefined;
  #standing = 0;
  /** When the present flow began, and its newest packet; on the monotonic clock. */
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

/** A track that was not there when ffmpeg began to read, which it leaves out. */
const NEW_TRACK = /New (audio|video) stream 0:\d+ at pos/;
/** A track that the media server has told of, of which nothing came. */
const NO_TRACK = /Stream map '0:([av]):0' matches no streams/;

/** Which tracks of a broadcast flow, by the packets that one ffmpeg has read of each. */
export class TrackFlow {
  readonly #watches: ReadonlyMap<TrackKind, PacketWatch>;
  readonly #appeared = new Set<TrackKind>();
  readonly #missing = new Set<TrackKind>();

  /** `onJump` is called when timestamps jump: what comes then does not join what came before. */
  constructor(kinds: readonly TrackKind[], onJump: () => void) {
    this.#watches = new Map(kinds.map((kind) => [kind, new PacketWatch(onJump)]));
  }

  note(kind: TrackKind, chunk: string, nowMs: number): void {
    this.#watches.get(kind)?.note(chunk, nowMs);
  }

  /** A line of what ffmpeg complains of. */
  noteLine(line: string): void {
    const [, appeared] = NEW_TRACK.exec(line) ?? [];
    if (appeared === "audio" || appeared === "video") this.#appeared.add(appeared);
    const [, letter] = NO_TRACK.exec(line) ?? [];
    if (letter !== undefined) this.#missing.add(letter === "a" ? "audio" : "video");
  }

  /** Silent for long while the other track flows; false where only one track is watched. */
  hasEnded(kind: TrackKind, nowMs: number): boolean {
    if (this.#missing.has(kind)) return true;
    const other = this.#watches.get(kind === "video" ? "audio" : "video");
    const watch = this.#watches.get(kind);
    if (watch === undefined || other === undefined) return false;
    const afterMs = kind === "video" ? VIDEO_ENDED_AFTER_MS : AUDIO_ENDED_AFTER_MS;
    return nowMs - watch.lastMs > afterMs && other.isFlowing(nowMs, afterMs);
  }

  /** A track is silent beside one that flows, and it is not known yet whether it has ended. */
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
