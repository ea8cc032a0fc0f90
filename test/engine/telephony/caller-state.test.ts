import assert from "node:assert/strict";
import { test } from "node:test";
import { isCallerThere } from "../../../engine/telephony/caller-state.js";

test("a caller is there unless the vendor says that the call is over, in whichever word", () => {
  for (const status of ["in-progress", "ringing", "answered", "", "COMPLETED"]) {
    assert.equal(isCallerThere(new URLSearchParams({ CallStatus: status }).toString()), true);
  }
  const over = ["completed", "busy", "failed", "no-answer", "timeout", "canceled", "cancel"];
  for (const status of over) {
    assert.equal(isCallerThere(`CallStatus=${status}`), false, status);
    assert.equal(isCallerThere(JSON.stringify({ call_status: status }), "call_status"), false);
    assert.equal(isCallerThere(JSON.stringify({ call_status: status })), true, "another field");
  }
  assert.equal(isCallerThere(""), true);
});
