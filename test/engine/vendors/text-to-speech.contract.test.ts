import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { isSameFormat, MP3, MULAW_8K, PCM_24K } from "../../../engine/audio/audio-format.js";
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
import {
  assertStopsAtOnce,
  itKeepsItsPatience,
  type Stall,
  type VoiceUnderTest,
} from "./voice-patience.js";

type Fault = SpeechFault & EdgeFault;

const VENDORS = [
  { vendor: "openai", knob: "openaiSpeech", modelId: "gpt-4o-mini-tts" },
  { vendor: "cartesia", knob: "cartesia", modelId: "sonic-3.5" },
  { vendor: "deepgram", knob: "deepgramSpeech", modelId: "aura-2-thalia-en" },
  { vendor: "kokoro", knob: "openaiSpeech", modelId: "kokoro" },
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

    function saying(text: string, format: SpeechFormat = MP3): SpeechRequest {
      return { text, modelId, speed: 1, language: "en-US", format };
    }

    function voice(): VoiceUnderTest {
      const spoil = (fault: Stall) => {
        vendors.sandbox.faults[knob] = { fault };
      };
      return { speech, vendors, clock, spoil, saying };
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
      const isMp3 = audio[0] === 0xff && (audio[1] ?? 0) >> 1 === 0x79;
      // Deepgram has one rate for MP3, 22.05 kHz; a page plays both.
      return isMp3 && (audio[2] ?? 0) >> 2 === (vendor === "deepgram" ? 0x18 : 0x19);
    }

    it("speaks a sentence as MPEG audio at 24 kHz", async () => {
      assert.ok(speech.formats.some((format) => isSameFormat(format, MP3)));
      assert.ok(isMp3At24kHz(await audioOf(saying("The table is booked."))));
    });

    it("says longer texts longer, and every one on the same connection", async () => {
      const short = await audioOf(saying("Yes."));
      const connections = vendors.sandbox.openConnections;
      const long = await audioOf(saying("Yes, the table is booked for tomorrow at eight."));
      assert.ok(long.length > short.length * 3);
      assert.equal(vendors.sandbox.openConnections, connections);
    });

    it("says mark-up, quotes and non-Latin text unchanged", async () => {
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

    itKeepsItsPatience(voice);

    it("stops at once when aborted: nothing more is called and the connection is broken", async () => {
      vendors.sandbox.faults[knob] = { realTimeFactor: 16 };
      await assertStopsAtOnce(voice());
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
    const request = { text: "Hi.", modelId: "m", speed: 1, language: "en-US", format: MP3 };
    return speech
      .synthesize({ ...request, format: MP3 }, () => undefined, never())
      .then(
        () => undefined,
        (error: unknown) => error,
      );
  }

  it("distinguishes a used-up quota from a rate limit", async () => {
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

  it("gets µ-law from ElevenLabs for the telephone, and PCM for browsers", async () => {
    vendors.sandbox.faults.elevenlabs = {};
    const speech = textToSpeech("elevenlabs", vendors.settingsFor("elevenlabs"), vendors.context);
    assert.deepEqual(speech.formats, [MP3, MULAW_8K, PCM_24K]);
    const bytesOf = async (format: SpeechFormat): Promise<number> => {
      let bytes = 0;
      await speech.synthesize(
        { text: "Hello.", modelId: "eleven_flash_v2_5", speed: 1, language: "en", format },
        (audio) => {
          bytes += audio.length;
        },
        never(),
      );
      return bytes;
    };
    const mulawBytes = await bytesOf(MULAW_8K);
    assert.ok(mulawBytes > 1_000);
    assert.equal(await bytesOf(PCM_24K), mulawBytes * 6, "three times the rate, twice the bytes");
  });
});
