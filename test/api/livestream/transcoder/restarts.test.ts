import assert from "node:assert/strict";
import { test } from "node:test";
import { ALICE, ListedBroadcast } from "./listed-broadcast.js";

const CHANGED = "the tracks of a broadcast have changed";
const SECOND_MS = 1_000;

test("tracks that change every second restart the ladder after 2 s, then with growing pauses, up to once a minute", async (t) => {
  const broadcast = await ListedBroadcast.start(t);
  const { clock, log, transcoder } = broadcast;
  const changesMs: number[] = [];
  const live = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      const width = second % 2 === 0 ? 240 : 320;
      const video = { codec: "h264", width, height: 560 - width };
      broadcast.published = [{ ...ALICE, tracks: { ...ALICE.tracks, video } }];
      await transcoder.poll();
      clock.advance(SECOND_MS);
      const count = log.lines.filter(({ message }) => message === CHANGED).length;
      while (changesMs.length < count) changesMs.push(clock.monotonicMs());
    }
  };
  await live(301);
  const pausesSec = changesMs
    .slice(1)
    .map((atMs, i) => Math.round((atMs - (changesMs[i] ?? 0)) / 1_000));
  assert.ok((pausesSec[0] ?? 0) <= 3, pausesSec.join(" "));
  for (const [index, pause] of pausesSec.entries()) {
    const least = Math.min(60, 2 ** (index + 1));
    assert.ok(pause >= least && pause <= least + 2, pausesSec.join(" "));
  }
  assert.ok((pausesSec.at(-1) ?? 0) >= 60, pausesSec.join(" "));
  // Calm for more than a minute: it is forgotten.
  await live(1);
  clock.advance(121_000);
  changesMs.length = 0;
  const before = log.lines.filter(({ message }) => message === CHANGED).length;
  await live(5);
  assert.ok(log.lines.filter(({ message }) => message === CHANGED).length >= before + 2);
});

test("names of segments follow the time that passes, whatever the machine's clock is set to", async (t) => {
  const broadcast = await ListedBroadcast.start(t);
  const { clock, transcoder } = broadcast;
  const [first = 0] = await broadcast.untilStarts(1);
  for (const [step, stepMs] of [-3_600_000, 7_200_000].entries()) {
    clock.stepWallClock(stepMs);
    const bob = { ...ALICE, streamKey: "bob", session: `b${step}` };
    broadcast.published = [ALICE, bob];
    await transcoder.poll();
    clock.advance(200);
    await broadcast.untilStarts(step + 2);
    broadcast.published = [ALICE];
    await transcoder.poll();
    await broadcast.untilLadders(["alice"]);
  }
  const starts = await broadcast.untilStarts(3);
  for (const [index, number] of starts.slice(1).entries()) {
    assert.ok(number >= (starts[index] ?? 0), starts.join(" "));
    assert.ok(number - first < 100_000, starts.join(" "));
  }
});
