import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { MULAW_8K, PCM_16K } from "../../../../engine/audio/audio-format.js";
import { encodeMulaw } from "../../../../engine/audio/mulaw.js";
import { encodeSpeech } from "../../../../engine/sandbox/telephone/tone-code.js";
import type { ListenOptions, SpeechStream } from "../../../../engine/vendors/contracts.js";
import { speechToText } from "../../../../engine/vendors/registry.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { RecordingListener } from "../recording-listener.js";
import { never, type SandboxedVendors, startSandboxedVendors } from "../sandboxed-vendors.js";

const OPTIONS: ListenOptions = {
  language: "en-US",
  modelId: "Systran/faster-whisper-small",
  format: PCM_16K,
  endpointingMs: 200,
};

function spoken(text: string): Uint8Array {
  const pcm = encodeSpeech(text, OPTIONS.format.sampleRateHz);
  return new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength);
}

function quiet(durationMs: number): Uint8Array {
  return new Uint8Array(durationMs * 32);
}

describe("speech to text by a server of recordings", () => {
  let clock: VirtualClock;
  let vendors: SandboxedVendors;
  let listener: RecordingListener;

  before(async () => {
    clock = new VirtualClock();
    vendors = await startSandboxedVendors(clock);
  });

  beforeEach(() => {
    vendors.sandbox.faults.openai = {};
    listener = new RecordingListener(vendors.changes);
  });

  after(() => vendors.close());

  function open(signal = never(), options = OPTIONS): Promise<SpeechStream> {
    const given = { ...vendors.settingsFor("whisper"), apiKey: undefined };
    return speechToText("whisper", given, vendors.context).open(options, listener, signal);
  }

  it("hears one utterance after the other, without a key", async () => {
    const stream = await open();
    stream.write(spoken("book a table"));
    assert.deepEqual(listener.events, ["speechStarted"]);
    stream.write(quiet(600));
    await vendors.changes.until("the words", () => listener.transcripts.length === 1);
    const [first] = listener.transcripts;
    assert.deepEqual(
      [first?.text, first?.isFinal, first?.speechFinal],
      ["book a table", true, true],
    );
    const spokenMs = spoken("book a table").length / 32;
    assert.ok(Math.abs((first?.lastWordEndMs ?? 0) - spokenMs) < 60);
    stream.write(spoken("for two"));
    stream.write(quiet(600));
    await vendors.changes.until("more words", () => listener.transcripts.length === 2);
    assert.equal(listener.finalText, "book a table for two");
    stream.close();
  });

  it("hears µ-law from the telephone", async () => {
    const stream = await open(never(), { ...OPTIONS, format: MULAW_8K });
    stream.write(encodeMulaw(encodeSpeech("good morning", 8_000)));
    stream.write(new Uint8Array(8_000).fill(0xff));
    await vendors.changes.until("the words", () => listener.transcripts.length === 1);
    assert.equal(listener.finalText, "good morning");
    stream.close();
  });

  it("returns the last words before it ends when the audio ends", async () => {
    const stream = await open();
    stream.write(spoken("good bye"));
    await stream.finish();
    assert.equal(listener.finalText, "good bye");
    stream.write(spoken("more"));
    await stream.finish();
    assert.equal(listener.transcripts.length, 1);
  });

  it("shows the vendor a silent stream once, at its end, so that a wrong key comes out", async () => {
    vendors.sandbox.faults.openai = { fault: "unauthorized" };
    const stream = await open();
    stream.write(quiet(200));
    await stream.finish();
    assert.equal(listener.failed[0]?.fault, "unauthorized");
  });

  it("asks again for what the vendor could not hear, and loses no word", async () => {
    vendors.sandbox.faults.openai = { fault: "serverError", times: 2 };
    const stream = await open();
    stream.write(spoken("one two"));
    stream.write(quiet(600));
    stream.write(spoken("three"));
    stream.write(quiet(600));
    await vendors.changes.until("the loss", () => listener.lost.length === 1);
    clock.advance(0);
    await vendors.changes.until(
      "the second try",
      () => vendors.sandbox.faults.openai.fault === undefined,
    );
    while (listener.transcripts.length < 2) {
      clock.advance(250);
      await vendors.changes.until("time or words", () => true);
      await new Promise(setImmediate);
    }
    assert.equal(listener.finalText, "one two three");
    assert.deepEqual(
      listener.events.filter((event) => event !== "speechStarted"),
      ["lost", "recovered", "final", "final"],
    );
    stream.close();
  });

  it("fails for good on what will not pass by itself", async () => {
    vendors.sandbox.faults.openai = { fault: "unauthorized" };
    const stream = await open();
    stream.write(spoken("hello"));
    stream.write(quiet(600));
    await vendors.changes.until("the failure", () => listener.failed.length === 1);
    assert.deepEqual(listener.events, ["speechStarted", "failed"]);
    stream.write(spoken("hello"));
    assert.deepEqual(listener.events, ["speechStarted", "failed"]);
  });

  it("fails when the vendor does not keep up with the caller", async () => {
    vendors.sandbox.faults.openai = { fault: "stallBeforeFirstByte" };
    const stream = await open();
    for (let n = 0; n < 9; n++) {
      stream.write(spoken("hello"));
      stream.write(quiet(600));
    }
    assert.equal(listener.failed[0]?.fault, "unavailable");
    stream.close();
  });

  it("is silent once aborted, and asks nothing when it was aborted before", async () => {
    await assert.rejects(open(AbortSignal.abort()), { fault: "aborted" });
    const talking = new AbortController();
    const stream = await open(talking.signal);
    stream.write(spoken("hello"));
    talking.abort();
    stream.write(quiet(600));
    await stream.finish();
    assert.deepEqual(listener.events, ["speechStarted"]);
  });
});
