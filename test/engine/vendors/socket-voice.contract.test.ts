import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { MP3, MULAW_8K, PCM_24K } from "../../../engine/audio/audio-format.js";
import type { SpeechFault } from "../../../engine/sandbox/faults.js";
import { recognizeMp3 } from "../../../engine/sandbox/sound/mp3-decoder.js";
import { speak } from "../../../engine/sandbox/sound/simulated-voice.js";
import { decodeMuLaw, samplesOf } from "../../../engine/sandbox/telephone/telephone-audio.js";
import { decodeSpeech } from "../../../engine/sandbox/telephone/tone-code.js";
import {
  type SpeechRequest,
  type SpokenWord,
  type TextToSpeech,
  VendorError,
  type VendorFault,
} from "../../../engine/vendors/contracts.js";
import { textToSpeech } from "../../../engine/vendors/registry.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import {
  eventually,
  never,
  type SandboxedVendors,
  startSandboxedVendors,
} from "./sandboxed-vendors.js";
import {
  assertStopsAtOnce,
  itKeepsItsPatience,
  type Stall,
  type VoiceUnderTest,
} from "./voice-patience.js";

const VENDORS = [
  { vendor: "cartesia", knob: "cartesia", modelId: "sonic-3.5", tellsWords: true },
  { vendor: "deepgram", knob: "deepgramSpeech", modelId: "aura-2-thalia-en", tellsWords: false },
  { vendor: "elevenlabs", knob: "elevenlabs", modelId: "eleven_flash_v2_5", tellsWords: true },
] as const;
/** Its contexts end by themselves, so that an interrupted sentence does not cost the socket. */
const KEEPS_SOCKET = "elevenlabs";
/** Only ElevenLabs has a choice. */
const SETTINGS = { elevenlabs: { transport: "websocket" }, cartesia: {}, deepgram: {} };

for (const { vendor, knob, modelId, tellsWords } of VENDORS) {
  describe(`a voice over a kept WebSocket: ${vendor}`, () => {
    let clock: VirtualClock;
    let vendors: SandboxedVendors;
    let speech: TextToSpeech;

    before(async () => {
      clock = new VirtualClock(Date.now());
      vendors = await startSandboxedVendors(clock);
    });

    beforeEach(() => {
      vendors.sandbox.faults[knob] = { realTimeFactor: 0 };
      const given = { ...vendors.settingsFor(vendor), settings: SETTINGS[vendor] };
      speech = textToSpeech(vendor, given, vendors.context);
    });

    after(() => vendors.close());

    function saying(text: string, changes: Partial<SpeechRequest> = {}): SpeechRequest {
      return { text, modelId, speed: 1, language: "en-US", format: PCM_24K, ...changes };
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

    async function failureUnder(fault: SpeechFault): Promise<VendorError> {
      vendors.sandbox.faults[knob] = { fault, realTimeFactor: 0 };
      const error: unknown = await audioOf(saying("Secret words.")).catch((cause) => cause);
      assert.ok(error instanceof VendorError, String(error));
      assert.doesNotMatch(error.message, /test-key|Secret words/);
      return error;
    }

    it("speaks PCM at 24 kHz and µ-law at 8 kHz, word for word", async () => {
      const pcm = await audioOf(saying("The table is booked."));
      assert.equal(decodeSpeech(samplesOf(pcm), 24_000), "The table is booked.");
      const mulaw = await audioOf(saying("For two at eight.", { format: MULAW_8K }));
      assert.equal(decodeSpeech(decodeMuLaw(mulaw), 8_000), "For two at eight.");
    });

    it("keeps its socket from one sentence to the next, and one for each at the same time", async () => {
      vendors.context.connections.socketPools.closeIdle();
      await audioOf(saying("One."));
      const connections = vendors.sandbox.openConnections;
      await audioOf(saying("Two."));
      assert.equal(vendors.sandbox.openConnections, connections);
      const both = await Promise.all([audioOf(saying("Three.")), audioOf(saying("Four."))]);
      assert.deepEqual(
        both.map((pcm) => decodeSpeech(samplesOf(pcm), 24_000)),
        ["Three.", "Four."],
      );
    });

    it("says mark-up, quotes and non-Latin text unchanged", async () => {
      const text = `Is 3 < 5 & "so" > 'no'? Grüße, 你好.`;
      await audioOf(saying(text));
      const request = vendors.sandbox.journal.findLast(({ kind }) => kind === "request");
      assert.equal(request?.text?.trim(), text);
    });

    if (tellsWords) {
      it("reports word times on request", async () => {
        const words: SpokenWord[] = [];
        const onWords = (more: readonly SpokenWord[]) => words.push(...more);
        const pcm = await audioOf(saying("The table is booked.", { onWords }));
        assert.deepEqual(
          words.map(({ text }) => text),
          ["The", "table", "is", "booked."],
        );
        const durationMs = pcm.length / 48;
        for (const [n, { startMs, endMs }] of words.entries()) {
          assert.ok(startMs < endMs && endMs <= durationMs + 50, String(n));
          assert.ok(startMs >= (words[n - 1]?.endMs ?? 0));
        }
      });
    }

    const refusals: [SpeechFault, VendorFault, boolean][] = [
      ["unauthorized", "unauthorized", false],
      ["rateLimited", "rateLimited", true],
      ["quotaExceeded", "quotaExceeded", false],
      ["serverError", "unavailable", true],
      ["disconnectBeforeFirstByte", "disconnected", true],
      ["disconnectMidStream", "disconnected", true],
      ["emptyAudio", "badAnswer", true],
    ];
    for (const [fault, expected, retryable] of refusals) {
      it(`fails as ${expected} on ${fault}`, async () => {
        vendors.context.connections.socketPools.closeIdle();
        const error = await failureUnder(fault);
        assert.equal(error.fault, expected, error.message);
        assert.equal(error.retryable, retryable);
      });
    }

    itKeepsItsPatience(voice);

    if (vendor !== KEEPS_SOCKET) {
      it("stops at once when aborted: nothing more is called and the connection is broken", async () => {
        vendors.sandbox.faults[knob] = {};
        vendors.context.connections.socketPools.closeIdle();
        // A sentence without audio was asked for by a plain request, too, whose connection is kept.
        await assertStopsAtOnce({ ...voice(), keptConnections: 1 });
      });
    }
  });
}

describe("ElevenLabs over its WebSocket", () => {
  const text = "A rather long sentence, to be interrupted.";
  const request = { text, modelId: "eleven_flash_v2_5", speed: 1, language: "en-US" } as const;
  let clock: VirtualClock;
  let vendors: SandboxedVendors;
  let speech: TextToSpeech;

  beforeEach(async () => {
    clock = new VirtualClock(Date.now());
    vendors = await startSandboxedVendors(clock);
    const settings = { transport: "websocket" };
    const given = { ...vendors.settingsFor("elevenlabs"), settings };
    speech = textToSpeech("elevenlabs", given, vendors.context);
    vendors.sandbox.faults.elevenlabs = { realTimeFactor: 0 };
  });

  afterEach(() => vendors.close());

  async function spoken(modelId: string = request.modelId): Promise<string> {
    const chunks: Uint8Array[] = [];
    const take = (audio: Uint8Array) => void chunks.push(audio);
    await speech.synthesize({ ...request, modelId, format: PCM_24K }, take, never());
    return decodeSpeech(samplesOf(Buffer.concat(chunks)), 24_000);
  }

  function interrupted(): Promise<void> {
    const ending = new AbortController();
    let calls = 0;
    const take = () => {
      calls++;
      assert.equal(calls, 1, "nothing is called after the abort");
      ending.abort();
    };
    return speech.synthesize({ ...request, format: PCM_24K }, take, ending.signal);
  }

  it("keeps the socket of an interrupted sentence once its context has ended", async () => {
    await assert.rejects(interrupted(), { fault: "aborted" });
    const { socketPools } = vendors.context.connections;
    await eventually(() => socketPools.idleCount === 1, "the socket to be kept");
    assert.equal(clock.pendingTimerCount, 1, "that of the pool");
    assert.equal(await spoken(), text);
    assert.equal(vendors.sandbox.openConnections, 1);
  });

  it("breaks the socket of an interrupted sentence that does not end", async () => {
    vendors.sandbox.faults.elevenlabs = { realTimeFactor: 0, fault: "stallMidStream" };
    await assert.rejects(interrupted(), { fault: "aborted" });
    assert.equal(vendors.sandbox.openConnections, 1);
    clock.advance(3_000);
    await vendors.changes.until("the end", () => vendors.sandbox.openConnections === 0);
    assert.equal(clock.pendingTimerCount, 0);
  });

  it("asks by HTTP where the vendor gives no socket, and for a minute asks for none", async () => {
    const { socketPools } = vendors.context.connections;
    vendors.sandbox.faults.elevenlabs = { realTimeFactor: 0, fault: "badRequest", times: 1 };
    assert.equal(await spoken(), text);
    assert.equal(await spoken(), text);
    assert.equal(socketPools.idleCount, 0);
    clock.advance(60_000);
    assert.equal(await spoken(), text);
    assert.equal(socketPools.idleCount, 1);
    assert.equal(await spoken("eleven_v3"), text, "a model that is not for sockets");
  });

  it("asks for nothing else when the key is refused", async () => {
    vendors.sandbox.faults.elevenlabs = { fault: "unauthorized" };
    await assert.rejects(spoken(), { fault: "unauthorized" });
    assert.equal(vendors.sandbox.journal.length, 0);
  });
});

/** The same faults by the names that the sandbox has for each vendor, and what a sentence is asked for. */
const OF_SOCKETS = {
  emptyAudio: "emptyAudio",
  doneEarly: "doneEarly",
  doneTwice: "doneTwice",
  halfAudio: "halfAudio",
  silentAudio: "silentAudio",
} as const;
const OF_EDGE = {
  emptyAudio: "turnEndWithoutAudio",
  doneEarly: "turnEndEarly",
  doneTwice: "turnEndTwice",
  halfAudio: "halfAudio",
  silentAudio: "silentAudio",
} as const;
const STREAMED = [
  ...VENDORS.map((each) => ({ ...each, faults: OF_SOCKETS, format: PCM_24K })),
  {
    vendor: "edge",
    knob: "edge",
    modelId: "edge-neural",
    tellsWords: false,
    faults: OF_EDGE,
    format: MP3,
  },
] as const;
/** Much less than the client waits after an early end, and for its next message. */
const CLOCK_STEP_MS = 20;

for (const { vendor, knob, modelId, tellsWords, faults, format } of STREAMED) {
  describe(`sentences of ${vendor}, which end in every way`, () => {
    const text = "Your table for four is booked for seven.";
    const next = "Would you like to change anything about that?";
    let clock: VirtualClock;
    let vendors: SandboxedVendors;
    let speech: TextToSpeech;
    let receivedBytes = 0;

    beforeEach(async () => {
      clock = new VirtualClock(Date.now());
      vendors = await startSandboxedVendors(clock);
      const settings = {
        elevenlabs: { transport: "websocket" },
        cartesia: {},
        deepgram: {},
        edge: {},
      };
      const given = { ...vendors.settingsFor(vendor), settings: settings[vendor] };
      speech = textToSpeech(vendor, given, vendors.context);
    });

    afterEach(() => vendors.close());

    /** What the audio says, word for word. */
    async function spoken(
      said: string,
      onWords?: (words: readonly SpokenWord[]) => void,
    ): Promise<string> {
      const chunks: Uint8Array[] = [];
      receivedBytes = 0;
      const take = (audio: Uint8Array) => {
        chunks.push(audio);
        receivedBytes += audio.byteLength;
        vendors.changes.tell();
      };
      const timed = onWords === undefined ? {} : { onWords };
      const request = { text: said, modelId, speed: 1, language: "en-US", format, ...timed };
      await speech.synthesize(request, take, never());
      const audio = Buffer.concat(chunks);
      return format === MP3 ? await recognizeMp3(audio) : decodeSpeech(samplesOf(audio), 24_000);
    }

    function strike(fault: keyof typeof faults): void {
      Object.assign(vendors.sandbox.faults, {
        [knob]: { realTimeFactor: 0, fault: faults[fault], times: 1 },
      });
    }

    if (vendor === "edge") {
      it("fails where a sentence ends without audio: there is no other way to ask", async () => {
        strike("emptyAudio");
        await assert.rejects(spoken(text), { fault: "badAnswer", retryable: true });
        assert.equal(await spoken(text), text);
      });
    } else {
      it("says by a plain request what a socket ended without, each time", async () => {
        for (let n = 0; n < 3; n += 1) {
          strike("emptyAudio");
          assert.equal(await spoken(text), text);
        }
      });
    }

    if (tellsWords) {
      it("is done 300 ms after the last word, if the end is not reported", async () => {
        vendors.sandbox.faults[knob] = { realTimeFactor: 0, fault: "neverDone", times: 1 };
        const words: SpokenWord[] = [];
        const saying = spoken(text, (more) => {
          words.push(...more);
          vendors.changes.tell();
        });
        const { byteLength } = await speak(text, { codec: "pcm", sampleRateHz: 24_000 });
        const isAll = () => receivedBytes === byteLength && words.at(-1)?.text === "seven.";
        await vendors.changes.until("the last word and its sound", isAll);
        clock.advance(300);
        assert.equal(await saying, text);
        assert.equal(await spoken(next), next, "the next has a socket in step");
      });
    }

    for (const fault of ["doneEarly", "doneTwice"] as const) {
      it(`loses no word and repeats none if the end is reported as by ${fault}`, async () => {
        strike(fault);
        assert.equal(await spoken(text), text);
        assert.equal(await spoken(next), next, "what was told of the first is not of the second");
        assert.equal(await spoken(text), text);
      });
    }

    it("fails where half of it comes as if it were all, after waiting for more", async () => {
      strike("halfAudio");
      const ends: string[] = [];
      const saying = spoken(text).finally(() => ends.push("ended"));
      const failed = assert.rejects(saying, { fault: "badAnswer", retryable: true });
      const lastByte = () => vendors.sandbox.journal.some(({ kind }) => kind === "lastByte");
      await vendors.changes.until("the end", lastByte);
      while (ends.length === 0) {
        clock.advance(CLOCK_STEP_MS);
        await new Promise(setImmediate);
      }
      await failed;
      assert.equal(await spoken(next), next, "the rest of the first is not in front of it");
    });

    if (format !== MP3) {
      it("fails where all of it is silent", async () => {
        strike("silentAudio");
        await assert.rejects(spoken(text), { fault: "badAnswer", message: /silence/ });
        assert.equal(await spoken(next), next);
      });
    }
  });
}

describe("Deepgram Aura", () => {
  let vendors: SandboxedVendors;

  before(async () => {
    vendors = await startSandboxedVendors();
  });

  after(() => vendors.close());

  it("says more sentences a minute than the vendor takes on one socket", async () => {
    vendors.sandbox.faults.deepgramSpeech = { realTimeFactor: 0 };
    const speech = textToSpeech("deepgram", vendors.settingsFor("deepgram"), vendors.context);
    for (let n = 0; n < 25; n++) {
      let receivedBytes = 0;
      await speech.synthesize(
        {
          text: "Yes.",
          modelId: "aura-2-thalia-en",
          speed: 1,
          language: "en-US",
          format: MULAW_8K,
        },
        (audio) => {
          receivedBytes += audio.length;
        },
        never(),
      );
      assert.ok(receivedBytes > 0, String(n));
    }
  });
});
