import assert from "node:assert/strict";
import { test } from "node:test";
import { refusedBy, unreachable } from "../../../engine/bucket/bucket.js";

const SETTINGS = {
  name: "calls",
  prefix: "a/",
  endpoint: undefined,
  region: "eu-central-1",
  accessKeyId: "key",
  secretAccessKey: "secret",
};

const told = (status: number, body = "") => {
  const { kind, message } = refusedBy(SETTINGS, { status, body });
  return [kind, message];
};
const code = (name: string) => `<Error><Code>${name}</Code></Error>`;

test("retryable responses are distinguished from ones that an operator has to fix", () => {
  for (const status of [408, 429, 500, 503]) {
    assert.deepEqual(told(status), ["away", `s3://calls/a/ answers ${status}`]);
  }
  for (const status of [400, 404, 407, 409, 428, 430, 499]) {
    assert.deepEqual(told(status), ["refused", `s3://calls/a/: it answers ${status}`]);
  }
  assert.deepEqual(told(503, code("SlowDown")), ["away", "s3://calls/a/ answers 503 (SlowDown)"]);
  assert.deepEqual(told(400, code("RequestTimeout")), [
    "away",
    "s3://calls/a/ answers 400 (RequestTimeout)",
  ]);
  assert.deepEqual(told(400, code("KeyTooLong")), [
    "refused",
    "s3://calls/a/: it answers 400 (KeyTooLong)",
  ]);
});

test("the error says what an operator has to fix", () => {
  const elsewhere = "the bucket is in another region: set RECORDINGS_REGION";
  for (const [name, advice] of [
    ["NoSuchBucket", "there is no such bucket: create it, or correct RECORDINGS_URL"],
    ["InvalidAccessKeyId", "the store does not know RECORDINGS_ACCESS_KEY_ID"],
    [
      "SignatureDoesNotMatch",
      "RECORDINGS_SECRET_ACCESS_KEY does not belong to RECORDINGS_ACCESS_KEY_ID, or RECORDINGS_REGION is wrong",
    ],
    [
      "AccessDenied",
      "the access key lacks a permission: it needs s3:PutObject, s3:GetObject and s3:DeleteObject",
    ],
    ["AuthorizationHeaderMalformed", elsewhere],
    ["PermanentRedirect", elsewhere],
    ["TemporaryRedirect", elsewhere],
    [
      "RequestTimeTooSkewed",
      "this machine's clock and the bucket's differ by too much: set the clock",
    ],
  ] as const) {
    assert.deepEqual(told(403, code(name)), ["refused", `s3://calls/a/: ${advice}`]);
  }
});

test("the error contains the region that the bucket reports, if it is not the configured one", () => {
  const region = (name: string) => told(301, `<Region>${name}</Region>`)[1];
  assert.equal(
    region("us-west-2"),
    "s3://calls/a/: it answers 301; the bucket says it is in us-west-2",
  );
  assert.equal(region("eu-central-1"), "s3://calls/a/: it answers 301");
});

test("the error says why a bucket is unreachable, even if the cause has no message", () => {
  const refusedPort = Object.assign(new Error(""), { code: "ECONNREFUSED" });
  for (const [cause, reason] of [
    [new Error("other side closed"), "other side closed"],
    [refusedPort, "ECONNREFUSED"],
    [new TypeError(""), "TypeError"],
    ["a word", "a word"],
  ] as const) {
    const fault = unreachable(SETTINGS, cause);
    assert.deepEqual(
      [fault.kind, fault.message, fault.cause],
      ["away", `s3://calls/a/ cannot be reached: ${reason}`, cause],
    );
  }
});
