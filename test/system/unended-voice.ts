import assert from "node:assert/strict";
import type { TestServer } from "./test-server.js";

/**
 * While `act` runs, this TTS vendor sends only the first piece of each sentence, so audio that is heard cannot have
 * waited for the end of the sentence.
 */
export async function withUnendedVoice(
  server: TestServer,
  voice: "edge" | "elevenlabs" | "openaiSpeech",
  act: () => Promise<void>,
): Promise<void> {
  const { faults, journal } = server.sandbox;
  const ends = () =>
    journal.filter(({ vendor, kind }) => vendor === voice && kind === "lastByte").length;
  const before = ends();
  faults[voice] = { fault: "stallMidStream" };
  try {
    await act();
  } finally {
    faults[voice] = {};
  }
  assert.equal(ends(), before, "no sentence was sent to its end");
}
