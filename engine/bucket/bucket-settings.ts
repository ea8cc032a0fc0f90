import * as v from "valibot";
import { type Environment, httpUrl, wholeNumber } from "../settings.js";

/** A bucket of an object store that speaks S3, and a place in it. */
export interface BucketSettings {
  readonly name: string;
  /** Stands before every key: empty, or with a slash at its end. */
  readonly prefix: string;
  /** Undefined for Amazon's own. */
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Where recordings are kept. */
export interface RecordingSettings {
  /** In place of the folder in `dataDir`, where they then only wait until they are sent. */
  readonly recordingsBucket: BucketSettings | undefined;
  /** While more than that waits to be sent, no new call is recorded. */
  readonly recordingsWaitingBytesMax: number;
}

/** The prefix needs no escapes in an address: the signed text is the sent text. */
const BUCKET_URL = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/?((?:[\w-][\w.-]*\/?)*)$/;

const bucketUrl = v.pipe(
  v.string(),
  v.regex(BUCKET_URL, "expected s3://bucket or s3://bucket/prefix, of letters, digits and . _ -"),
);

/** The variables of the environment that say where recordings are kept. */
export const RECORDING_VARIABLES = {
  RECORDINGS_URL: v.optional(bucketUrl),
  RECORDINGS_ENDPOINT: v.optional(httpUrl),
  RECORDINGS_REGION: v.optional(
    v.pipe(v.string(), v.regex(/^[\w-]{1,64}$/, "expected a region like eu-central-1")),
    "us-east-1",
  ),
  RECORDINGS_ACCESS_KEY_ID: v.optional(v.string()),
  RECORDINGS_SECRET_ACCESS_KEY: v.optional(v.string()),
  RECORDINGS_WAITING_MAX_MB: wholeNumber(10_000, 1, 100_000_000),
};

const Variables = v.object(RECORDING_VARIABLES);

/** What is missing beside an address that is set, one line each. */
export function missingForBucket(given: Environment): readonly string[] {
  if (given["RECORDINGS_URL"] === undefined) return [];
  return ["RECORDINGS_ACCESS_KEY_ID", "RECORDINGS_SECRET_ACCESS_KEY"]
    .filter((name) => given[name] === undefined)
    .map((name) => `${name}: required with RECORDINGS_URL`);
}

/** To be called with variables in which nothing is missing. */
export function recordingSettings(env: v.InferOutput<typeof Variables>): RecordingSettings {
  const [, name, path = ""] = BUCKET_URL.exec(env.RECORDINGS_URL ?? "") ?? [];
  const prefix = path === "" ? "" : `${path.replace(/\/$/, "")}/`;
  return {
    recordingsWaitingBytesMax: env.RECORDINGS_WAITING_MAX_MB * 1024 * 1024,
    recordingsBucket:
      name === undefined
        ? undefined
        : {
            name,
            prefix,
            endpoint: env.RECORDINGS_ENDPOINT?.replace(/\/+$/, ""),
            region: env.RECORDINGS_REGION,
            accessKeyId: env.RECORDINGS_ACCESS_KEY_ID ?? "",
            secretAccessKey: env.RECORDINGS_SECRET_ACCESS_KEY ?? "",
          },
  };
}
