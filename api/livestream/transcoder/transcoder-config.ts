import * as v from "valibot";
import {
  type Defaults,
  defaultsOf,
  type Environment,
  httpUrl,
  list,
  logLevel,
  parseSettings,
  wholeNumber,
} from "../../../engine/settings.js";
import { LADDERS_MAX } from "../encoder-status.js";
import type { Rung } from "./ladder-plan.js";
import type { ShelfSettings } from "./recording/recording-archive.js";

/** The settings of the transcoder; deploy/livestream/ingest/README.md explains each. */
export interface TranscoderConfig {
  readonly stateApiUrl: string;
  readonly hlsRoot: string;
  readonly runFolder: string;
  /** Where ffmpeg reads; the word KEY is replaced. */
  readonly sourceUrl: string;
  /** The first of the two that is set reports the broadcasters. */
  readonly nginxStatUrl: string | undefined;
  readonly mediaMtxApiUrl: string;
  /** On loopback: the media server calls it when a broadcaster leaves. */
  readonly port: number;
  readonly segmentSec: number;
  readonly groupSec: number;
  readonly preset: string;
  readonly ladder: readonly Rung[];
  readonly rungsMax: number;
  readonly framesPerSecondMax: number;
  readonly hasAudioRung: boolean;
  readonly isPassthrough: boolean;
  /** Seconds between two thumbnails; 0: none. */
  readonly thumbnailSec: number;
  /** The megapixels a second that all ladders together may encode; 0: measured at the start. */
  readonly encodeMegapixelsMax: number;
  /** Maximum concurrent broadcasts; 0: by the machine's cores. */
  readonly broadcastsMax: number;
  /** A ladder that produces less than this share of real time is reduced; 0: never. */
  readonly speedMin: number;
  readonly heartbeatMs: number;
  readonly leaseSec: number;
  readonly stallMs: number;
  readonly deadMs: number;
  readonly endedKeepMs: number;
  readonly diskFreeMinBytes: number;
  /** Undefined: nothing is recorded. */
  readonly recordings: ShelfSettings | undefined;
  /** Each finished recording becomes one MP4. */
  readonly remuxesToMp4: boolean;
  /** The streams that are recorded; empty: all. */
  readonly recordedKeys: readonly string[];
  /** The user that ffmpeg runs as; undefined: this process's. */
  readonly userId: number | undefined;
  readonly groupId: number | undefined;
  readonly logLevel: v.InferOutput<typeof logLevel>;
}

const PRESETS = [
  "ultrafast",
  "superfast",
  "veryfast",
  "faster",
  "fast",
  "medium",
  "slow",
  "slower",
  "veryslow",
] as const;

const RUNG = /^(\d{2,4}):(\d{2,5}):(\d{2,3})$/;
const LADDER_EXPECTED = "expected 'short side:video kbit/s:audio kbit/s', largest first";
const DEFAULT_LADDER = "1080:4500:128 720:2800:128 480:1200:96 360:700:64 240:350:48";

const ladder = v.pipe(
  v.optional(v.string(), DEFAULT_LADDER),
  v.transform((text) => text.split(/\s+/).filter((word) => word !== "")),
  v.minLength(1, LADDER_EXPECTED),
  v.rawTransform<string[], readonly Rung[]>(({ dataset, addIssue }) =>
    dataset.value.map((word) => {
      const [, shortSide = 0, videoKbps = 0, audioKbps = 0] = (RUNG.exec(word) ?? []).map(Number);
      if (shortSide < 64 || videoKbps < 50 || audioKbps < 16) {
        addIssue({ message: `${LADDER_EXPECTED}, not '${word}'` });
      }
      return { name: `${shortSide}p`, shortSide, videoKbps, audioKbps };
    }),
  ),
);
const source = v.pipe(v.string(), v.includes("KEY", "expected an address with the word KEY in it"));
const switchOf = (fallback: 0 | 1) => wholeNumber(fallback, 0, 1);

const Settings = v.object({
  STATE_API_URL: v.optional(httpUrl, "http://127.0.0.1:4000"),
  HLS_ROOT: v.optional(v.string(), "/srv/hls"),
  RUN_DIR: v.optional(v.string(), "/run/hls-ladder"),
  SOURCE_URL: v.optional(source, "rtsp://127.0.0.1:8554/live/KEY"),
  NGINX_STAT_URL: v.optional(httpUrl),
  MEDIAMTX_API_URL: v.optional(httpUrl, "http://127.0.0.1:9997"),
  TRANSCODER_PORT: wholeNumber(8_937, 0, 65_535),
  SEGMENT_SECONDS: wholeNumber(1, 1, 2),
  GOP_SECONDS: wholeNumber(1, 1, 2),
  PRESET: v.optional(v.picklist(PRESETS, `expected one of ${PRESETS.join(", ")}`), "veryfast"),
  LADDER: ladder,
  RUNGS_MAX: wholeNumber(3, 1, 8),
  FPS_MAX: wholeNumber(30, 1, 120),
  AUDIO_RUNG: switchOf(1),
  PASSTHROUGH: switchOf(0),
  THUMBNAIL_SECONDS: wholeNumber(10, 0, 3_600),
  ENCODE_MEGAPIXELS_MAX: wholeNumber(0, 0, 100_000),
  BROADCASTS_MAX: wholeNumber(0, 0, LADDERS_MAX),
  SPEED_MIN_PERCENT: wholeNumber(92, 0, 100),
  HEARTBEAT_SECONDS: wholeNumber(10, 1, 600),
  LEASE_SECONDS: wholeNumber(30, 2, 3_600),
  STALL_SECONDS: wholeNumber(15, 2, 600),
  DEAD_SECONDS: wholeNumber(20, 2, 600),
  ENDED_KEEP_SECONDS: wholeNumber(30, 1, 86_400),
  DISK_FREE_MIN_KB: wholeNumber(16_384, 0, 999_999_999),
  RECORD_DIR: v.optional(v.string()),
  RECORD_AS: v.optional(v.picklist(["hls", "mp4"], "expected hls or mp4"), "hls"),
  RECORD_KEYS: list,
  RECORD_KEEP_HOURS: wholeNumber(168, 1, 87_600),
  RECORD_MAX_MB: wholeNumber(10_240, 1, 100_000_000),
  RECORD_FREE_MIN_MB: wholeNumber(1_024, 0, 100_000_000),
  LADDER_USER_ID: v.optional(wholeNumber(0, 0, 4_294_967_294)),
  LADDER_GROUP_ID: v.optional(wholeNumber(0, 0, 4_294_967_294)),
  LOG_LEVEL: logLevel,
});

export function transcoderDefaults(): Defaults {
  return defaultsOf(Settings.entries);
}

/** Throws a ConfigError that lists everything that is wrong. */
export function parseTranscoderConfig(environment: Environment): TranscoderConfig {
  const env = parseSettings(Settings, environment, faultsBetween(environment));
  return {
    stateApiUrl: env.STATE_API_URL.replace(/\/+$/, ""),
    hlsRoot: env.HLS_ROOT,
    runFolder: env.RUN_DIR,
    sourceUrl: env.SOURCE_URL,
    nginxStatUrl: env.NGINX_STAT_URL,
    mediaMtxApiUrl: env.MEDIAMTX_API_URL,
    port: env.TRANSCODER_PORT,
    segmentSec: env.SEGMENT_SECONDS,
    groupSec: env.GOP_SECONDS,
    preset: env.PRESET,
    ladder: env.LADDER,
    rungsMax: env.RUNGS_MAX,
    framesPerSecondMax: env.FPS_MAX,
    hasAudioRung: env.AUDIO_RUNG === 1,
    isPassthrough: env.PASSTHROUGH === 1,
    thumbnailSec: env.THUMBNAIL_SECONDS,
    encodeMegapixelsMax: env.ENCODE_MEGAPIXELS_MAX,
    broadcastsMax: env.BROADCASTS_MAX,
    speedMin: env.SPEED_MIN_PERCENT / 100,
    heartbeatMs: env.HEARTBEAT_SECONDS * 1_000,
    leaseSec: env.LEASE_SECONDS,
    stallMs: env.STALL_SECONDS * 1_000,
    deadMs: env.DEAD_SECONDS * 1_000,
    endedKeepMs: env.ENDED_KEEP_SECONDS * 1_000,
    diskFreeMinBytes: env.DISK_FREE_MIN_KB * 1_024,
    recordings:
      env.RECORD_DIR === undefined
        ? undefined
        : {
            root: env.RECORD_DIR,
            keepMs: env.RECORD_KEEP_HOURS * 3_600_000,
            bytesMax: env.RECORD_MAX_MB * 1_024 * 1_024,
            freeMinBytes: env.RECORD_FREE_MIN_MB * 1_024 * 1_024,
          },
    remuxesToMp4: env.RECORD_AS === "mp4",
    recordedKeys: env.RECORD_KEYS,
    userId: env.LADDER_USER_ID,
    groupId: env.LADDER_GROUP_ID,
    logLevel: env.LOG_LEVEL,
  };
}

/** Faults of combined settings that are each well-formed. */
function faultsBetween(environment: Environment): readonly string[] {
  const given = (name: keyof typeof Settings.entries) =>
    Number(environment[name] || transcoderDefaults()[name]);
  const faults: string[] = [];
  if (given("SEGMENT_SECONDS") % given("GOP_SECONDS") !== 0) {
    faults.push("SEGMENT_SECONDS: expected a multiple of GOP_SECONDS");
  }
  if (given("LEASE_SECONDS") <= given("HEARTBEAT_SECONDS")) {
    faults.push("LEASE_SECONDS: expected more than HEARTBEAT_SECONDS");
  }
  return faults;
}
