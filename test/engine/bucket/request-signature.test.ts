import assert from "node:assert/strict";
import { test } from "node:test";
import { signatureFault } from "../../../engine/sandbox/object-store/object-store.js";

/** The example of "GET Object" in Amazon's documentation of Signature Version 4. */
const KEY = {
  accessKeyId: ["AKIA", "IOSFODNN7EXAMPLE"].join(""),
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  region: "us-east-1",
};
const SIGNATURE = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41";
const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

function example(changes: Readonly<Record<string, string>> = {}) {
  return {
    method: "GET",
    target: "/test.txt",
    headers: {
      host: "examplebucket.s3.amazonaws.com",
      range: "bytes=0-9",
      "x-amz-content-sha256": EMPTY,
      "x-amz-date": "20130524T000000Z",
      authorization: `AWS4-HMAC-SHA256 Credential=${KEY.accessKeyId}/20130524/us-east-1/s3/aws4_request, SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, Signature=${SIGNATURE}`,
      ...changes,
    },
  };
}

test("the simulated store accepts the signature in Amazon's documentation", () => {
  assert.equal(signatureFault(example(), KEY), undefined);
});

test("the simulated store refuses a request that was changed after it was signed", () => {
  assert.equal(signatureFault(example({ range: "bytes=0-10" }), KEY), "SignatureDoesNotMatch");
  const elsewhere = { ...example(), target: "/other.txt" };
  assert.equal(signatureFault(elsewhere, KEY), "SignatureDoesNotMatch");
  assert.equal(
    signatureFault(example({ authorization: "Basic x" }), KEY),
    "AuthorizationHeaderMalformed",
  );
  assert.equal(
    signatureFault(example(), { ...KEY, region: "eu-west-1" }),
    "AuthorizationHeaderMalformed",
  );
});
