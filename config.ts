import { hostname } from "node:os";
import * as v from "valibot";
import { isAddressBlock } from "./api/http/request/address-blocks.js";
import { isOriginPattern } from "./engine/security/origins.js";
import {
  type BackendChoice,
  certificateFile,
  type Defaults,
  databaseUrl,
  defaultsOf,
  type Environment,
  flag,
  httpBackend,
  httpUrl,
  list,
  loadEnvFile,
  logLevel,
  parseSettings,
  variablesSet,
  wholeNumber,
} from "./engine/settings.js";

export { ConfigError } from "./engine/settings.js";

import {
  missingForBucket,
  RECORDING_VARIABLES,
  type RecordingSettings,
  recordingSettings,
} from "./engine/bucket/bucket-settings.js";
import {
  isPhoneVendorName,
  PHONE_VENDOR_NAMES,
  type TelephonySettings,
  telephonySettings,
} from "./engine/telephony/telephony-settings.js";
import {
  isEmbeddingModel,
  VENDOR_VARIABLES,
  type VendorKeys,
  type VendorUrls,
  vendorSettings,
} from "./engine/vendors/vendor-environment.js";

/** Everything that an operator can set, read once at the start. This file is the only reader of the environment. */
export interface Config extends TelephonySettings, RecordingSettings {
  readonly isProduction: boolean;
  readonly host: string;
  readonly port: number;
  /** Answers health checks alone; 0: none. */
  readonly healthPort: number;
  readonly httpBackend: BackendChoice;
  /** Processes that carry calls; 1 is this one alone, 0 as many as the server has cores for. */
  readonly workers: number;
  readonly dataDir: string;
  /** PostgreSQL in place of the file in `dataDir`. */
  readonly databaseUrl: string | undefined;
  /** For the lock and LISTEN, where the other leads through a pooler in transaction mode. */
  readonly databaseSessionUrl: string | undefined;
  readonly databaseConnections: number;
  /** Names this server among those of one PostgreSQL database; no two have the same. */
  readonly nodeName: string;
  /** Where this server alone is reached; undefined where one address serves all. */
  readonly nodeUrl: string | undefined;
  readonly publicBaseUrl: string | undefined;
  /** What the start expects of the database: anything, an existing one, or one restored from a backup. */
  readonly databaseStart: "any" | "existing" | "restored";
  /** Absent only outside production: then they are made and kept in `dataDir`. */
  readonly jwtSecret: string | undefined;
  readonly encryptionKey: string | undefined;
  /** Earlier secrets, which verify and open but never sign or seal. */
  readonly jwtSecretsOld: readonly string[];
  readonly encryptionKeysOld: readonly string[];
  readonly jwtExpiresIn: string;
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly vendorKeys: VendorKeys;
  readonly vendorUrls: VendorUrls;
  /** PEM of authorities that are trusted beside the public ones. */
  readonly vendorCa: string | undefined;
  readonly sandbox: "auto" | "on" | "tls" | "off";
  readonly sandboxVoice: "tones" | "speech";
  readonly allowPrivateProviders: boolean;
  readonly authRequestsPerMinute: number;
  readonly requestsPerMinute: number;
  /** Tests of providers and chats with agents, by organization. */
  readonly vendorRequestsPerMinute: number;
  readonly voiceConnectionsPerMinute: number;
  readonly callsMax: number;
  readonly eventLoopDelayMaxMs: number;
  readonly drainTimeoutMs: number;
  readonly speechCacheBytes: number;
  /** How long a vendor is waited for that has another behind it. */
  readonly chainTimeouts: {
    readonly firstTokenMs: number;
    readonly tokenGapMs: number;
    readonly firstByteMs: number;
    readonly connectMs: number;
  };
  /** Preemptive replies of an organization may waste this many tokens. */
  readonly preemptiveWasteTokensPerHour: number;
  /** Asking a second model, because the first is late, may cost such a share of an organization's tokens. */
  readonly hedgingTokensPercent: number;
  /** `vendor/model`: organizations may embed their documents with these models of the platform's LLM providers. */
  readonly embeddingModels: readonly string[];
  readonly logLevel: "debug" | "info" | "warn" | "error" | "silent";
}

/** The database's file, in `dataDir`. */
export const DATABASE_FILE = "parley.db";

/**
 * Reads `.env` where there is one, then the environment, which wins. Throws a ConfigError. Commands that need no secrets
 * do not demand them in production either.
 */
export function readConfig(secrets: "required" | "optional" = "required"): Config {
  return parseConfig(readEnvironment(), secrets);
}

/** For the processes that have settings of their own. */
export function readEnvironment(): Environment {
  loadEnvFile(process.env);
  return process.env;
}

const text = v.optional(v.string());
/** A forged token or broken text is tried with every one of them. */
const OLD_KEYS_MAX = 10;

const secretText = v.pipe(v.string(), v.minLength(32, "expected 32 characters or more"));
const keyText = v.pipe(
  v.string(),
  v.regex(/^[0-9a-f]{64}$/i, "expected 64 hexadecimal characters"),
);
function oldKeys(each: typeof secretText | typeof keyText) {
  const tooMany = `expected at most ${OLD_KEYS_MAX}, with commas between`;
  return v.pipe(list, v.maxLength(OLD_KEYS_MAX, tooMany), v.array(each));
}

const embeddingModelText = v.pipe(
  v.string(),
  v.check(
    isEmbeddingModel,
    "expected models with their vendor, like openai/text-embedding-3-small",
  ),
);

/** A public key as the vendor's portal shows it. */
const publicKeyText = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9+/]{43}=$/, "expected a public key: 32 bytes in base64"),
);

const BASE_URL_EXPECTED =
  "expected no user name, query or fragment, and a path of letters, digits, dots, hyphens and underscores";

const Settings = v.object({
  NODE_ENV: v.optional(
    v.picklist(["development", "production", "test"], "expected development, production or test"),
    "development",
  ),
  HOST: v.optional(v.string(), "0.0.0.0"),
  PORT: wholeNumber(8080, 0, 65_535),
  HEALTH_PORT: wholeNumber(0, 0, 65_535),
  HTTP_BACKEND: httpBackend,
  WORKERS: wholeNumber(0, 0, 256),
  DATA_DIR: v.optional(v.string(), "./data"),
  DATABASE_URL: v.optional(databaseUrl),
  DATABASE_SESSION_URL: v.optional(databaseUrl),
  DATABASE_CONNECTIONS: wholeNumber(10, 1, 1_000),
  NODE_NAME: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[\w.-]{1,63}$/, "expected up to 63 letters, digits, dots, hyphens and underscores"),
    ),
  ),
  NODE_URL: v.optional(httpUrl),
  PUBLIC_BASE_URL: v.optional(
    v.pipe(httpUrl, v.check(isBaseUrl, BASE_URL_EXPECTED), v.transform(withoutSlashAtEnd)),
  ),
  JWT_SECRET: v.optional(secretText),
  JWT_SECRET_OLD: oldKeys(secretText),
  ENCRYPTION_KEY: v.optional(keyText),
  ENCRYPTION_KEY_OLD: oldKeys(keyText),
  JWT_EXPIRES_IN: v.optional(
    v.pipe(v.string(), v.regex(/^[1-9]\d*[smhd]$/, "expected a form like 30m, 1h or 7d")),
    "1h",
  ),
  TRUSTED_PROXIES: v.pipe(
    list,
    v.check((blocks) => blocks.every(isAddressBlock), "expected addresses or CIDR blocks"),
  ),
  CORS_ORIGINS: v.pipe(
    list,
    v.check((origins) => origins.every(isOrigin), "expected origins like https://app.example.com"),
  ),
  TWILIO_ACCOUNT_SID: text,
  TWILIO_AUTH_TOKEN: text,
  TWILIO_BASE_URL: v.optional(httpUrl, "https://api.twilio.com"),
  SIGNALWIRE_PROJECT_ID: text,
  SIGNALWIRE_API_TOKEN: text,
  SIGNALWIRE_SIGNING_KEY: text,
  SIGNALWIRE_BASE_URL: v.optional(httpUrl),
  TELNYX_API_KEY: text,
  TELNYX_TEXML_APP_ID: text,
  TELNYX_PUBLIC_KEY: v.optional(publicKeyText),
  TELNYX_BASE_URL: v.optional(httpUrl, "https://api.telnyx.com"),
  PLIVO_AUTH_ID: text,
  PLIVO_AUTH_TOKEN: text,
  PLIVO_BASE_URL: v.optional(httpUrl, "https://api.plivo.com"),
  VONAGE_APPLICATION_ID: text,
  VONAGE_PRIVATE_KEY: text,
  VONAGE_SIGNATURE_SECRET: text,
  VONAGE_BASE_URL: v.optional(httpUrl, "https://api.nexmo.com"),
  JAMBONZ_ACCOUNT_SID: text,
  JAMBONZ_API_KEY: text,
  JAMBONZ_WEBHOOK_SECRET: text,
  JAMBONZ_BASE_URL: v.optional(httpUrl, "https://jambonz.cloud/api"),
  ASTERISK_ARI_URL: v.optional(httpUrl),
  ASTERISK_ARI_USER: text,
  ASTERISK_ARI_PASSWORD: text,
  AUDIOSOCKET_PORT: wholeNumber(0, 0, 65_535),
  TELEPHONY_VENDORS: v.pipe(
    list,
    v.check(
      (names) => names.every(isPhoneVendorName),
      `expected some of ${PHONE_VENDOR_NAMES.join(", ")}`,
    ),
  ),
  VENDOR_CA_FILE: v.optional(certificateFile),
  DATABASE_START: v.optional(
    v.picklist(["any", "existing", "restored"], "expected any, existing or restored"),
    "any",
  ),
  SANDBOX_VOICE: v.optional(v.picklist(["tones", "speech"], "expected tones or speech"), "speech"),
  SANDBOX: v.optional(
    v.picklist(["auto", "on", "tls", "off"], "expected auto, on, tls or off"),
    "auto",
  ),
  ALLOW_PRIVATE_PROVIDERS: flag,
  AUTH_REQUESTS_PER_MINUTE: wholeNumber(10, 1, 1_000_000),
  REQUESTS_PER_MINUTE: wholeNumber(600, 1, 10_000_000),
  VENDOR_REQUESTS_PER_MINUTE: wholeNumber(20, 1, 1_000_000),
  VOICE_CONNECTIONS_PER_MINUTE: wholeNumber(30, 1, 1_000_000),
  CALLS_MAX: wholeNumber(0, 0, 100_000),
  EVENT_LOOP_DELAY_MAX_MS: wholeNumber(100, 0, 10_000),
  DRAIN_TIMEOUT_SEC: wholeNumber(30, 0, 7_200),
  SPEECH_CACHE_MB: wholeNumber(32, 0, 4_096),
  LLM_FIRST_TOKEN_MAX_MS: wholeNumber(2_500, 100, 60_000),
  LLM_TOKEN_GAP_MAX_MS: wholeNumber(1_200, 100, 60_000),
  TTS_FIRST_BYTE_MAX_MS: wholeNumber(1_500, 100, 60_000),
  STT_CONNECT_MAX_MS: wholeNumber(3_000, 100, 60_000),
  PREEMPTIVE_WASTE_TOKENS_PER_HOUR: wholeNumber(100_000, 0, 1_000_000_000),
  HEDGING_TOKENS_PERCENT: wholeNumber(5, 0, 100),
  EMBEDDING_MODELS: v.pipe(list, v.array(embeddingModelText)),
  LOG_LEVEL: logLevel,
});

const Others = { ...VENDOR_VARIABLES, ...RECORDING_VARIABLES };
const Variables = v.intersect([Settings, v.object(Others)]);

/** All variables that are read, with their defaults. */
export function variableDefaults(): Defaults {
  return defaultsOf({ ...Settings.entries, ...Others });
}

/** Paths are registered below its sub-path, so it holds no sign that has a meaning in them. */
function isBaseUrl(text: string): boolean {
  const { search, hash, username, password, pathname } = new URL(text);
  const hasMore = [search, hash, username, password].some((part) => part !== "");
  return !hasMore && /^(?:\/[\w.~-]+)*\/?$/.test(pathname) && !/[?#]/.test(text);
}

function withoutSlashAtEnd(text: string): string {
  return text.replace(/\/$/, "");
}

/** As browsers send it, since it is compared as text; `*` stands for all. */
function isOrigin(text: string): boolean {
  return text === "*" || isOriginPattern(text);
}

export function parseConfig(
  environment: Environment,
  secrets: "required" | "optional" = "required",
): Config {
  const given = variablesSet(environment);
  const faults =
    given["NODE_ENV"] === "production" && secrets === "required" ? missingInProduction(given) : [];
  return configOf(parseSettings(Variables, given, [...faults, ...missingForBucket(given)]));
}

function missingInProduction(given: Readonly<Record<string, unknown>>): string[] {
  const faults: string[] = [];
  for (const name of ["JWT_SECRET", "ENCRYPTION_KEY"]) {
    if (given[name] === undefined) faults.push(`${name}: required in production`);
  }
  if (["on", "tls"].includes(String(given["SANDBOX"])))
    faults.push("SANDBOX: there is no sandbox in production");
  return faults;
}

function configOf(env: v.InferOutput<typeof Variables>): Config {
  const isProduction = env.NODE_ENV === "production";
  return {
    isProduction,
    host: env.HOST,
    port: env.PORT,
    healthPort: env.HEALTH_PORT,
    httpBackend: env.HTTP_BACKEND,
    workers: env.WORKERS,
    dataDir: env.DATA_DIR,
    databaseUrl: env.DATABASE_URL,
    databaseSessionUrl: env.DATABASE_SESSION_URL,
    databaseConnections: env.DATABASE_CONNECTIONS,
    nodeName: env.NODE_NAME ?? hostname(),
    nodeUrl: env.NODE_URL,
    publicBaseUrl: env.PUBLIC_BASE_URL,
    jwtSecret: env.JWT_SECRET,
    encryptionKey: env.ENCRYPTION_KEY,
    jwtSecretsOld: env.JWT_SECRET_OLD,
    encryptionKeysOld: env.ENCRYPTION_KEY_OLD,
    jwtExpiresIn: env.JWT_EXPIRES_IN,
    trustedProxies: env.TRUSTED_PROXIES,
    corsOrigins: env.CORS_ORIGINS,
    ...vendorSettings(env),
    ...telephonySettings(env),
    ...recordingSettings(env),
    vendorCa: env.VENDOR_CA_FILE,
    sandboxVoice: env.SANDBOX_VOICE,
    sandbox: isProduction ? "off" : env.SANDBOX,
    allowPrivateProviders: env.ALLOW_PRIVATE_PROVIDERS,
    authRequestsPerMinute: env.AUTH_REQUESTS_PER_MINUTE,
    requestsPerMinute: env.REQUESTS_PER_MINUTE,
    vendorRequestsPerMinute: env.VENDOR_REQUESTS_PER_MINUTE,
    voiceConnectionsPerMinute: env.VOICE_CONNECTIONS_PER_MINUTE,
    callsMax: env.CALLS_MAX,
    eventLoopDelayMaxMs: env.EVENT_LOOP_DELAY_MAX_MS,
    databaseStart: env.DATABASE_START,
    drainTimeoutMs: env.DRAIN_TIMEOUT_SEC * 1_000,
    speechCacheBytes: env.SPEECH_CACHE_MB * 1024 * 1024,
    chainTimeouts: {
      firstTokenMs: env.LLM_FIRST_TOKEN_MAX_MS,
      tokenGapMs: env.LLM_TOKEN_GAP_MAX_MS,
      firstByteMs: env.TTS_FIRST_BYTE_MAX_MS,
      connectMs: env.STT_CONNECT_MAX_MS,
    },
    preemptiveWasteTokensPerHour: env.PREEMPTIVE_WASTE_TOKENS_PER_HOUR,
    hedgingTokensPercent: env.HEDGING_TOKENS_PERCENT,
    embeddingModels: env.EMBEDDING_MODELS,
    logLevel: env.LOG_LEVEL,
  };
}
