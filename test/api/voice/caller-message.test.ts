import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { callerMessage } from "../../../api/voice/web-leg.js";
import { RequestError } from "../../../engine/request-error.js";

const bytesOf = (text: string): Uint8Array => Buffer.from(text);

/** The error for a client whose message is invalid; fails for a valid one. */
function faultIn(message: Uint8Array): string {
  try {
    callerMessage(message);
  } catch (error) {
    assert.ok(error instanceof RequestError);
    assert.equal(error.code, "invalid_request");
    return error.message;
  }
  return assert.fail("it was taken");
}

test("a report is the played part of a turn; unknown fields are ignored", () => {
  const message = bytesOf('{"type":"played","turnId":3,"ms":1234.5,"buffered":80}');
  assert.deepEqual(callerMessage(message), { type: "played", turnId: 3, ms: 1_234.5 });
});

test("written words are taken without the blanks around them, up to 1,000 characters", () => {
  const written = (text: unknown) => bytesOf(JSON.stringify({ type: "written", text }));
  assert.deepEqual(callerMessage(written(" My name is Ada.\n")), {
    type: "written",
    text: "My name is Ada.",
  });
  // Each of them takes six bytes where a client escapes it.
  const escaped = `{"type":"written","text":"${"\\u00e4".repeat(1_000)}"}`;
  assert.deepEqual(callerMessage(bytesOf(escaped)), { type: "written", text: "ä".repeat(1_000) });
  for (const text of ["", " ", "x".repeat(1_001), 7, null, "\0", "\ud800"]) {
    assert.match(faultIn(written(text)), /^text: expected the caller's words, text of 1 to 1000/);
  }
});

test("errors name the field, and never repeat the value", () => {
  const secret = "my password";
  assert.match(faultIn(bytesOf(secret)), /^message: expected a JSON object$/);
  assert.match(faultIn(Uint8Array.of(0xff, 0xfe)), /^message: /);
  assert.match(faultIn(bytesOf(" ".repeat(32_769))), /^message: expected at most 32768 bytes$/);
  for (const [field, value] of [
    ["type", secret],
    ["turnId", secret],
    ["turnId", 0],
    ["turnId", 1.5],
    ["ms", secret],
    ["ms", -1],
    ["ms", 1e99],
  ] as const) {
    const fault = faultIn(
      bytesOf(JSON.stringify({ type: "played", turnId: 1, ms: 0, [field]: value })),
    );
    assert.match(fault, new RegExp(`^${field}: expected `));
    assert.doesNotMatch(fault, /password/);
  }
});

test("a client offers up to 64 tools by their names", () => {
  const offer = (names: unknown) => bytesOf(JSON.stringify({ type: "tools", names }));
  const names = Array.from({ length: 64 }, (_, n) => `tool${n}`);
  assert.deepEqual(callerMessage(offer(names)), { type: "tools", names });
  assert.deepEqual(callerMessage(offer([])), { type: "tools", names: [] });
  for (const wrong of [[...names, "one_more"], ["x".repeat(65)], [""], [7], "tool1", undefined]) {
    assert.match(
      faultIn(offer(wrong)),
      /^names(?:\.0)?: expected names of tools, a list of at most 64/,
    );
  }
});

test("a tool's result is any JSON, or none, or why there is none", () => {
  const told = (fields: object) =>
    bytesOf(JSON.stringify({ type: "toolResult", id: 1, ...fields }));
  for (const fields of [{}, { result: null }, { result: [{ a: 1 }] }, { error: "no such order" }]) {
    assert.deepEqual(callerMessage(told(fields)), { type: "toolResult", id: 1, ...fields });
  }
  for (const [field, value] of [
    ["id", 0],
    ["id", "1"],
    ["error", 7],
    ["error", "x".repeat(1_001)],
  ] as const) {
    assert.match(faultIn(told({ [field]: value })), new RegExp(`^${field}: expected `));
  }
});

test("every message is either accepted or answered with an error", () => {
  const messages = fc.oneof(
    fc.uint8Array({ maxLength: 2_000 }),
    fc.json().map(bytesOf),
    fc
      .record(
        {
          type: fc.constantFrom("played", "written", "tools", "toolResult", "audioStop"),
          id: fc.jsonValue(),
          names: fc.jsonValue(),
          turnId: fc.jsonValue(),
          ms: fc.jsonValue(),
          text: fc.jsonValue(),
        },
        { requiredKeys: [] },
      )
      .map((report) => bytesOf(JSON.stringify(report))),
  );
  fc.assert(
    fc.property(messages, (message) => {
      try {
        const taken = callerMessage(message);
        if (taken.type === "written") return assert.match(taken.text, /^\S(?:[^]{0,998}\S)?$/);
        if (taken.type === "tools") return assert.ok(taken.names.length <= 64);
        if (taken.type === "toolResult") return assert.ok(Number.isSafeInteger(taken.id));
        assert.ok(Number.isSafeInteger(taken.turnId) && taken.turnId > 0);
        assert.ok(taken.ms >= 0 && Number.isFinite(taken.ms));
      } catch (error) {
        assert.ok(error instanceof RequestError);
        assert.ok(error.message.length < 1_000);
      }
    }),
  );
});
