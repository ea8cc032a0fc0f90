import assert from "node:assert/strict";
import { test } from "node:test";
import { lowPass, lowPassAt } from "../../../engine/audio/fir-filter.js";
import { tapAt } from "./windowed-sinc.js";

test("a low-pass is a sinc under a Kaiser window, and its taps sum to one", () => {
  for (const [taps, periodTaps] of [
    [49, 1],
    [97, 2],
    [145, 3],
  ] as const) {
    const filter = lowPass({ taps, cutoff: 0.46 / periodTaps, beta: 5.9 });
    const expected = Array.from(filter, (_, at) =>
      tapAt(Math.abs(at - (taps - 1) / 2) / periodTaps),
    );
    const whole = expected.reduce((sum, tap) => sum + tap);
    assert.equal(filter.length, taps);
    assert.ok(filter.every((tap, at) => Math.abs(tap - (expected[at] ?? 0) / whole) < 1e-9));
  }
});

test("between its taps it is the same curve, in the middle twice the cut-off, and beyond its reach nothing", () => {
  const at = (samples: number) => lowPassAt(samples, 24, 0.46, 5.9);
  assert.equal(at(0), 0.92);
  for (const samples of [0.25, 1.5, 7, 23.9, 24]) {
    assert.ok(Math.abs(at(samples) - (0.92 * tapAt(samples)) / tapAt(0)) < 1e-9, `${samples}`);
    assert.equal(at(-samples), at(samples));
  }
  assert.equal(at(24.1), 0);
});
