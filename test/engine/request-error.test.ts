import assert from "node:assert/strict";
import { test } from "node:test";
import { RequestError } from "../../engine/request-error.js";

test("a refusal carries its requester's message, and its cause if known", () => {
  const plain = new RequestError("not_found", "there is no such call");
  const { code, message, name, details, extra, retryAfterSec } = plain;
  assert.deepEqual(
    [code, message, name, details, extra, retryAfterSec, "cause" in plain],
    ["not_found", "there is no such call", "RequestError", undefined, undefined, undefined, false],
  );
  const cause = new Error("away");
  const field = { path: "name", message: "expected a text" };
  const full = new RequestError("invalid_request", "no", {
    cause,
    details: [field],
    extra: { agents: 2 },
    retryAfterSec: 3,
  });
  assert.deepEqual(
    [full.cause, full.details, full.extra, full.retryAfterSec],
    [cause, [field], { agents: 2 }, 3],
  );
});
