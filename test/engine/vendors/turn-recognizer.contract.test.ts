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
import { vendorOf } from "../../../engine/vendors/vendors.js";
import { RecordingListener } from "./recording-listener.js";
import { never, type SandboxedVendors, startSandboxedVendors } from "./sandboxed-vendors.js";

const VENDORS = [
  { vendor: "deepgram", modelId: "flux-general-en" },
  { vendor: "assemblyai", modelId: "universal-streaming-english" },
] as const;

const FRAME_BYTES = 640;

function spoken(text: string): Uint8Array {
  const pcm = encodeSpeech(text, 16_000);
  return new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength);
}

function quiet(durationMs: number): Uint8Array {
  return new Uint8Array(durationMs * 32);
}

function writeFrames(stream: SpeechStream, audio: Uint8Array): void {
  for (let at = 0; at < audio.length; at += FRAME_BYTES) {
    stream.write(audio.subarray(at, at + FRAME_BYTES));
  }
}

for (const { vendor, modelId } of VENDORS) {
  describe(`a recognizer that decides turns: ${vendor} ${modelId}`, () => {
    let vendors: SandboxedVendors;
    let listener: RecordingListener;

    const options: ListenOptions = {
      language: "en-US",
      modelId,
      format: PCM_16K,
      endpointingMs: 200,
    };

    before(async () => {
      vendors = await startSandboxedVendors();
    });

    beforeEach(() => {
      vendors.sandbox.faults[vendor] = {};
      listener = new RecordingListener(vendors.changes);
    });

    after(() => vendors.close());

    function open(signal = never(), changes: Partial<ListenOptions> = {}): Promise<SpeechStream> {
      const client = speechToText(vendor, vendors.settingsFor(vendor), vendors.context);
      return client.open({ ...options, ...changes }, listener, signal);
    }

    function endsOfTurn(): readonly string[] {
      return listener.turns.filter(({ mark }) => mark === "endOfTurn").map(({ text }) => text);
    }

    async function untilTurns(count: number): Promise<void> {
      await vendors.changes.until(`${count} turns`, () => endsOfTurn().length === count);
    }

    it("is said so in the catalog", () => {
      const model = vendorOf(vendor)?.stt?.models.find((each) => each.modelId === modelId);
      assert.equal(model?.hasTurnDetection, true);
    });

    it("reports a turn from its start to its end, and its words before its end", async () => {
      const stream = await open();
      writeFrames(stream, spoken("book a table for two."));
      writeFrames(stream, quiet(600));
      await untilTurns(1);
      assert.equal(listener.events.at(-1), "endOfTurn");
      assert.equal(listener.turns[0]?.mark, "startOfTurn");
      assert.deepEqual(listener.events.slice(0, 2), ["speechStarted", "startOfTurn"]);
      assert.deepEqual(endsOfTurn(), ["book a table for two."]);
      assert.equal(listener.finalText, "book a table for two.");
      assert.ok(listener.transcripts.every(({ hasTurnDetection }) => hasTurnDetection === true));
      assert.ok(listener.transcripts.every(({ speechFinal }) => !speechFinal));
      writeFrames(stream, spoken("at eight."));
      writeFrames(stream, quiet(600));
      await untilTurns(2);
      assert.deepEqual(endsOfTurn(), ["book a table for two.", "at eight."]);
      stream.close();
    });

    it("waits where the caller is not done, however long a silence timer would have", async () => {
      const stream = await open();
      writeFrames(stream, spoken("my number is, uhm,"));
      writeFrames(stream, quiet(1_000));
      writeFrames(stream, spoken("four two one."));
      writeFrames(stream, quiet(600));
      await untilTurns(1);
      assert.deepEqual(endsOfTurn(), ["my number is, uhm, four two one."]);
      stream.close();
    });

    it("returns the last words before it ends when the audio ends", async () => {
      const stream = await open();
      writeFrames(stream, spoken("good bye"));
      await stream.finish();
      assert.equal(listener.finalText, "good bye");
      assert.deepEqual(listener.lost, []);
    });

    it("hears µ-law from the telephone", async () => {
      const stream = await open(never(), { format: MULAW_8K });
      stream.write(new Uint8Array(8_000).fill(0xff));
      await stream.finish();
      assert.deepEqual(listener.failed, []);
    });

    const refusals: [DeepgramFault, VendorFault, boolean][] = [
      // Whether AssemblyAI says so of a key is not known.
      ["forbidden", vendor === "assemblyai" ? "unauthorized" : "refused", false],
      ["unauthorized", "unauthorized", false],
      ["paymentRequired", "quotaExceeded", false],
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
        assert.doesNotMatch(error.message, /test-key/);
      });
    }

    it("reports to the operator what the vendor refuses", async () => {
      const refused = open(never(), { format: { encoding: "pcm16", sampleRateHz: 11_025 } });
      await assert.rejects(refused, { fault: "refused", message: /sample_rate/ });
    });

    it("hears a short turn again as a whole after a drop, and loses no word", async () => {
      vendors.sandbox.faults[vendor] = { fault: "dropMidCall", after: 8, times: 1 };
      const stream = await open();
      writeFrames(stream, spoken("one two three four."));
      writeFrames(stream, quiet(800));
      await untilTurns(1);
      stream.close();
      assert.equal(listener.finalText, "one two three four.");
      const order = listener.events.filter((event) => event === "lost" || event === "recovered");
      assert.deepEqual(order, ["lost", "recovered"]);
    });

    it("keeps the words of a long turn when its connection drops", async () => {
      const stream = await open();
      const text = "please write this down one two three four five six seven eight nine ten,";
      assert.ok(spoken(text).length / 32 > 2_500);
      writeFrames(stream, spoken(text));
      writeFrames(stream, quiet(600));
      await vendors.changes.until(
        "the last word",
        () => listener.transcripts.at(-1)?.text.endsWith("ten,") === true,
      );
      vendors.sandbox.faults[vendor] = { fault: "dropMidCall", times: 1 };
      writeFrames(stream, quiet(400));
      await vendors.changes.until("the way back", () => listener.events.includes("recovered"));
      writeFrames(stream, spoken("and eleven."));
      writeFrames(stream, quiet(800));
      await untilTurns(1);
      assert.equal(listener.finalText, `${text} and eleven.`);
      stream.close();
    });

    it("does not hear a turn that has ended a second time after a drop", async () => {
      const stream = await open();
      writeFrames(stream, spoken("first turn."));
      writeFrames(stream, quiet(600));
      await untilTurns(1);
      vendors.sandbox.faults[vendor] = { fault: "closeMidCall", times: 1 };
      writeFrames(stream, spoken("second turn."));
      writeFrames(stream, quiet(600));
      await untilTurns(2);
      stream.close();
      assert.deepEqual(endsOfTurn(), ["first turn.", "second turn."]);
    });

    it("fails for good when the key is refused on the way back", async () => {
      const stream = await open();
      vendors.sandbox.faults[vendor] = { fault: "dropMidCall", times: 1 };
      writeFrames(stream, spoken("hello"));
      await vendors.changes.until("the drop", () => listener.lost.length > 0);
      vendors.sandbox.faults[vendor] = { fault: "unauthorized" };
      await vendors.changes.until("the failure", () => listener.failed.length > 0);
      assert.equal(listener.failed[0]?.fault, "unauthorized");
    });

    it("is not disturbed by messages that it does not know, or cannot read", async () => {
      for (const fault of ["unknownMessages", "garbageJson"] as const) {
        vendors.sandbox.faults[vendor] = { fault };
        const stream = await open();
        writeFrames(stream, spoken("all is well."));
        await stream.finish();
      }
      assert.equal(listener.finalText, "all is well. all is well.");
      assert.deepEqual(listener.lost, []);
    });

    it("is silent once it is aborted", async () => {
      const talking = new AbortController();
      const stream = await open(talking.signal);
      writeFrames(stream, spoken("hello"));
      talking.abort();
      await vendors.changes.until(
        "the connection to close",
        () => vendors.sandbox.openConnections === 0,
      );
      assert.deepEqual(listener.events, []);
    });
  });
}

describe("Deepgram Flux", () => {
  let vendors: SandboxedVendors;

  before(async () => {
    vendors = await startSandboxedVendors();
  });

  after(() => vendors.close());

  it("reports an eager end on request, revokes it, and ends with the same words", async () => {
    const listener = new RecordingListener(vendors.changes);
    const given = { ...vendors.settingsFor("deepgram"), settings: { eagerEotThreshold: 0.4 } };
    const client = speechToText("deepgram", given, vendors.context);
    const stream = await client.open(
      {
        language: "en-US",
        modelId: "flux-general-en",
        format: PCM_16K,
        endpointingMs: 200,
      },
      listener,
      never(),
    );
    writeFrames(stream, spoken("I would like a table"));
    writeFrames(stream, quiet(300));
    writeFrames(stream, spoken("for two"));
    writeFrames(stream, quiet(900));
    await vendors.changes.until("the end", () => listener.events.at(-1) === "endOfTurn");
    stream.close();
    assert.deepEqual(
      listener.turns.map(({ mark, text }) => [mark, text]),
      [
        ["startOfTurn", "I"],
        ["eagerEndOfTurn", "I would like a table"],
        ["turnResumed", "I would like a table"],
        ["eagerEndOfTurn", "I would like a table for two"],
        ["endOfTurn", "I would like a table for two"],
      ],
    );
  });

  it("refuses thresholds that do not go together in the vendor's words", async () => {
    const settings = { eotThreshold: 0.5, eagerEotThreshold: 0.8 };
    const given = { ...vendors.settingsFor("deepgram"), settings };
    const opening = speechToText("deepgram", given, vendors.context).open(
      {
        language: "en",
        modelId: "flux-general-en",
        format: MULAW_8K,
        endpointingMs: 200,
      },
      new RecordingListener(),
      never(),
    );
    await assert.rejects(opening, { fault: "refused", message: /eager_eot_threshold/ });
  });
});
