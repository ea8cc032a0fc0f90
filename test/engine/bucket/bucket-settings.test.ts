import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import {
  missingForBucket,
  RECORDING_VARIABLES,
  recordingSettings,
} from "../../../engine/bucket/bucket-settings.js";

const VARIABLES = v.object(RECORDING_VARIABLES);
const settingsOf = (given: Readonly<Record<string, string>>) =>
  recordingSettings(v.parse(VARIABLES, given));

function bucketAt(address: string) {
  const { name, prefix } = settingsOf({ RECORDINGS_URL: address }).recordingsBucket ?? {};
  return { name, prefix };
}

test("recordings are stored in the configured bucket, below the prefix of its URL", () => {
  assert.deepEqual(bucketAt("s3://sound"), { name: "sound", prefix: "" });
  assert.deepEqual(bucketAt("s3://sound/"), { name: "sound", prefix: "" });
  assert.deepEqual(bucketAt("s3://sound/phones/2026"), { name: "sound", prefix: "phones/2026/" });
  assert.deepEqual(bucketAt("s3://sound/phones/"), { name: "sound", prefix: "phones/" });
});

test("without a URL there is no bucket, and the limit of waiting recordings is 10,000 MB", () => {
  assert.deepEqual(settingsOf({}), {
    recordingsBucket: undefined,
    recordingsWaitingBytesMax: 10_485_760_000,
  });
});

test("the variables set the endpoint, region and keys of the bucket", () => {
  const given = {
    RECORDINGS_URL: "s3://sound",
    RECORDINGS_ENDPOINT: "https://store.example.com//",
    RECORDINGS_REGION: "eu-central-1",
    RECORDINGS_ACCESS_KEY_ID: "key",
    RECORDINGS_SECRET_ACCESS_KEY: "secret",
    RECORDINGS_WAITING_MAX_MB: "1",
  };
  const bucket = { name: "sound", prefix: "", accessKeyId: "key", secretAccessKey: "secret" };
  assert.deepEqual(settingsOf(given), {
    recordingsBucket: {
      ...bucket,
      endpoint: "https://store.example.com",
      region: "eu-central-1",
    },
    recordingsWaitingBytesMax: 1_048_576,
  });
  assert.deepEqual(settingsOf({ RECORDINGS_URL: "s3://sound" }).recordingsBucket, {
    name: "sound",
    prefix: "",
    endpoint: undefined,
    region: "us-east-1",
    accessKeyId: "",
    secretAccessKey: "",
  });
});

test("invalid URLs, regions and limits are refused, and the error says what is expected", () => {
  for (const [given, message] of [
    [
      { RECORDINGS_URL: "s3://Sound" },
      "expected s3://bucket or s3://bucket/prefix, of letters, digits and . _ -",
    ],
    [{ RECORDINGS_REGION: "eu central" }, "expected a region like eu-central-1"],
  ] as const) {
    const [issue] = v.safeParse(VARIABLES, given).issues ?? [];
    assert.equal(issue?.message, message);
  }
  for (const [megabytes, isTaken] of [
    ["0", false],
    ["1", true],
    ["100000000", true],
    ["100000001", false],
  ] as const) {
    const { success } = v.safeParse(VARIABLES, { RECORDINGS_WAITING_MAX_MB: megabytes });
    assert.equal(success, isTaken, megabytes);
  }
});

test("a URL without keys is refused, and the error names the missing variables", () => {
  const address = { RECORDINGS_URL: "s3://sound" };
  const id = "RECORDINGS_ACCESS_KEY_ID: required with RECORDINGS_URL";
  const secret = "RECORDINGS_SECRET_ACCESS_KEY: required with RECORDINGS_URL";
  assert.deepEqual(missingForBucket({}), []);
  assert.deepEqual(missingForBucket(address), [id, secret]);
  assert.deepEqual(missingForBucket({ ...address, RECORDINGS_ACCESS_KEY_ID: "key" }), [secret]);
  assert.deepEqual(missingForBucket({ ...address, RECORDINGS_SECRET_ACCESS_KEY: "no" }), [id]);
});
