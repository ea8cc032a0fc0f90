import assert from "node:assert/strict";
import { test } from "node:test";
import { Continuations } from "../../../engine/calls/continuations.js";
import type { CallRecord } from "../../../storage/records.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { callRecord } from "../../storage/sample-records.js";

const HOUR_MS = 3_600_000;
const CLAIMS = {
  vendor: "twilio",
  orgId: "org",
  agentId: "agent",
  callerRef: "CA1",
  callKey: "key",
  attempt: 0,
};

function continuationsWith(call?: CallRecord) {
  const clock = new VirtualClock();
  const continuations = new Continuations({
    secret: "a secret that nobody knows",
    clock,
    calls: { findBySession: async () => call },
    liveCalls: { find: () => undefined },
    journal: { stored: async () => undefined },
  });
  return { clock, continuations };
}

function endedWith(endReason: string): CallRecord {
  return { ...callRecord(), status: "completed", metadata: { endReason } };
}

test("a vendor may ask for as long as a telephone call can last, and with no token of another's", () => {
  const { clock, continuations } = continuationsWith();
  const token = continuations.tokenFor(CLAIMS) ?? "";
  clock.advance(24 * HOUR_MS - 1);
  assert.deepEqual(continuations.claimsOf(token), CLAIMS);
  assert.equal(continuations.claimsOf(`${token}x`), undefined);
  clock.advance(1);
  assert.equal(continuations.claimsOf(token), undefined);
});

test("a call that broke goes on, three times, also where nobody took it; one that came to its end does not", async () => {
  const next = (call?: CallRecord) => continuationsWith(call).continuations.next(CLAIMS);
  const claims = { ...CLAIMS, attempt: 1 };
  const goesOn = { kind: "goesOn", claims };
  assert.deepEqual(await next(endedWith("serverStopping")), goesOn);
  const died = endedWith("a process of the server ended during the call");
  assert.deepEqual(await next(died), goesOn);
  assert.deepEqual(await next(endedWith("agentHungUp")), { kind: "over" });
  assert.deepEqual(await next(undefined), { kind: "askedAgain", claims });
  const { continuations } = continuationsWith();
  assert.equal(continuations.mayGoOn({ ...CLAIMS, attempt: 2 }), true);
  assert.equal(continuations.tokenFor({ ...CLAIMS, attempt: 3 }), undefined);
});
