import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PCM_16K } from "../../../../engine/audio/audio-format.js";
import { encodeSpeech } from "../../../../engine/sandbox/telephone/tone-code.js";
import { speechToText } from "../../../../engine/vendors/registry.js";
import { RecordingListener } from "../recording-listener.js";
import { never, type SandboxedVendors, startSandboxedVendors } from "../sandboxed-vendors.js";

let vendors: SandboxedVendors;
before(async () => {
  vendors = await startSandboxedVendors();
});
after(() => vendors.close());

for (const [fault, expected] of [
  ["tooManySessions", "rateLimited"],
  ["tooFast", "disconnected"],
] as const) {
  test(`a call outlives a limit of AssemblyAI's that passes, and its key is blamed for nothing: ${fault}`, async () => {
    vendors.sandbox.faults.assemblyai = { fault, times: 1 };
    const listener = new RecordingListener(vendors.changes);
    const client = speechToText("assemblyai", vendors.settingsFor("assemblyai"), vendors.context);
    const modelId = "universal-streaming-english";
    const options = { language: "en-US", modelId, format: PCM_16K, endpointingMs: 200 };
    const stream = await client.open(options, listener, never());
    const said = encodeSpeech("a table for two.", 16_000);
    stream.write(new Uint8Array(said.buffer, said.byteOffset, said.byteLength));
    const isOver = () => listener.events.includes("recovered") || listener.failed.length > 0;
    await vendors.changes.until("the way back", isOver);
    await stream.finish();
    assert.deepEqual(
      listener.lost.map((error) => error.fault),
      [expected],
    );
    assert.equal(listener.finalText, "a table for two.");
    assert.deepEqual(listener.failed, []);
  });
}
