import assert from "node:assert/strict";
import { test } from "node:test";
import { VendorError, type VendorFault } from "../../../engine/vendors/contracts.js";
import {
  connectionFault,
  faultOfStatus,
  refusal,
  safeText,
} from "../../../engine/vendors/vendor-fault.js";

test("a key is hidden at any position; a text too short to be one is a word", () => {
  assert.equal(safeText("abcd, and\nabcd", "abcd"), "[key], and [key]");
  assert.equal(safeText("abc", "abc"), "abc");
  assert.equal(safeText("abcd", undefined), "abcd");
});

test("what may pass is tried elsewhere or again, and what a vendor refuses is not", () => {
  const statuses = [400, 401, 402, 403, 404, 408, 409, 422, 429, 498, 499, 500, 503, 529, 599];
  const by = (fault: string) => statuses.filter((status) => faultOfStatus(status) === fault);
  assert.deepEqual(by("unauthorized"), [401]);
  assert.deepEqual(by("quotaExceeded"), [402]);
  assert.deepEqual(by("notFound"), [404]);
  assert.deepEqual(by("timeout"), [408]);
  assert.deepEqual(by("rateLimited"), [429, 498]);
  assert.deepEqual(by("unavailable"), [409, 499, 500, 503, 529, 599]);
  assert.deepEqual(by("refused"), [400, 403, 422]);
});

test("a line is cut after 300 characters, and has neither line ends nor control characters", () => {
  assert.equal(safeText("x".repeat(300), undefined), "x".repeat(300));
  assert.equal(safeText("x".repeat(301), undefined), `${"x".repeat(300)}…`);
  assert.equal(safeText(" one\r\n\u0000 two\t", undefined), "one two");
});

const CODES: readonly (readonly [VendorFault, ...string[]])[] = [
  ["refused", "private_address", "UND_ERR_INVALID_ARG", "CERT_HAS_EXPIRED", "ERR_TLS_CERT_ALTNAME"],
  ["refused", "DEPTH_ZERO_SELF_SIGNED_CERT", "ERR_SSL_WRONG_VERSION", "HOSTNAME_MISMATCH"],
  ["timeout", "UND_ERR_CONNECT_TIMEOUT", "ETIMEDOUT"],
  ["unavailable", "ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"],
  ["unavailable", "UND_ERR_CLOSED", "UND_ERR_DESTROYED"],
  ["badAnswer", "HPE_INVALID_CONSTANT", "UND_ERR_HEADERS_OVERFLOW"],
  ["disconnected", "ECONNRESET", "UND_ERR_SOCKET", "EPIPE"],
];

test("an error of the connection is what its code says, however deep it lies", () => {
  for (const [fault, ...codes] of CODES) {
    for (const code of codes) {
      const cause = Object.assign(new Error("secret words"), { code });
      const error = connectionFault("acme", new Error("outer", { cause }));
      assert.equal(error.fault, fault, code);
      assert.match(error.message, new RegExp(`^acme: .*: ${code}$`));
      assert.equal(error.vendor, "acme");
      const attempts = new AggregateError([cause, new Error("another")]);
      assert.equal(connectionFault("acme", attempts).fault, fault, code);
    }
  }
  const unknown = connectionFault("acme", new Error("secret words"));
  assert.deepEqual([unknown.fault, unknown.message], ["disconnected", "acme: connection failed"]);
  assert.equal(connectionFault("acme", "no error at all").message, "acme: connection failed");
  const known = new VendorError("other", "aborted", "other: aborted");
  assert.equal(connectionFault("acme", known), known);
});

test("the cause of an error of the connection is kept, and looked for so deep and no deeper", () => {
  const nested = (depth: number): Error =>
    depth === 0
      ? Object.assign(new Error("innermost"), { code: "ETIMEDOUT" })
      : new Error("outer", { cause: nested(depth - 1) });
  const within = nested(4);
  assert.equal(connectionFault("acme", within).fault, "timeout");
  assert.equal(connectionFault("acme", within).cause, within);
  assert.equal(connectionFault("acme", nested(5)).fault, "disconnected");
});

test("TLS that fails is a wrong setting before the connection was open, and a lost connection after", () => {
  const cause = Object.assign(new Error("alert"), { code: "ERR_SSL_DECRYPTION_FAILED" });
  const [before, after] = [connectionFault("acme", cause), connectionFault("acme", cause, true)];
  assert.deepEqual(
    [before.fault, before.message],
    ["refused", "acme: no TLS connection that can be trusted: ERR_SSL_DECRYPTION_FAILED"],
  );
  assert.deepEqual(
    [after.fault, after.message],
    ["disconnected", "acme: connection failed: ERR_SSL_DECRYPTION_FAILED"],
  );
  const refused = Object.assign(new Error("no"), { code: "ECONNREFUSED" });
  assert.equal(connectionFault("acme", refused, true).fault, "unavailable");
});

function refused(headers: Record<string, string | string[]>, code?: string, message?: string) {
  const answer = { status: 429, headers, nowMs: 1_800_000_000_000 };
  return refusal("acme", "rateLimited", answer, { code, message }, "the-key");
}

test("a refusal is reported by its code and never in the vendor's text, with the status and the id of the request", () => {
  assert.equal(refused({}).message, "acme answered 429");
  assert.equal(refused({}, "a_code", "").message, "acme answered 429: a_code");
  const told = refused({}, "a_code", "the-key is too busy");
  assert.equal(told.message, "acme answered 429: a_code");
  assert.equal(told.vendorText, "a_code: [key] is too busy");
  const named = refused({}, "a word", "the caller's sample_rate or DATA-0001");
  assert.equal(named.message, "acme answered 429: parameter sample_rate, about the audio format");
  assert.deepEqual([told.status, told.requestId, told.retryAfterMs], [429, undefined, undefined]);
  for (const name of ["x-request-id", "request-id", "dg-request-id"]) {
    assert.equal(refused({ [name]: "x".repeat(101) }).requestId, "x".repeat(100));
  }
  assert.equal(refused({ "request-id": "second", "x-request-id": "first" }).requestId, "first");
  assert.equal(refused({ "request-id": ["one", "two"] }).requestId, "one");
});

test("the pause that a vendor asks for is never longer than an hour, and never a negative one", () => {
  for (const [headers, expectedMs] of [
    [{ "retry-after-ms": "1" }, 1],
    [{ "retry-after-ms": "0", "retry-after": "3" }, 3_000],
    [{ "retry-after-ms": "3600001" }, 3_600_000],
    [{ "retry-after": "0" }, 0],
    [{ "retry-after": "3600" }, 3_600_000],
    [{ "retry-after": "3601" }, 3_600_000],
    [{ "retry-after": "-1" }, undefined],
    [{ "retry-after": "Fri, 15 Jan 2027 08:00:07 GMT" }, 7_000],
    [{ "retry-after": "Fri, 15 Jan 2027 07:59:59 GMT" }, undefined],
    [{ "retry-after": "later" }, undefined],
    [{}, undefined],
  ] as const) {
    assert.equal(refused(headers).retryAfterMs, expectedMs, JSON.stringify(headers));
  }
});
