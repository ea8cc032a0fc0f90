import HlsLoader, { type ErrorData, ErrorTypes, Events, type Level } from "hls.js";
import type { CancelTimer, PageClock } from "./page-clock.js";

/** The share of dropped frames up to which a machine keeps up: a busy one drops a single frame now and then. */
const DROPPED_SHARE_MAX = 0.2;
/** With fewer frames the share means nothing. */
const FRAMES_MIN = 5;

/** Tells whether a viewer's machine shows the frames that it decodes. */
export class FrameWatch {
  #total = 0;
  #dropped = 0;

  /** Whether the machine has kept up since the last call; to be called once a second. */
  keepsUp(video: HTMLVideoElement): boolean {
    const { totalVideoFrames, droppedVideoFrames } = video.getVideoPlaybackQuality();
    // The count restarts with each load, so it can be lower than before.
    const frames = totalVideoFrames - this.#total;
    const dropped = droppedVideoFrames - this.#dropped;
    this.#total = totalVideoFrames;
    this.#dropped = droppedVideoFrames;
    return frames < FRAMES_MIN || dropped <= frames * DROPPED_SHARE_MAX;
  }
}

/**
 * `waiting`: nothing to play. `reconnecting`: the stream was lost and is being retried. `refused`: the stream is
 * private, and its token is wrong or expired, so a retry would not help.
 */
export type PlayerState =
  | "waiting"
  | "loading"
  | "playing"
  | "reconnecting"
  | "refused"
  | "unsupported";

export interface PictureQuality {
  /** The index is valid for this load of the playlist; -1 is the automatic choice. */
  readonly index: number;
  readonly label: string;
}

export interface PlayerEvents {
  readonly onState: (state: PlayerState) => void;
  /** With fewer than two qualities there is nothing to choose from. */
  readonly onQualities: (qualities: readonly PictureQuality[]) => void;
  /** The quality that the automatic choice currently plays. */
  readonly onPlayedQuality: (label: string | undefined) => void;
}

export const AUTOMATIC = -1;

const FORBIDDEN = 403;
const RETRY_DELAYS_MS = [500, 1_000, 2_000, 3_000, 5_000];
/** Video that stands still for this long is reloaded; hls.js has tried its own recovery by then. */
const STANDSTILL_MAX_MS = 8_000;
const WATCH_PERIOD_MS = 1_000;
/** The longest wait for the buffer to play out before a reload. */
const PLAYED_OUT_MAX_MS = 6_000;
/** How many segments behind the newest one a player starts. */
const BEHIND_LIVE_SEGMENTS = 2;
/** A player that has fallen behind plays at up to this rate until it has caught up. */
const CATCH_UP_RATE_MAX = 1.1;
/** A second decoding error within this time means that hls.js's recovery did not help. */
const REPAIR_PERIOD_MS = 10_000;

/** Random for each load of the page and stored nowhere, so that viewers behind one address are counted separately. */
const VIEWER = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) =>
  byte.toString(16).padStart(2, "0"),
).join("");

/** Plays one HLS playlist in a video element, and retries until it is stopped. */
export class HlsPlayer {
  readonly #video: HTMLVideoElement;
  readonly #events: PlayerEvents;
  readonly #clock: PageClock;
  #path: string | undefined;
  #hls: HlsLoader | undefined;
  #retries = 0;
  #cancelRetry: CancelTimer | undefined;
  readonly #frames = new FrameWatch();
  #repairedMs = 0;
  #seenTime = -1;
  #movedMs = 0;
  #hasSound = true;

  constructor(video: HTMLVideoElement, events: PlayerEvents, clock: PageClock) {
    this.#video = video;
    this.#events = events;
    this.#clock = clock;
    video.addEventListener("playing", () => {
      this.#retries = 0;
      if (this.#path !== undefined) events.onState("playing");
    });
    video.addEventListener("error", () => {
      if (this.#hls === undefined && this.#path !== undefined) this.#retry();
    });
    clock.every(WATCH_PERIOD_MS, () => {
      this.#watch();
      this.#pace();
    });
  }

  play(path: string): void {
    this.stop();
    this.#path = path;
    this.#retries = 0;
    this.#events.onState("loading");
    this.#load(path);
  }

  stop(): void {
    this.#path = undefined;
    this.#cancelRetry?.();
    this.#unload();
    this.#events.onQualities([]);
    this.#events.onPlayedQuality(undefined);
    this.#events.onState("waiting");
  }

  choose(index: number): void {
    if (this.#hls !== undefined) this.#hls.nextLevel = index;
  }

  /** Jumps to the live position after a pause. */
  jumpToLive(): void {
    const position = this.#hls?.liveSyncPosition ?? endOf(this.#video.seekable);
    if (position !== undefined && position !== null) this.#video.currentTime = position;
  }

  /** False only if the played segments are known to have no audio. */
  hasSound(): boolean {
    return this.#hasSound;
  }

  /** Seconds behind the live position; 0 if the browser does not report it. */
  behindLiveSec(): number {
    const live = this.#hls?.liveSyncPosition;
    return live === undefined || live === null ? 0 : Math.max(0, live - this.#video.currentTime);
  }

  #load(path: string, behindSegments = BEHIND_LIVE_SEGMENTS): void {
    this.#movedMs = this.#clock.epochMs();
    if (!canPlayPieces()) {
      this.#loadNatively(path);
      return;
    }
    const hls = new HlsLoader({
      // Demuxing takes 3 ms per second of this thread for 720p; a worker would be another script to load before
      // playback.
      enableWorker: false,
      liveSyncDurationCount: behindSegments,
      liveMaxLatencyDurationCount: 8,
      maxLiveSyncPlaybackRate: CATCH_UP_RATE_MAX,
      backBufferLength: 20,
      maxBufferLength: 20,
      xhrSetup(request, url) {
        // The addresses of segments stay unchanged, because caches use them as keys.
        if (url.endsWith(".m3u8")) request.open("GET", `${url}?viewer=${VIEWER}`);
      },
    });
    this.#hls = hls;
    hls.on(Events.MANIFEST_PARSED, (_, { levels }) => {
      this.#events.onQualities(qualitiesOf(levels));
      this.#start();
    });
    this.#hasSound = true;
    let kinds: string | undefined;
    hls.on(Events.BUFFER_CODECS, (_, { audio, video, audiovideo }) => {
      this.#hasSound = audio !== undefined || audiovideo !== undefined;
      const found = [audio, video, audiovideo].map((track) => track !== undefined).join();
      // A media source cannot get another track, and it stalls at the end of a track that has ended.
      if (kinds !== undefined && kinds !== found && this.#hls === hls) this.#reload();
      kinds = found;
    });
    hls.once(Events.FRAG_BUFFERED, () => {
      hls.config.liveSyncDurationCount = BEHIND_LIVE_SEGMENTS;
    });
    hls.on(Events.LEVEL_SWITCHED, (_, { level }) => {
      const played = hls.levels[level];
      this.#events.onPlayedQuality(played === undefined ? undefined : labelOf(played));
    });
    hls.on(Events.ERROR, (_, fault) => this.#failed(hls, fault));
    hls.attachMedia(this.#video);
    hls.loadSource(path);
  }

  /** Safari on older iPhones plays HLS itself, and selects the quality itself. */
  #loadNatively(path: string): void {
    if (this.#video.canPlayType("application/vnd.apple.mpegurl") === "") {
      this.#events.onState("unsupported");
      return;
    }
    this.#video.src = path;
    this.#start();
  }

  /** A browser may refuse to start playback by itself; the viewer can then use the button. */
  #start(): void {
    this.#video.play().catch(() => undefined);
  }

  #failed(hls: HlsLoader, fault: ErrorData): void {
    if (this.#hls !== hls) return;
    // When a token expires during playback, each segment is refused, long before hls.js gives up.
    if (fault.response?.code === FORBIDDEN) return this.#refused();
    if (!fault.fatal) return;
    const nowMs = this.#clock.epochMs();
    if (fault.type === ErrorTypes.MEDIA_ERROR && nowMs - this.#repairedMs > REPAIR_PERIOD_MS) {
      this.#repairedMs = nowMs;
      hls.recoverMediaError();
      return;
    }
    this.#retry();
  }

  /**
   * Reloads after a track has ended or returned. Plays the buffer to its end first, because a new load would start at a
   * position within it.
   */
  #reload(): void {
    const path = this.#path;
    if (path === undefined) return;
    const { buffered, currentTime } = this.#video;
    const loadedMs = Math.max(0, (endOf(buffered) ?? 0) - currentTime) * 1_000;
    this.#cancelRetry?.();
    this.#cancelRetry = this.#clock.after(Math.min(loadedMs, PLAYED_OUT_MAX_MS), () => {
      this.#unload();
      // The newest segment has the current tracks; the one before it may not.
      this.#load(path, 1);
    });
  }

  #refused(): void {
    this.stop();
    this.#events.onState("refused");
  }

  #retry(): void {
    const path = this.#path;
    if (path === undefined) return;
    this.#unload();
    this.#events.onState("reconnecting");
    const delayMs = RETRY_DELAYS_MS[Math.min(this.#retries, RETRY_DELAYS_MS.length - 1)] ?? 0;
    this.#retries += 1;
    // The standstill is measured from the next attempt on.
    this.#movedMs = this.#clock.epochMs() + delayMs;
    this.#cancelRetry?.();
    this.#cancelRetry = this.#clock.after(delayMs, () => this.#load(path));
  }

  #watch(): void {
    const nowMs = this.#clock.epochMs();
    const { currentTime, paused } = this.#video;
    if (this.#path === undefined || paused || currentTime !== this.#seenTime) {
      this.#seenTime = currentTime;
      this.#movedMs = Math.max(this.#movedMs, nowMs);
      return;
    }
    if (nowMs - this.#movedMs > STANDSTILL_MAX_MS) this.#retry();
  }

  /** A machine that drops frames would drop more of them, and fall further behind, at a higher rate. */
  #pace(): void {
    if (this.#hls === undefined) return;
    const doesKeepUp = this.#frames.keepsUp(this.#video);
    this.#hls.config.maxLiveSyncPlaybackRate = doesKeepUp ? CATCH_UP_RATE_MAX : 1;
    if (!doesKeepUp) this.#video.playbackRate = 1;
  }

  #unload(): void {
    this.#hls?.destroy();
    this.#hls = undefined;
    this.#video.removeAttribute("src");
    this.#video.load();
  }
}

/** Whether the browser has an API that hls.js needs; older iPhones have neither. */
function canPlayPieces(): boolean {
  return "MediaSource" in globalThis || "ManagedMediaSource" in globalThis;
}

/** Lists one quality for each height, largest first, after the automatic choice. */
function qualitiesOf(levels: readonly Level[]): readonly PictureQuality[] {
  const pictures = levels
    .map((level, index) => ({ index, label: labelOf(level), height: level.height }))
    .sort((one, other) => other.height - one.height);
  return [{ index: AUTOMATIC, label: "Auto" }, ...pictures];
}

function labelOf(level: Level): string {
  const name = level.attrs["NAME"];
  if (name !== undefined && name !== "") return name;
  const shortSide = Math.min(level.width, level.height);
  return shortSide > 0 ? `${shortSide}p` : "Audio";
}

function endOf(ranges: TimeRanges): number | undefined {
  return ranges.length === 0 ? undefined : ranges.end(ranges.length - 1);
}
