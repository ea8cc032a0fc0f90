import assert from "node:assert/strict";
import { test } from "node:test";
import { wordCount } from "../../../engine/conversation/transcript-buffer.js";
import type { InterruptionSensitivity } from "../../../storage/records.js";
import { CALLER_WORDS } from "./backchannel-lists.js";
import { playScript } from "./call-script.js";

/** The least share of agreements that the agent speaks on through, and the largest of interruptions that it misses. */
const SPOKEN_ON_SHARE_MIN = 0.9;
const MISSED_SHARE_MAX = 0.02;

/** Whether the agent stops when the caller says this in the middle of what it tells, and the recognizer tells it word by word. */
function stops(text: string, language: string, sensitivity: InterruptionSensitivity): boolean {
  const words = text.split(" ");
  const told = words.map((_, n) => words.slice(0, n + 1).join(" "));
  const played = playScript(
    [
      `set sensitivity ${sensitivity}`,
      `set language ${language}`,
      "open resumed",
      "speech-final what do you offer",
      "reply We have three rooms with a view of the lake. Each has a bath and a desk.",
      "spoken 0 4000",
      "spoken 1 3000",
      "wait 1500",
      "voice",
      ...told.map((interim) => `interim ${interim}`),
      "wait 200",
      `speech-final ${text}`,
      "wait 800",
    ].join("\n\n"),
  );
  return /^(?:abort turn|send audioStop|hold audio)/m.test(played);
}

for (const [language, { agreements, interruptions }] of Object.entries(CALLER_WORDS)) {
  test(`what shows that the caller listens does not stop the agent (${language})`, () => {
    for (const sensitivity of ["low", "medium"] as const) {
      const stopped = agreements.filter((text) => stops(text, language, sensitivity));
      const share = 1 - stopped.length / agreements.length;
      assert.ok(share >= SPOKEN_ON_SHARE_MIN, `${sensitivity}: ${stopped.join(" | ")}`);
    }
    const passedOver = agreements.filter((text) => !stops(text, language, "high"));
    assert.deepEqual(passedOver, [], "where any word is to stop it");
  });

  test(`what interrupts the agent stops it (${language})`, () => {
    for (const sensitivity of ["low", "medium", "high"] as const) {
      // At low a single word is not to stop it.
      const wordsMin = sensitivity === "low" ? 2 : 1;
      const expected = interruptions.filter((text) => wordCount(text) >= wordsMin);
      const missed = expected.filter((text) => !stops(text, language, sensitivity));
      const isFew = missed.length <= expected.length * MISSED_SHARE_MAX;
      assert.ok(isFew, `${sensitivity}: ${missed.join(" | ")}`);
    }
  });
}
