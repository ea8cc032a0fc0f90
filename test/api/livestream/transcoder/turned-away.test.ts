import assert from "node:assert/strict";
import { test } from "node:test";
import { ALICE, BROADCASTS_MAX, ListedBroadcast, type Unwell } from "./listed-broadcast.js";

const BOB = { ...ALICE, streamKey: "bob", session: "s2" };
const CAROL = { ...ALICE, streamKey: "carol", session: "s3" };

function isRefused(key: string): (streams: readonly Unwell[]) => boolean {
  return (streams) =>
    streams.some(({ streamKey, state }) => streamKey === key && state === "refused");
}

test("a broadcast beyond what the machine takes at once is refused with the reason, once in the log, until another has ended", async (t) => {
  const broadcast = await ListedBroadcast.start(t);
  broadcast.published = [ALICE, BOB, CAROL];
  await broadcast.transcoder.poll();
  const [refused] = await broadcast.untilHealth(isRefused("carol"));
  const reason = `this machine has reached its limit of ${BROADCASTS_MAX} broadcasts: see BROADCASTS_MAX`;
  assert.deepEqual(refused, { streamKey: "carol", state: "refused", rungs: [], reason });
  broadcast.clock.advance(1_000);
  await broadcast.transcoder.poll();
  assert.deepEqual(broadcast.ladders(), ["alice", "bob"]);
  const told = broadcast.log.ofLevel("error").map(({ fields }) => fields);
  assert.deepEqual(told, [{ streamKey: "carol", broadcastsMax: BROADCASTS_MAX }]);
  broadcast.published = [BOB, CAROL];
  await broadcast.untilLadders(["bob", "carol"]);
});

test("one that is refused and goes is forgotten at once", async (t) => {
  const broadcast = await ListedBroadcast.start(t);
  broadcast.published = [ALICE, BOB, CAROL];
  await broadcast.transcoder.poll();
  await broadcast.untilHealth(isRefused("carol"));
  broadcast.published = [ALICE, BOB];
  await broadcast.transcoder.poll();
  await broadcast.untilHealth((streams) => !isRefused("carol")(streams));
});
