import assert from "node:assert/strict";
import { test } from "node:test";
import { assert as check, property, string } from "fast-check";
import {
  CLOSE_CODE_BY_ENDING,
  CLOSE_CODE_BY_REFUSAL,
  closeReason,
} from "../../../api/voice/close-codes.js";

test("a refusal has the contract's code", () => {
  const { agentNotFound, providerUnavailable, modelNotAllowed, limitReached } =
    CLOSE_CODE_BY_REFUSAL;
  assert.deepEqual(
    { agentNotFound, providerUnavailable, modelNotAllowed, limitReached },
    { agentNotFound: 4005, providerUnavailable: 4004, modelNotAllowed: 4003, limitReached: 4029 },
  );
});

test("a normal end is a normal close", () => {
  for (const reason of ["callerLeft", "durationLimit", "callerIdle"] as const) {
    assert.equal(CLOSE_CODE_BY_ENDING[reason], 1000);
  }
});

test("every code may stand in a close frame", () => {
  const codes = [...Object.values(CLOSE_CODE_BY_ENDING), ...Object.values(CLOSE_CODE_BY_REFUSAL)];
  for (const code of codes) {
    assert.ok((code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code)) || code >= 4000);
  }
});

test("a reason fits into a close frame and stays whole text", () => {
  check(
    property(string({ unit: "grapheme", maxLength: 200 }), (message) => {
      const reason = closeReason(message);
      assert.ok(Buffer.byteLength(reason) <= 123);
      assert.ok(message.startsWith(reason));
    }),
  );
  assert.equal(closeReason("short"), "short");
  assert.equal(closeReason("a".repeat(123)), "a".repeat(123));
  assert.equal(closeReason("a".repeat(124)), "a".repeat(123));
  assert.equal(closeReason(`${"a".repeat(122)}é`), "a".repeat(122));
});
