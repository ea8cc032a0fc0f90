import assert from "node:assert/strict";
import { test } from "node:test";
import { calledNumber } from "../../../../engine/tenancy/agents/called-number.js";

test("every vendor's notation of a number gives the same stored number", () => {
  for (const [written, number] of [
    ["+15550002222", "+15550002222"],
    ["15550002222", "+15550002222"],
    ["sip:Desk@Voice.Example.com", "sip:Desk@voice.example.com"],
    ["SIP:desk@a.example:5061;transport=tls", "sip:desk@a.example:5061"],
    ["sips:+15550002222@a.example?x=y", "sips:+15550002222@a.example"],
  ] as const) {
    assert.equal(calledNumber(written), number, written);
  }
});

test("an extension, a name and an invalid address are not numbers", () => {
  for (const written of [
    "",
    "s",
    "100",
    "+0155500022",
    "client:ada",
    "sip:desk",
    "sip:a@b@c",
    "+1 555",
  ]) {
    assert.equal(calledNumber(written), undefined, written);
  }
  assert.equal(calledNumber(`sip:${"a".repeat(200)}@b`), undefined);
});
