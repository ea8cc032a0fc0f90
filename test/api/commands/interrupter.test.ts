import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { TELEPHONE } from "../../../api/commands/call/call-command.js";
import { WEB } from "../../../api/commands/call/medium.js";
import { Interrupter } from "../../../api/commands/call/performance.js";

const LOOK_MS = 20;

/**
 * How many checks it takes until the reply is interrupted, with the remaining audio at each; undefined if it never
 * is.
 */
function looksUntil(
  { minRemainingMs }: { readonly minRemainingMs: number },
  leftMs: readonly number[],
): number | undefined {
  const interrupter = new Interrupter(minRemainingMs);
  const at = leftMs.findIndex((left) => interrupter.isNow(left));
  return at < 0 ? undefined : at + 1;
}

const playing = (count: number, left = 160) => Array.from({ length: count }, () => left);
const silent = (count: number) => Array.from({ length: count }, (_, n) => -n * LOOK_MS);

describe("a caller who interrupts", () => {
  test("has heard 800 ms, on the telephone and on the web", () => {
    assert.equal(looksUntil(TELEPHONE, playing(60)), 40);
    assert.equal(looksUntil(WEB, playing(60, 5_000)), 40);
  });

  test("does not take a late frame on the telephone for the reply's end, nor the silence for something heard", () => {
    const faltering = [...playing(5), ...silent(20), ...playing(60)];
    assert.equal(looksUntil(TELEPHONE, faltering), 60);
  });

  test("begins at once where less is left than an interruption takes", () => {
    assert.equal(looksUntil(TELEPHONE, [...playing(5), ...silent(60)]), 26);
    assert.equal(looksUntil(WEB, [1_000, 320, 300, 280]), 3);
  });
});
