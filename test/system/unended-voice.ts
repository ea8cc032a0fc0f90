import assert from "node:assert/strict";
import type { TestServer } from "./test-server.js";

/** While `act` runs this voice gives the first piece of each sentence, and nothing more: what is heard then cannot have waited for the end. */
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
  assert.equal(ends(), before, "no sentence was said to its end");
}
