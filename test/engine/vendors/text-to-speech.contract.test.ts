import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { EdgeFault, SpeechFault } from "../../../engine/sandbox/faults.js";
import {
  type SpeechFormat,
  type SpeechRequest,
  type TextToSpeech,
  VendorError,
  type VendorFault,
} from "../../../engine/vendors/contracts.js";
import { textToSpeech } from "../../../engine/vendors/registry.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { never, type SandboxedVendors, startSandboxedVendors } from "./sandboxed-vendors.js";

type Fault = SpeechFault & EdgeFault;

const VENDORS = [
  { vendor: "openai", knob: "openaiSpeech", modelId: "gpt-4o-mini-tts" },
  { vendor: "elevenlabs", knob: "elevenlabs", modelId: "eleven_flash_v2_5" },
  { vendor: "edge", knob: "edge", modelId: "edge-neural" },
] as const;

for (const { vendor, knob, modelId } of VENDORS) {
  describe(`text to speech: ${vendor}`, () => {
    let clock: VirtualClock;
    let vendors: SandboxedVendors;
    let speech: TextToSpeech;

    before(async () => {
      clock = new VirtualClock(Date.now());
      vendors = await startSandboxedVendors(clock);
    });

    beforeEach(() => {
      vendors.sandbox.faults[knob] = {};
      speech = textToSpeech(vendor, vendors.settingsFor(vendor), vendors.context);
    });

    after(() => vendors.close());

    function saying(text: string, format: SpeechFormat = "mp3"): SpeechRequest {
      return { text, modelId, speed: 1, language: "en-US", format };
    }

    async function audioOf(request: SpeechRequest): Promise<Buffer> {
      const chunks: Uint8Array[] = [];
      await speech.synthesize(request, (audio) => chunks.push(audio), never());
      return Buffer.concat(chunks);
    }

    async function failureUnder(fault: Fault): Promise<VendorError> {
      vendors.sandbox.faults[knob] = { fault };
      const error: unknown = await audioOf(saying("Secret words.")).catch((cause) => cause);
      assert.ok(error instanceof VendorError, String(error));
      assert.doesNotMatch(error.message, /test-key|Secret words/);
      return error;
    }

    function isMp3At24kHz(audio: Buffer): boolean {
      // MPEG-2 layer III, 48 kbit/s, 24 kHz.
      return audio[0] === 0xff && (audio[1] ?? 0) >> 1 === 0x79 && (audio[2] ?? 0) >> 2 === 0x19;
    }

    it("speaks a sentence as MPEG audio at 24 kHz", async () => {
      assert.ok(speech.formats.includes("mp3"));
      assert.ok(isMp3At24kHz(await audioOf(saying("The table is booked."))));
    });

    it("says longer texts longer, and every one on the same connection", async () => {
      const short = await audioOf(saying("Yes."));
      const connections = vendors.sandbox.openConnections;
      const long = await audioOf(saying("Yes, the table is booked for tomorrow at eight."));
      assert.ok(long.length > short.length * 3);
      assert.equal(vendors.sandbox.openConnections, connections);
    });

    it("says what would be mark-up, quotation or not Latin as it stands", async () => {
      const text = `Is 3 < 5 & "so" > 'no'? Grüße, 你好.`;
      await audioOf(saying(text));
      assert.equal(vendors.sandbox.journal.findLast(({ kind }) => kind === "request")?.text, text);
    });

    const refusals: [Fault, VendorFault, boolean][] = [
      ["unauthorized", "unauthorized", false],
      ["rateLimited", "rateLimited", true],
      ["serverError", "unavailable", true],
      ["disconnectBeforeFirstByte", "disconnected", true],
      ["disconnectMidStream", "disconnected", true],
    ];
    for (const [fault, expected, retryable] of refusals) {
      it(`fails as ${expected} on ${fault}`, async () => {
        // A socket that is open already has its refusals behind it.
        vendors.context.connections.socketPools.closeIdle();
        const error = await failureUnder(fault);
        assert.equal(error.fault, expected, error.message);
        assert.equal(error.retryable, retryable);
      });
    }

    it("gives up on a vendor that never begins to speak", async () => {
      vendors.sandbox.faults[knob] = { fault: "stallBeforeFirstByte" };
      const requests = vendors.sandbox.journal.length;
      const synthesis = audioOf(saying("Hello."));
      await vendors.changes.until("the request", () => vendors.sandbox.journal.length > requests);
      clock.advance(10_000);
      await assert.rejects(synthesis, { fault: "timeout", retryable: true });
    });

    it("gives up on speech that stalls", async () => {
      vendors.sandbox.faults[knob] = { fault: "stallMidStream" };
      let receivedBytes = 0;
      const synthesis = speech.synthesize(
        saying("A sentence that is long enough for several chunks."),
        (audio) => {
          receivedBytes += audio.length;
          vendors.changes.tell();
        },
        never(),
      );
      await vendors.changes.until("the first chunk", () => receivedBytes > 0);
      clock.advance(10_000);
      await assert.rejects(synthesis, { fault: "timeout" });
    });

    it("stops at once when aborted: nothing more is called and the connection is broken", async () => {
      vendors.sandbox.faults[knob] = { bytesPerSecond: 100_000 };
      const ending = new AbortController();
      let calls = 0;
      const synthesis = speech.synthesize(
        saying("A rather long sentence. ".repeat(20)),
        () => {
          calls++;
          ending.abort();
        },
        ending.signal,
      );
      await assert.rejects(synthesis, { fault: "aborted", retryable: false });
      await vendors.changes.until(
        "the connection to close",
        () => vendors.sandbox.openConnections === 0,
      );
      assert.equal(calls, 1);
    });

    it("asks nothing when it was aborted before it began", async () => {
      const requests = vendors.sandbox.journal.length;
      const synthesis = speech.synthesize(saying("Hello."), () => undefined, AbortSignal.abort());
      await assert.rejects(synthesis, { fault: "aborted" });
      assert.equal(vendors.sandbox.journal.length, requests);
    });

    it("has its connection open before the first sentence when it was warmed", async () => {
      const before = vendors.sandbox.openConnections;
      speech.warm();
      await vendors.changes.until(
        "the warm connection",
        () => vendors.sandbox.openConnections > before,
      );
      assert.ok(isMp3At24kHz(await audioOf(saying("Hello."))));
    });
  });
}

describe("text to speech: what only some vendors do", () => {
  let vendors: SandboxedVendors;

  before(async () => {
    vendors = await startSandboxedVendors();
  });

  after(() => vendors.close());

  async function failure(vendor: "openai" | "elevenlabs" | "edge"): Promise<unknown> {
    const speech = textToSpeech(vendor, vendors.settingsFor(vendor), vendors.context);
    const request = { text: "Hi.", modelId: "m", speed: 1, language: "en-US", format: "mp3" };
    return speech
      .synthesize({ ...request, format: "mp3" }, () => undefined, never())
      .then(
        () => undefined,
        (error: unknown) => error,
      );
  }

  it("tells a spent quota from a request too many", async () => {
    vendors.sandbox.faults.openaiSpeech = { fault: "quotaExceeded" };
    vendors.sandbox.faults.elevenlabs = { fault: "quotaExceeded" };
    for (const vendor of ["openai", "elevenlabs"] as const) {
      const error = await failure(vendor);
      assert.ok(error instanceof VendorError);
      assert.equal(error.fault, "quotaExceeded");
    }
    vendors.sandbox.faults.openaiSpeech = { fault: "rateLimited" };
    const limited = await failure("openai");
    assert.ok(limited instanceof VendorError);
    assert.equal(limited.retryAfterMs, 1_000);
  });

  it("takes silence where speech was due for a bad answer", async () => {
    vendors.sandbox.faults.openaiSpeech = { fault: "emptyAudio" };
    vendors.sandbox.faults.elevenlabs = { fault: "emptyAudio" };
    vendors.sandbox.faults.edge = { fault: "turnEndWithoutAudio" };
    for (const vendor of ["openai", "elevenlabs", "edge"] as const) {
      const error = await failure(vendor);
      assert.ok(error instanceof VendorError, vendor);
      assert.equal(error.fault, "badAnswer", vendor);
    }
  });

  it("gets µ-law from ElevenLabs for the telephone", async () => {
    vendors.sandbox.faults.elevenlabs = {};
    const speech = textToSpeech("elevenlabs", vendors.settingsFor("elevenlabs"), vendors.context);
    assert.deepEqual(speech.formats, ["mp3", "mulaw"]);
    let bytes = 0;
    await speech.synthesize(
      { text: "Hello.", modelId: "eleven_flash_v2_5", speed: 1, language: "en", format: "mulaw" },
      (audio) => {
        bytes += audio.length;
      },
      never(),
    );
    assert.ok(bytes > 1_000);
  });
});
