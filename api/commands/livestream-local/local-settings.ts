import * as v from "valibot";
import {
  type Defaults,
  defaultsOf,
  type Environment,
  parseSettings,
  wholeNumber,
} from "../../../engine/settings.js";

/** What an operator can set of the component on one machine; the parts' own settings are passed on to them. */
export interface LocalSettings {
  /** What broadcasters and viewers connect to; the state API is on loopback whatever this is. */
  readonly host: string;
  readonly frontPort: number;
  readonly rtmpPort: number;
  readonly stateApiPort: number;
  /** Statistics and the check of publishers, on loopback. */
  readonly ingestStatusPort: number;
  /** Where the ingest rings the transcoder, on loopback. */
  readonly transcoderPort: number;
  readonly arePublishKeysChecked: boolean;
  readonly areViewersChecked: boolean;
}

const port = (fallback: number) => wholeNumber(fallback, 1, 65_535);

const Settings = v.object({
  HOST: v.optional(v.pipe(v.string(), v.ip("expected an IPv4 or IPv6 address")), "0.0.0.0"),
  FRONT_PORT: port(8_080),
  RTMP_PORT: port(1_935),
  LIVESTREAM_PORT: port(4_000),
  INGEST_STATUS_PORT: port(8_936),
  TRANSCODER_PORT: port(8_937),
  PUBLISH_KEYS: v.optional(v.string()),
  PUBLISH_KEYS_FILE: v.optional(v.string()),
  PRIVATE_STREAMS: v.optional(v.string()),
});

export function localDefaults(): Defaults {
  return defaultsOf(Settings.entries);
}

/** Throws a ConfigFault that lists everything that is wrong. */
export function parseLocalSettings(environment: Environment): LocalSettings {
  const env = parseSettings(Settings, environment);
  return {
    host: env.HOST,
    frontPort: env.FRONT_PORT,
    rtmpPort: env.RTMP_PORT,
    stateApiPort: env.LIVESTREAM_PORT,
    ingestStatusPort: env.INGEST_STATUS_PORT,
    transcoderPort: env.TRANSCODER_PORT,
    arePublishKeysChecked: env.PUBLISH_KEYS !== undefined || env.PUBLISH_KEYS_FILE !== undefined,
    areViewersChecked: env.PRIVATE_STREAMS !== undefined,
  };
}

/** The argument of nginx's `listen`. With `::` nginx accepts IPv4 as well. */
export function listenAddress(host: string, port: number): string {
  if (host === "::") return `[::]:${port} ipv6only=off`;
  return `${bracketed(host)}:${port}`;
}

/** The address at which this machine reaches a server that listens on `host`. */
export function ownAddress(host: string): string {
  return host === "0.0.0.0" || host === "::" ? "127.0.0.1" : bracketed(host);
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
