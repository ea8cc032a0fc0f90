import assert from "node:assert/strict";
import { test } from "node:test";
import {
  FairTurns,
  TOOLS_RUNNING_PER_ORGANIZATION_MAX,
  TOOLS_WAITING_PER_ORGANIZATION_MAX,
} from "../../../../engine/vendors/transport/connections.js";
import { never } from "../sandboxed-vendors.js";

const STARTS_PER_LOOP_TURN_MAX = 4;

const nextTurn = () => new Promise(setImmediate);

/** Takes note of who has begun, in order. */
function trial() {
  const turns = new FairTurns();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const begin = (orgId: string, signal = never()) =>
    turns.acquire(orgId, signal).then((end) => {
      begun.push(orgId);
      ends.push(end);
    });
  return { turns, begun, ends, begin };
}

test("a tool begins at once; of many a few in each turn of the event loop, organizations by turns", async () => {
  const { begun, begin } = trial();
  const all = Array.from({ length: 40 }, () => begin("greedy"));
  await Promise.all(all.slice(0, STARTS_PER_LOOP_TURN_MAX));
  assert.equal(begun.length, STARTS_PER_LOOP_TURN_MAX);
  const quiet = begin("quiet");
  await nextTurn();
  await nextTurn();
  await quiet;
  assert.ok(begun.indexOf("quiet") <= 2 * STARTS_PER_LOOP_TURN_MAX, begun.join());
  await Promise.all(all);
});

test("an organization has a limited number in progress, and the next begins when one has ended", async () => {
  const { begun, ends, begin } = trial();
  const all = Array.from({ length: TOOLS_RUNNING_PER_ORGANIZATION_MAX }, () => begin("greedy"));
  await Promise.all(all);
  const waits = begin("greedy");
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  assert.equal(begun.length, TOOLS_RUNNING_PER_ORGANIZATION_MAX);
  await begin("quiet");
  ends[0]?.();
  ends[0]?.();
  await waits;
  assert.equal(begun.length, TOOLS_RUNNING_PER_ORGANIZATION_MAX + 2);
});

test("a limited number waits, and the rest fails; another organization is not affected", async () => {
  const { turns, begin, ends } = trial();
  const all = Array.from({ length: TOOLS_RUNNING_PER_ORGANIZATION_MAX }, () => begin("greedy"));
  await Promise.all(all);
  const ending = new AbortController();
  const waiting = Array.from({ length: TOOLS_WAITING_PER_ORGANIZATION_MAX }, () =>
    begin("greedy", ending.signal).catch(() => "given up"),
  );
  await assert.rejects(turns.acquire("greedy", never()), {
    code: "organization_share_used_up",
    limit: "tools",
  });
  await begin("quiet");
  ending.abort();
  assert.deepEqual(new Set(await Promise.all(waiting)), new Set(["given up"]));
  for (const end of ends) end();
  await begin("greedy");
});
