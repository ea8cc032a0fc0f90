import assert from "node:assert/strict";
import { test } from "node:test";
import {
  refuseOpenAi,
  streamedError,
} from "../../../../engine/vendors/chat-completions/openai-refusal.js";

function refused(status: number, body: string) {
  const answer = { status, headers: {}, body, nowMs: 0 };
  const { fault, message } = refuseOpenAi("acme", "the-key")(answer);
  return [fault, message];
}

test("what the words of a refusal say counts for more than its status", () => {
  for (const [code, fault] of [
    ["insufficient_quota", "quotaExceeded"],
    ["billing_hard_limit_reached", "quotaExceeded"],
    ["invalid_api_key", "unauthorized"],
    ["model_not_found", "notFound"],
    ["rate_limit_exceeded", "rateLimited"],
    ["tool_use_failed", "badAnswer"],
    ["another", "refused"],
  ]) {
    const error = JSON.stringify({ error: { code, message: "the-key says no" } });
    const message = `acme answered 400${code === "another" ? "" : `: ${code}`}`;
    assert.deepEqual(refused(400, error), [fault, message]);
  }
  const byType = JSON.stringify({ error: { code: null, type: "insufficient_quota" } });
  assert.deepEqual(refused(429, byType), [
    "quotaExceeded",
    "acme answered 429: insufficient_quota",
  ]);
  const both = JSON.stringify({
    error: { code: "rate_limit_exceeded", type: "insufficient_quota" },
  });
  assert.equal(refused(429, both)[0], "quotaExceeded");
});

test("a refusal in other words than the protocol's is known by its status", () => {
  assert.deepEqual(refused(503, "<html>"), ["unavailable", "acme answered 503"]);
  assert.deepEqual(refused(401, '{"error":7}'), ["unauthorized", "acme answered 401"]);
  assert.deepEqual(refused(403, '{"error":7}'), ["refused", "acme answered 403"]);
  assert.equal(refused(403, '{"error":{"code":"invalid_api_key"}}')[0], "unauthorized");
  assert.deepEqual(refused(404, '{"error":"no such"}'), ["notFound", "acme answered 404"]);
  assert.deepEqual(refused(400, '{"error":{"code":17}}'), ["refused", "acme answered 400"]);
});

test("a text without an `error` object is read too, and nothing else in the body", () => {
  const bare = { object: "error", message: "the-key has no such id", type: "invalid_call" };
  assert.deepEqual(refused(400, JSON.stringify({ ...bare, code: "3280" })), [
    "refused",
    "acme answered 400: 3280",
  ]);
  assert.equal(refused(400, JSON.stringify(bare))[1], "acme answered 400: invalid_call");
  for (const body of [{ message: { detail: [{ input: "said" }] } }, ["said"], "said", {}]) {
    assert.deepEqual(refused(422, JSON.stringify(body)), ["refused", "acme answered 422"]);
  }
});

test("an error within a reply may pass, unless the request itself was wrong", () => {
  for (const [given, fault, words] of [
    [{ type: "invalid_request_error", message: "too long" }, "refused", "invalid_request_error"],
    [{ type: "server_error", message: "the-key" }, "unavailable", "server_error"],
    [{ code: "invalid_api_key" }, "unauthorized", "invalid_api_key"],
    ["overloaded", "unavailable", "about a failure of its own"],
    [7, "unavailable", ""],
  ] as const) {
    const error = streamedError("acme", given, "the-key");
    assert.deepEqual(
      [error.fault, error.message],
      [fault, ["acme broke off", words].filter(Boolean).join(": ")],
    );
  }
});
