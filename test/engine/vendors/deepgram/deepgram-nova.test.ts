import assert from "node:assert/strict";
import { test } from "node:test";
import { deepgramCloseFault } from "../../../../engine/vendors/deepgram/deepgram-nova.js";
import { ScriptedRecognition } from "../scripted-recognition.js";

test("audio that cannot be decoded is refused for good, trouble of the server passes, and any other end is a lost connection", () => {
  assert.deepEqual([1_000, 1_006, 1_008, 1_011].map(deepgramCloseFault), [
    "disconnected",
    "disconnected",
    "refused",
    "unavailable",
  ]);
});

test("models whose names begin with flux speak the second version of the protocol, all others the first", async (t) => {
  const scripted = new ScriptedRecognition("deepgram");
  await scripted.server.start();
  t.after(() => scripted.close());
  for (const [modelId, path] of [
    ["nova-3", "/v1/listen?model=nova-3&"],
    ["flux-general-en", "/v2/listen?model=flux-general-en&"],
    ["nova-flux-1", "/v1/listen?model=nova-flux-1&"],
  ] as const) {
    const { stream, peer } = await scripted.open({ modelId });
    assert.ok(peer.request.url?.startsWith(path), peer.request.url);
    stream.close();
  }
});
