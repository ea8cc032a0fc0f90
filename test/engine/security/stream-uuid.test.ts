import assert from "node:assert/strict";
import { test } from "node:test";
import { StreamUuids } from "../../../engine/security/stream-uuid.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const STREAM_UUIDS_MAX = 10_000;
const STREAM_UUIDS_OF_ONE_MAX = 500;

const STREAM_TOKEN_LIFETIME_MS = 60_000;

const claimsOf = (orgId: string) => ({
  vendor: "audiosocket",
  orgId,
  agentId: "agent",
  callerRef: "",
  callKey: "",
  attempt: 0,
});

test("a UUID returns its claims once", () => {
  const uuids = new StreamUuids(new VirtualClock());
  const uuid = uuids.mint(claimsOf("org"));
  assert.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.deepEqual(uuids.redeem(uuid), claimsOf("org"));
  assert.equal(uuids.redeem(uuid), undefined);
  assert.equal(uuids.redeem(""), undefined);
  assert.equal(uuids.count, 0);
});

test("a UUID expires after a minute and is removed", () => {
  const clock = new VirtualClock();
  const uuids = new StreamUuids(clock);
  const old = uuids.mint(claimsOf("org"));
  clock.advance(STREAM_TOKEN_LIFETIME_MS - 1);
  const later = uuids.mint(claimsOf("org"));
  clock.advance(1);
  assert.equal(uuids.redeem(old), undefined);
  assert.equal(uuids.count, 1);
  assert.deepEqual(uuids.redeem(later), claimsOf("org"));
});

test("one organization cannot use up all UUIDs, and the total number is limited", () => {
  const clock = new VirtualClock();
  const uuids = new StreamUuids(clock);
  const fill = (orgId: string) => {
    for (let n = 0; n < STREAM_UUIDS_OF_ONE_MAX; n += 1) uuids.mint(claimsOf(orgId));
  };
  fill("greedy");
  assert.throws(() => uuids.mint(claimsOf("greedy")), {
    name: "RequestError",
    code: "overloaded",
  });
  const first = uuids.mint(claimsOf("other"));
  uuids.redeem(first);
  for (let n = 1; n < STREAM_UUIDS_MAX / STREAM_UUIDS_OF_ONE_MAX; n += 1) fill(`org${n}`);
  assert.equal(uuids.count, STREAM_UUIDS_MAX);
  assert.throws(() => uuids.mint(claimsOf("other")), { name: "RequestError", code: "overloaded" });
  clock.advance(STREAM_TOKEN_LIFETIME_MS);
  uuids.mint(claimsOf("greedy"));
  assert.equal(uuids.count, 1);
});
