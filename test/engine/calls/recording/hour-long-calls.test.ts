import assert from "node:assert/strict";
import { test } from "node:test";
import { FRAME, newRecording, RATE_HZ, sound } from "./listened-recording.js";

const MINUTE_MS = 60_000;

for (const [name, frameMs] of [
  ["a caller's clock that is exact", 20],
  ["one that is fast by 100 parts in a million", 20 / 1.0001],
  ["one that is slow by 100 parts in a million", 20 * 1.0001],
] as const) {
  test(`after an hour both sides stand within 20 ms of the call: ${name}`, () => {
    const { clock, sink, recording } = newRecording();
    const startMs = clock.monotonicMs();
    let heldSamplesMax = 0;
    const count = Math.floor((60 * MINUTE_MS) / frameMs);
    for (let index = 1; index <= count; index += 1) {
      clock.advance(startMs + index * frameMs + ((index * 7) % 5) - clock.monotonicMs());
      // A quiet frame after each minute, to be found again.
      const isMark = index % 3_000 === 0;
      recording.caller(sound(FRAME, isMark ? 0 : 1_000));
      if (isMark) recording.agent(sound(FRAME));
      heldSamplesMax = Math.max(heldSamplesMax, recording.bufferedSamples);
    }
    clock.advance(1_000);
    recording.end();
    const [caller, agent] = sink.onsets;
    const minutes = Math.floor(count / 3_000);
    assert.equal(agent.length, minutes);
    for (let minute = 1; minute < minutes; minute += 1) {
      // The caller is loud again after the quiet frame, which had arrived whole when the agent spoke.
      const leadMs =
        (((caller[minute] ?? Number.NaN) - (agent[minute - 1] ?? 0)) / RATE_HZ) * 1_000;
      assert.ok(Math.abs(leadMs) < 20, `minute ${minute}: ${leadMs} ms`);
    }
    assert.ok(heldSamplesMax <= 5 * RATE_HZ, `${heldSamplesMax} samples were held`);
    assert.ok(sink.largestBlock <= 2 * RATE_HZ * 4);
  });
}
