import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import { RECORDING_VARIABLES, recordingSettings } from "../../../engine/bucket/bucket-settings.js";

function bucketAt(address: string) {
  const variables = v.parse(v.object(RECORDING_VARIABLES), { RECORDINGS_URL: address });
  const { name, prefix } = recordingSettings(variables).recordingsBucket ?? {};
  return { name, prefix };
}

test("recordings lie in the bucket that is named, in the folder behind it", () => {
  assert.deepEqual(bucketAt("s3://sound"), { name: "sound", prefix: "" });
  assert.deepEqual(bucketAt("s3://sound/"), { name: "sound", prefix: "" });
  assert.deepEqual(bucketAt("s3://sound/phones/2026"), { name: "sound", prefix: "phones/2026/" });
  assert.deepEqual(bucketAt("s3://sound/phones/"), { name: "sound", prefix: "phones/" });
});
