import type { Logger } from "../../../engine/log.js";
import { NO_TRACKS, type Tracks, type VideoTrack } from "./published-stream.js";

/** A stream with one kind of track may not have reported the other yet. */
const ONE_KIND_AFTER_MS = 700;
/** After this time the media server is not expected to report more, and ffprobe reads the stream itself. */
const PROBE_AFTER_MS = 3_000;
const PROBE_INTERVAL_MS = 2_000;
/** What Debian's ffmpeg decodes from RTMP and RTSP. */
const READABLE = new Set(["h264", "hevc", "vp8", "vp9", "mpeg4", "mpeg2video", "mjpeg", "flv1"]);

const SIZE_UNKNOWN = new Set(["vp8", "vp9"]);

export interface Probed {
  readonly tracks: Tracks;
  /** The picture's codec, if it is unreadable. */
  readonly unreadableCodec: string | undefined;
}
export type Probe = () => Promise<Probed>;

/** Determines the tracks of one broadcast: from the media server's report, otherwise with ffprobe. */
export class SourceDescriber {
  readonly #streamKey: string;
  readonly #probe: Probe;
  readonly #log: Logger;
  #tracks = NO_TRACKS;
  #firstMs: number | undefined;
  #probed = NO_TRACKS;
  #probeAtMs = 0;
  #isProbing = false;
  #hasProbed = false;
  #foundCodec: string | undefined;
  #unreadable: string | undefined;
  #isLogged = false;
  #isUnreadableLogged = false;

  constructor(streamKey: string, probe: Probe, log: Logger) {
    this.#streamKey = streamKey;
    this.#probe = probe;
    this.#log = log;
  }

  /** Why the picture cannot be shown, with its codec; undefined if no reason is known. */
  get unreadable(): string | undefined {
    return this.#unreadable;
  }

  see(tracks: Tracks): void {
    this.#tracks = tracks;
  }

  /**
   * The broadcast's tracks now, if they were `begun` before. The media server reports them. If it does not report
   * the size of a picture, ffprobe reads the stream.
   */
  now(begun: Tracks, nowMs: number): Tracks {
    const { video, audioCodec, audioFormat } = this.#tracks;
    const sound = { audioCodec: audioCodec ?? begun.audioCodec, audioFormat };
    if (video === undefined || isSized(video)) return { video: video ?? begun.video, ...sound };
    if (begun.video !== undefined || !READABLE.has(video.codec)) {
      return { video: begun.video, ...sound };
    }
    return { video: this.#described(nowMs)?.video, ...sound };
  }

  /** The tracks for a ladder; undefined while they are unknown. Call it a few times a second. */
  describe(nowMs: number): Tracks | undefined {
    this.#firstMs ??= nowMs;
    const ageMs = nowMs - this.#firstMs;
    const { video, audioCodec } = this.#tracks;
    const isVideoKnown = video !== undefined && isSized(video);
    const isWhole = audioCodec !== undefined || ageMs >= ONE_KIND_AFTER_MS;
    if (isVideoKnown && isWhole) return this.#tracks;
    // MediaMTX never reports the size of VP8 and VP9, so ffprobe reads the stream immediately.
    if (video !== undefined && SIZE_UNKNOWN.has(video.codec) && isWhole)
      return this.#described(nowMs);
    const isSoundAlone = video === undefined && audioCodec !== undefined;
    if (isSoundAlone && ageMs >= ONE_KIND_AFTER_MS) return this.#tracks;
    if (ageMs < PROBE_AFTER_MS) return undefined;
    return this.#described(nowMs);
  }

  /** From the result of ffprobe. */
  #described(nowMs: number): Tracks | undefined {
    const { video, audioCodec } = this.#probed;
    if (video !== undefined && isSized(video)) return this.#probed;
    const codec = this.#foundCodec ?? video?.codec ?? this.#tracks.video?.codec;
    if (this.#hasProbed && codec !== undefined) this.#logOnce(codec);
    if (audioCodec !== undefined) return { video: undefined, audioCodec };
    if (!this.#isProbing && nowMs >= this.#probeAtMs) void this.#probeSource(nowMs);
    return undefined;
  }

  /** Once, with the codec's name. */
  #logOnce(codec: string): void {
    if (this.#isLogged) return;
    this.#isLogged = true;
    this.#unreadable = `its picture cannot be read: it is ${codec}, expected H.264`;
    this.#log.error(
      { streamKey: this.#streamKey, codec },
      "the picture cannot be read: expected H.264",
    );
  }

  async #probeSource(nowMs: number): Promise<void> {
    this.#isProbing = true;
    const { tracks, unreadableCodec } = await this.#probe();
    this.#probed = tracks;
    this.#foundCodec = unreadableCodec;
    this.#hasProbed = true;
    this.#isProbing = false;
    this.#probeAtMs = nowMs + PROBE_INTERVAL_MS;
    if (
      tracks.video === undefined &&
      tracks.audioCodec === undefined &&
      !this.#isUnreadableLogged
    ) {
      this.#isUnreadableLogged = true;
      this.#log.warn({ streamKey: this.#streamKey }, "cannot be read yet");
    }
  }
}

function isSized({ codec, height }: VideoTrack): boolean {
  return height > 0 && READABLE.has(codec);
}
