import assert from "node:assert/strict";
import { test } from "node:test";
import { RecentAnswers } from "../../../engine/cluster/node-bus.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

test("a response is kept for as long as the request may be repeated", () => {
  const clock = new VirtualClock();
  const given = new RecentAnswers<string>({ clock, keptMs: 100, keptMax: 9 });
  given.keep("a", "yes");
  clock.advance(99);
  assert.equal(given.of("a"), "yes");
  given.keep("b", "no");
  clock.advance(1);
  assert.deepEqual([given.of("a"), given.of("b")], [undefined, "no"]);
});

test("of more responses than there is room for the newest are kept", () => {
  const given = new RecentAnswers<number>({ clock: new VirtualClock(), keptMs: 100, keptMax: 2 });
  for (const [index, asked] of ["a", "b", "c"].entries()) given.keep(asked, index);
  assert.deepEqual(
    ["a", "b", "c"].map((asked) => given.of(asked)),
    [undefined, 1, 2],
  );
});
