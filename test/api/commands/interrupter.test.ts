import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { TELEPHONE } from "../../../api/commands/call/call-command.js";
import { WEB } from "../../../api/commands/call/medium.js";
import { Interrupter } from "../../../api/commands/call/performance.js";

const LOOK_MS = 20;

/**
 * Returns the number of checks until the reply is interrupted, with the remaining audio at each; undefined if it never
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
  test("interrupts after hearing 800 ms, on the telephone and on the web", () => {
    assert.equal(looksUntil(TELEPHONE, playing(60)), 40);
    assert.equal(looksUntil(WEB, playing(60, 5_000)), 40);
  });

  test("does not mistake a late telephone frame for the reply's end, nor silence for audio", () => {
    const faltering = [...playing(5), ...silent(20), ...playing(60)];
    assert.equal(looksUntil(TELEPHONE, faltering), 60);
  });

  test("interrupts at once if less audio is left than an interruption takes", () => {
    assert.equal(looksUntil(TELEPHONE, [...playing(5), ...silent(60)]), 26);
    assert.equal(looksUntil(WEB, [1_000, 320, 300, 280]), 3);
  });
});
