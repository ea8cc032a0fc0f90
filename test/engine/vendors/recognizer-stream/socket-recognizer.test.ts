import assert from "node:assert/strict";
import { test } from "node:test";
import { ScriptedRecognition } from "../scripted-recognition.js";

test("the connection of a call that ends as it is opened is broken", async (t) => {
  const scripted = new ScriptedRecognition("deepgram");
  await scripted.server.start();
  t.after(() => scripted.close());
  const ending = new AbortController();
  const { signal } = ending;
  // What waited for the connection has let go of the signal, and nobody else has taken it up yet.
  signal.removeEventListener = () => ending.abort();
  const opening = scripted.open({ modelId: "flux-general-en" }, {}, signal);
  await assert.rejects(opening, { fault: "aborted", message: "deepgram: aborted" });
  const [peer] = scripted.server.peers;
  await scripted.changes.until("the end", () => peer?.isClosed);
  assert.equal(scripted.clock.pendingTimerCount, 0);
});
