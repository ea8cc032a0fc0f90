import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { MULAW_8K, PCM_16K } from "../../../engine/audio/audio-format.js";
import type { DeepgramFault } from "../../../engine/sandbox/faults.js";
import { encodeSpeech } from "../../../engine/sandbox/telephone/tone-code.js";
import {
  type ListenOptions,
  type SpeechStream,
  VendorError,
  type VendorFault,
} from "../../../engine/vendors/contracts.js";
import { speechToText } from "../../../engine/vendors/registry.js";
import { RecordingListener } from "./recording-listener.js";
import { never, type SandboxedVendors, startSandboxedVendors } from "./sandboxed-vendors.js";

const VENDORS = ["deepgram"] as const;

const FRAME_BYTES = 640;

const OPTIONS: ListenOptions = {
  language: "en-US",
  modelId: "nova-3",
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

/** In frames of 20 ms through one buffer that is used again, as the server's socket does it. */
function writeFrames(stream: SpeechStream, audio: Uint8Array): void {
  const frame = new Uint8Array(FRAME_BYTES);
  for (let at = 0; at < audio.length; at += FRAME_BYTES) {
    const part = audio.subarray(at, at + FRAME_BYTES);
    frame.set(part);
    stream.write(frame.subarray(0, part.length));
  }
  frame.fill(0x55);
}

for (const vendor of VENDORS) {
  describe(`speech to text: ${vendor}`, () => {
    let vendors: SandboxedVendors;
    let listener: RecordingListener;

    before(async () => {
      vendors = await startSandboxedVendors();
    });

    beforeEach(() => {
      vendors.sandbox.faults[vendor] = {};
      listener = new RecordingListener(vendors.changes);
    });

    after(() => vendors.close());

    function open(signal = never(), options = OPTIONS): Promise<SpeechStream> {
      const client = speechToText(vendor, vendors.settingsFor(vendor), vendors.context);
      return client.open(options, listener, signal);
    }

    it("reports the start of speech, its words as they come, and the end of the turn", async () => {
      const stream = await open();
      writeFrames(stream, spoken("book a table for two"));
      writeFrames(stream, quiet(600));
      await vendors.changes.until("the end of the turn", () => listener.hasSpeechFinal);
      stream.close();
      assert.equal(listener.events[0], "speechStarted");
      assert.ok(listener.transcripts.some(({ isFinal }) => !isFinal));
      assert.equal(listener.finalText, "book a table for two");
    });

    it("reports times on the caller's clock, without the silence that it sends itself", async () => {
      const stream = await open();
      const words = spoken("hello there");
      writeFrames(stream, words);
      writeFrames(stream, quiet(2_500));
      await vendors.changes.until(
        "the end of the utterance",
        () => listener.utteranceEndsMs.length > 0,
      );
      stream.close();
      const spokenMs = words.length / 32;
      const reported = listener.transcripts.find(({ speechFinal }) => speechFinal);
      assert.ok(Math.abs((reported?.lastWordEndMs ?? 0) - spokenMs) < 120);
      assert.ok(Math.abs((listener.utteranceEndsMs[0] ?? 0) - spokenMs) < 120);
    });

    it("returns the last words before it ends when the audio ends", async () => {
      const stream = await open();
      writeFrames(stream, spoken("good bye"));
      await stream.finish();
      assert.equal(listener.finalText, "good bye");
      const eventCount = listener.events.length;
      stream.write(quiet(20));
      await stream.finish();
      assert.equal(listener.events.length, eventCount);
      assert.deepEqual(listener.lost, []);
    });

    it("hears µ-law from the telephone", async () => {
      const stream = await open(never(), { ...OPTIONS, format: MULAW_8K });
      stream.write(new Uint8Array(16_000).fill(0xff));
      await stream.finish();
      assert.deepEqual(listener.failed, []);
    });

    const refusals: [DeepgramFault, VendorFault, boolean][] = [
      ["unauthorized", "unauthorized", false],
      ["paymentRequired", "quotaExceeded", false],
      ["forbidden", "refused", false],
      ["rateLimited", "rateLimited", true],
      ["serverError", "unavailable", true],
    ];
    for (const [fault, expected, retryable] of refusals) {
      it(`is refused as ${expected} on ${fault}`, async () => {
        vendors.sandbox.faults[vendor] = { fault };
        const error: unknown = await open().catch((cause: unknown) => cause);
        assert.ok(error instanceof VendorError, String(error));
        assert.equal(error.fault, expected, error.message);
        assert.equal(error.retryable, retryable);
        assert.ok(error.status !== undefined && error.requestId !== undefined);
        assert.doesNotMatch(error.message, /test-key/);
        assert.deepEqual(listener.events, []);
      });
    }

    it("reports to the operator which parameter the vendor refuses", async () => {
      const refused = open(never(), {
        ...OPTIONS,
        format: { encoding: "pcm16", sampleRateHz: 11_025 },
      });
      await assert.rejects(refused, { fault: "refused", status: 400, message: /sample_rate/ });
    });

    it("is aborted while it opens, and after", async () => {
      const opening = new AbortController();
      vendors.sandbox.faults[vendor] = { fault: "stallHandshake" };
      const refused = open(opening.signal);
      opening.abort();
      await assert.rejects(refused, { fault: "aborted" });

      vendors.sandbox.faults[vendor] = {};
      const talking = new AbortController();
      const stream = await open(talking.signal);
      writeFrames(stream, spoken("hello"));
      talking.abort();
      await vendors.changes.until(
        "the connection to close",
        () => vendors.sandbox.openConnections === 0,
      );
      stream.write(quiet(20));
      assert.deepEqual(listener.events, []);
    });

    it("comes back after a drop in mid-sentence and loses no word", async () => {
      vendors.sandbox.faults[vendor] = { fault: "dropMidCall", after: 30, times: 1 };
      const stream = await open();
      writeFrames(stream, spoken("one two three four"));
      writeFrames(stream, quiet(600));
      await vendors.changes.until("the end of the turn", () => listener.hasSpeechFinal);
      stream.close();
      assert.equal(listener.finalText, "one two three four");
      const order = listener.events.filter((event) => event === "lost" || event === "recovered");
      assert.deepEqual(order, ["lost", "recovered"]);
      assert.equal(listener.lost[0]?.retryable, true);
      assert.ok((listener.sttOutageMs[0] ?? -1) >= 0);
    });

    it("does not hear settled words a second time after a drop", async () => {
      const stream = await open();
      writeFrames(stream, spoken("first turn"));
      writeFrames(stream, quiet(400));
      await vendors.changes.until("the end of the first turn", () => listener.hasSpeechFinal);
      vendors.sandbox.faults[vendor] = { fault: "closeMidCall", times: 1 };
      const second = spoken("second turn");
      writeFrames(stream, second);
      writeFrames(stream, quiet(400));
      const settled = () =>
        listener.transcripts.filter(({ isFinal, text }) => isFinal && text !== "");
      await vendors.changes.until("the end of the second turn", () => settled().length === 2);
      stream.close();
      assert.equal(listener.finalText, "first turn second turn");
      assert.ok((settled()[1]?.lastWordEndMs ?? 0) > (settled()[0]?.lastWordEndMs ?? 0) + 400);
    });

    it("fails for good when the vendor cannot decode the audio", async () => {
      vendors.sandbox.faults[vendor] = { fault: "refuseAudio" };
      const stream = await open();
      stream.write(quiet(20));
      await vendors.changes.until("the failure", () => listener.failed.length > 0);
      assert.deepEqual(listener.events, ["failed"]);
      assert.equal(listener.failed[0]?.fault, "refused");
      assert.match(listener.failed[0]?.message ?? "", /DATA-0000/);
    });

    it("fails for good when the key is refused on the way back", async () => {
      const stream = await open();
      writeFrames(stream, spoken("hello"));
      vendors.sandbox.faults[vendor] = { fault: "dropMidCall", times: 1 };
      stream.write(quiet(20));
      await vendors.changes.until(
        "the drop",
        () => vendors.sandbox.faults[vendor].fault === undefined,
      );
      vendors.sandbox.faults[vendor] = { fault: "unauthorized" };
      await vendors.changes.until("the failure", () => listener.failed.length > 0);
      assert.deepEqual(listener.events.slice(-2), ["lost", "failed"]);
      assert.equal(listener.failed[0]?.fault, "unauthorized");
    });

    const oddities: DeepgramFault[] = ["unknownMessages", "garbageJson", "missingFlags"];
    for (const fault of oddities) {
      it(`is not disturbed by ${fault}`, async () => {
        vendors.sandbox.faults[vendor] = { fault };
        const stream = await open();
        writeFrames(stream, spoken("all is well"));
        writeFrames(stream, quiet(600));
        await vendors.changes.until("the end of the turn", () => listener.hasSpeechFinal);
        stream.close();
        assert.equal(listener.finalText, "all is well");
        assert.deepEqual(listener.lost, []);
      });
    }
  });
}
