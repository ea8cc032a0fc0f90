import * as v from "valibot";
import { type Environment, httpUrl, wholeNumber } from "../settings.js";

/** A bucket of an S3-compatible object store, with a prefix for its keys. */
export interface BucketSettings {
  readonly name: string;
  /** Prepended to every key: empty, or with a trailing slash. */
  readonly prefix: string;
  /** Undefined: Amazon S3. */
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Where recordings are stored. */
export interface RecordingSettings {
  /** Replaces the folder in `dataDir`, which then only holds recordings until they are uploaded. */
  readonly recordingsBucket: BucketSettings | undefined;
  /** While more bytes than this wait for their upload, no new call is recorded. */
  readonly recordingsWaitingBytesMax: number;
}

/** The prefix has only characters without URL escapes, so that the signed path is the one that is sent. */
const BUCKET_URL = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/?((?:[\w-][\w.-]*\/?)*)$/;

const bucketUrl = v.pipe(
  v.string(),
  v.regex(BUCKET_URL, "expected s3://bucket or s3://bucket/prefix, of letters, digits and . _ -"),
);

/** The environment variables for the storage of recordings. */
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

/** The variables that a bucket needs and that are missing, one line each. */
export function missingForBucket(given: Environment): readonly string[] {
  if (given["RECORDINGS_URL"] === undefined) return [];
  return ["RECORDINGS_ACCESS_KEY_ID", "RECORDINGS_SECRET_ACCESS_KEY"]
    .filter((name) => given[name] === undefined)
    .map((name) => `${name}: required with RECORDINGS_URL`);
}

/** Expects variables that `missingForBucket` has checked. */
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
