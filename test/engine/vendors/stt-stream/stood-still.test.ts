import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { PCM_16K } from "../../../../engine/audio/audio-format.js";
import { bytesOf } from "../../../../engine/sandbox/telephone/telephone-audio.js";
import { encodeSpeech } from "../../../../engine/sandbox/telephone/tone-code.js";
import type { SpeechStream } from "../../../../engine/vendors/contracts.js";
import { speechToText } from "../../../../engine/vendors/registry.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { RecordingListener } from "../recording-listener.js";
import { never, type SandboxedVendors, startSandboxedVendors } from "../sandboxed-vendors.js";

const BYTES_PER_MS = 32;
/** In the middle of the first word. */
const CUT_BYTES = 180 * BYTES_PER_MS;
const STOOD_STILL_MS = 900;

describe("a process that was blocked, at a vendor that gets silence without audio", () => {
  let clock: VirtualClock;
  let vendors: SandboxedVendors;
  let listener: RecordingListener;
  let stream: SpeechStream;

  beforeEach(async () => {
    clock = new VirtualClock();
    vendors = await startSandboxedVendors(clock);
    listener = new RecordingListener(vendors.changes);
    const client = speechToText("assemblyai", vendors.settingsFor("assemblyai"), vendors.context);
    const modelId = "universal-streaming-english";
    const options = { language: "en-US", modelId, format: PCM_16K, endpointingMs: 200 };
    stream = await client.open(options, listener, never());
  });

  afterEach(async () => {
    stream.close();
    await vendors.close();
  });

  it("puts no silence into a word whose rest is still to be read", async () => {
    const speech = bytesOf(encodeSpeech("stay as long as you want.", 16_000));
    stream.write(speech.subarray(0, CUT_BYTES));
    clock.stall(STOOD_STILL_MS);
    stream.write(speech.subarray(CUT_BYTES));
    await stream.finish();
    assert.equal(listener.finalText, "stay as long as you want.");
  });

  it("sends the silence when nothing was to be read", async () => {
    const speech = bytesOf(encodeSpeech("stay as long.", 16_000));
    stream.write(speech);
    clock.stall(STOOD_STILL_MS);
    clock.advance(100);
    const isOver = () => listener.turns.some(({ mark }) => mark === "endOfTurn");
    await vendors.changes.until("the end of the turn", isOver);
  });

  it("cuts a burst into messages that the vendor accepts", async () => {
    stream.write(bytesOf(encodeSpeech("stay as long as you want, and come again.", 16_000)));
    await stream.finish();
    assert.equal(listener.finalText, "stay as long as you want, and come again.");
    assert.deepEqual(listener.lost, []);
  });
});
