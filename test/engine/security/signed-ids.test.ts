import assert from "node:assert/strict";
import { test } from "node:test";
import { SignedIds } from "../../../engine/security/signed-ids.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const OPTIONS = { secret: "s".repeat(32), label: "test", lifetimeMs: 1_000 };

test("ids are returned unchanged until they expire, and only under their own label", () => {
  const clock = new VirtualClock();
  const ids = new SignedIds({ ...OPTIONS, clock });
  const token = ids.mint(["a", "", "ü"]);
  assert.match(token, /^[\w.-]+$/, "a URL needs no escapes for it");
  assert.deepEqual(ids.verify(token), ["a", "", "ü"]);
  const other = new SignedIds({ ...OPTIONS, label: "other", clock });
  assert.equal(other.verify(token), undefined);
  clock.advance(1_000);
  assert.equal(ids.verify(token), undefined);
});

test("a UUID depends on the ids and on the secret", () => {
  const clock = new VirtualClock();
  const ids = new SignedIds({ ...OPTIONS, clock });
  const uuid = ids.uuidOf(["a", "b"]);
  assert.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(ids.uuidOf(["a", "b"]), uuid);
  assert.notEqual(ids.uuidOf(["ab"]), uuid);
  const other = new SignedIds({ ...OPTIONS, secret: "t".repeat(32), clock });
  assert.notEqual(other.uuidOf(["a", "b"]), uuid);
});

test("a token has at most 1,024 characters; longer ones are refused", () => {
  const ids = new SignedIds({ ...OPTIONS, clock: new VirtualClock() });
  const tokens = Array.from({ length: 400 }, (_, more) => ids.mint(["x".repeat(500 + more)]));
  const lengths = tokens.filter((token) => ids.verify(token) !== undefined).map((t) => t.length);
  assert.equal(Math.max(...lengths), 1_024);
});
