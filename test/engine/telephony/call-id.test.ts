import assert from "node:assert/strict";
import { test } from "node:test";
import { callIdIn } from "../../../engine/telephony/call-id.js";

test("a call's id is found in a form and in JSON, wherever the vendor puts spaces", () => {
  assert.equal(callIdIn("CallSid=CA1&From=%2B1555", "CallSid"), "CA1");
  assert.equal(callIdIn('{"uuid":"u-1","other":{"uuid":"u-2"}}', "uuid"), "u-1");
  assert.equal(callIdIn(' \n{"uuid":"u-1"}', "uuid"), "u-1");
});

test("what is not there, no text, or inherited is no id", () => {
  for (const body of ["", "From=1", "CallSid=", "{}", "{", "[]", '{"CallSid":5}', "null"]) {
    assert.equal(callIdIn(body, "CallSid"), "", body);
  }
  assert.equal(callIdIn("{}", "constructor"), "");
});

test("an id is plain text of up to 64 characters", () => {
  const id = "a".repeat(64);
  assert.equal(callIdIn(`CallSid=${id}`, "CallSid"), id);
  assert.equal(callIdIn(`CallSid=${id}a`, "CallSid"), "");
  for (const odd of ["a b", "a\nb", "é", "\u007f", ""]) {
    assert.equal(callIdIn(JSON.stringify({ CallSid: odd }), "CallSid"), "");
  }
  assert.equal(callIdIn(JSON.stringify({ CallSid: "!~" }), "CallSid"), "!~");
});
