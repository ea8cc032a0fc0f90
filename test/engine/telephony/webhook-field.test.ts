import assert from "node:assert/strict";
import { test } from "node:test";
import { webhookField } from "../../../engine/telephony/webhook-field.js";

test("a call's id is found in a form and in JSON, wherever the vendor puts spaces", () => {
  assert.equal(webhookField("CallSid=CA1&From=%2B1555", "CallSid"), "CA1");
  assert.equal(webhookField('{"uuid":"u-1","other":{"uuid":"u-2"}}', "uuid"), "u-1");
  assert.equal(webhookField(' \n{"uuid":"u-1"}', "uuid"), "u-1");
});

test("what is not there, no text, or inherited is no id", () => {
  for (const body of ["", "From=1", "CallSid=", "{}", "{", "[]", '{"CallSid":5}', "null"]) {
    assert.equal(webhookField(body, "CallSid"), "", body);
  }
  assert.equal(webhookField("{}", "constructor"), "");
});

test("an id is plain text of up to 64 characters", () => {
  const id = "a".repeat(64);
  assert.equal(webhookField(`CallSid=${id}`, "CallSid"), id);
  assert.equal(webhookField(`CallSid=${id}a`, "CallSid"), "");
  for (const odd of ["a b", "a\nb", "é", "\u007f", ""]) {
    assert.equal(webhookField(JSON.stringify({ CallSid: odd }), "CallSid"), "");
  }
  assert.equal(webhookField(JSON.stringify({ CallSid: "!~" }), "CallSid"), "!~");
});
