import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { ScriptedRecognition } from "../scripted-recognition.js";

test("the connection of a call that ends in the very moment when it is there is broken", async (t) => {
  const scripted = new ScriptedRecognition("deepgram");
  await scripted.server.start();
  t.after(() => scripted.close());
  const { clock, listener, changes, server } = scripted;
  const ending = new AbortController();
  const after = clock.after.bind(clock);
  clock.after = (delayMs, action) => {
    const cancel = after(delayMs, action);
    // Whoever waited for the connection lets go of its time limit, and of the signal, before anybody has the connection.
    return () => {
      cancel();
      queueMicrotask(() => ending.abort());
    };
  };
  const opening = scripted.open({ modelId: "flux-general-en" }, {}, ending.signal);
  await assert.rejects(opening, { fault: "aborted", message: "deepgram: aborted" });
  await changes.until("the end", () => server.peers[0]?.isClosed);
  assert.deepEqual([listener.events, clock.pendingTimerCount], [[], 0]);
  assert.deepEqual(getEventListeners(ending.signal, "abort"), []);
});
