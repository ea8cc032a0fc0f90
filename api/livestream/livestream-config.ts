import * as v from "valibot";
import {
  type BackendChoice,
  type Defaults,
  defaultsOf,
  type Environment,
  flag,
  httpBackend,
  httpUrl,
  list,
  logLevel,
  parseSettings,
  variablesSet,
  wholeNumber,
} from "../../engine/settings.js";
import { isAddressBlock } from "../http/request/address-blocks.js";
import { STREAM_KEY } from "./webhook-form.js";

/** The settings of the live-stream state API. */
export interface LiveStreamConfig {
  readonly host: string;
  readonly port: number;
  readonly httpBackend: BackendChoice;
  /** Where the ingest writes playlists; if omitted, no qualities are reported. */
  readonly hlsRoot: string | undefined;
  /** The prefix of the playlists' addresses; if omitted, they begin with `/hls/`. */
  readonly publicBaseUrl: string | undefined;
  /** The networks that may call the webhooks, as addresses or CIDR blocks. */
  readonly webhookNetworks: readonly string[];
  readonly streamsMax: number;
  readonly listenersMax: number;
  readonly isClientIpMasked: boolean;
  /** Lines of `stream=secret`; empty: anyone may publish. */
  readonly publishKeys: readonly string[];
  readonly publishKeysFile: string | undefined;
  /** Streams that require a token for viewing, or `*` for all. */
  readonly privateStreams: readonly string[];
  /** Signs viewers' tokens; required if a stream is private. */
  readonly viewTokenSecret: string | undefined;
  readonly logLevel: v.InferOutput<typeof logLevel>;
}

const LOOPBACK_AND_PRIVATE: readonly string[] = [
  "127.0.0.0/8",
  "::1",
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "fc00::/7",
  "fe80::/10",
];

const networks = v.pipe(
  list,
  v.transform((given) => (given.length === 0 ? LOOPBACK_AND_PRIVATE : given)),
  v.check(areNetworks, "expected addresses or CIDR blocks, with commas between"),
);

const SECRET_CHARS_MIN = 32;
const privateStreams = v.pipe(
  list,
  v.check((keys) => keys.every(isKeyOrAny), "expected stream keys, or *, with commas between"),
);

const Settings = v.object({
  HOST: v.optional(v.string(), "0.0.0.0"),
  LIVESTREAM_PORT: wholeNumber(4_000, 0, 65_535),
  HTTP_BACKEND: httpBackend,
  HLS_ROOT: v.optional(v.string()),
  PUBLIC_BASE_URL: v.optional(httpUrl),
  WEBHOOK_NETWORKS: networks,
  MAX_STREAMS: wholeNumber(10_000, 1, 100_000),
  MAX_EVENT_LISTENERS: wholeNumber(1_000, 0, 100_000),
  MASK_CLIENT_IP: flag,
  PUBLISH_KEYS: list,
  PUBLISH_KEYS_FILE: v.optional(v.string()),
  PRIVATE_STREAMS: privateStreams,
  VIEW_TOKEN_SECRET: v.optional(
    v.pipe(
      v.string(),
      v.minLength(SECRET_CHARS_MIN, `expected ${SECRET_CHARS_MIN} characters or more`),
    ),
  ),
  LOG_LEVEL: logLevel,
});

export function liveStreamDefaults(): Defaults {
  return defaultsOf(Settings.entries);
}

/** Throws a ConfigError that lists everything that is wrong. */
export function parseLiveStreamConfig(environment: Environment): LiveStreamConfig {
  const env = parseSettings(Settings, environment, faultsBetween(environment));
  return {
    host: env.HOST,
    port: env.LIVESTREAM_PORT,
    httpBackend: env.HTTP_BACKEND,
    hlsRoot: env.HLS_ROOT,
    publicBaseUrl: env.PUBLIC_BASE_URL?.replace(/\/+$/, ""),
    webhookNetworks: env.WEBHOOK_NETWORKS,
    streamsMax: env.MAX_STREAMS,
    listenersMax: env.MAX_EVENT_LISTENERS,
    isClientIpMasked: env.MASK_CLIENT_IP,
    publishKeys: env.PUBLISH_KEYS,
    publishKeysFile: env.PUBLISH_KEYS_FILE,
    privateStreams: env.PRIVATE_STREAMS,
    viewTokenSecret: env.VIEW_TOKEN_SECRET,
    logLevel: env.LOG_LEVEL,
  };
}

function isKeyOrAny(key: string): boolean {
  return key === "*" || STREAM_KEY.test(key);
}

function faultsBetween(environment: Environment): readonly string[] {
  const { PRIVATE_STREAMS: given, VIEW_TOKEN_SECRET: secret } = variablesSet(environment);
  return given !== undefined && secret === undefined
    ? ["VIEW_TOKEN_SECRET: needed where there are PRIVATE_STREAMS"]
    : [];
}

function areNetworks(entries: readonly string[]): boolean {
  return entries.every(isAddressBlock);
}
