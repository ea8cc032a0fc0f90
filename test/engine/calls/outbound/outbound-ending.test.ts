import assert from "node:assert/strict";
import { test } from "node:test";
import {
  endingOf,
  NO_OUTCOME,
  NOT_CONNECTED,
} from "../../../../engine/calls/outbound/placed-calls.js";

test("what the vendor says of a placed call is why it ended, or nothing yet", () => {
  const reasonOf = (status: string, answeredBy = "") => {
    const ending = endingOf({ status, answeredBy });
    return ending && `${ending.reason} ${ending.status}`;
  };
  assert.deepEqual(
    ["busy", "no-answer", "canceled", "failed", "completed"].map((status) => reasonOf(status)),
    ["busy", "noAnswer", "noAnswer", "vendorFailed", "notConnected"].map((one) => `${one} failed`),
  );
  for (const status of ["", "queued", "ringing", "in-progress", "answered"]) {
    assert.equal(reasonOf(status), undefined, status);
  }
  assert.equal(endingOf({ status: "completed", answeredBy: "" }), NOT_CONNECTED);
});

test("a machine ends the call, whatever else is said of it; a person and a doubt do not", () => {
  for (const answeredBy of ["machine_start", "machine_end_beep", "fax"]) {
    assert.equal(endingOf({ status: "in-progress", answeredBy })?.reason, "machine", answeredBy);
  }
  for (const answeredBy of ["human", "unknown", "faxes", ""]) {
    assert.equal(endingOf({ status: "in-progress", answeredBy }), undefined, answeredBy);
  }
});

test("the end of a call of which nothing is heard is not that nobody answered", () => {
  assert.deepEqual([NO_OUTCOME.reason, NO_OUTCOME.status], ["outcomeUnknown", "failed"]);
});
