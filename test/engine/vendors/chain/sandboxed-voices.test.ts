import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { after, before, beforeEach, describe, it } from "node:test";
import { MP3, MULAW_8K } from "../../../../engine/audio/audio-format.js";
import type { SpeechFault } from "../../../../engine/sandbox/faults.js";
import { AnswerLog } from "../../../../engine/vendors/chain/answer-log.js";
import { AnswerTimes } from "../../../../engine/vendors/chain/answer-times.js";
import { ChainedVoice } from "../../../../engine/vendors/chain/tts-chain.js";
import {
  type SpeechFormat,
  type SpeechRequest,
  type SpokenWord,
  VendorError,
} from "../../../../engine/vendors/contracts.js";
import { textToSpeech } from "../../../../engine/vendors/registry.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { never, type SandboxedVendors, startSandboxedVendors } from "../sandboxed-vendors.js";
import { chainOf } from "./chain-of.js";

const PATIENCE_MS = 1_500;
const TEXT = "The table is booked for two, tomorrow at eight.";

const AT_ONCE = { realTimeFactor: 0 };

/** Nothing was heard by then: the next one says the whole sentence immediately. */
const BEFORE_AUDIO: readonly SpeechFault[] = [
  "unauthorized",
  "badRequest",
  "rateLimited",
  "quotaExceeded",
  "serverError",
  "disconnectBeforeFirstByte",
  "emptyAudio",
  "garbage",
];

describe("a chain of voices", () => {
  let clock: VirtualClock;
  let vendors: SandboxedVendors;
  let answers: AnswerLog;
  let times: AnswerTimes;
  let voice: ChainedVoice;

  before(async () => {
    clock = new VirtualClock(Date.now());
    vendors = await startSandboxedVendors(clock);
  });
  beforeEach(() => {
    Object.assign(vendors.sandbox.faults, { elevenlabs: AT_ONCE, deepgramSpeech: AT_ONCE });
    answers = new AnswerLog();
    times = new AnswerTimes();
    voice = new ChainedVoice(
      chainOf("tts", clock, answers, [
        named("elevenlabs", "eleven_flash_v2_5"),
        named("deepgram", "aura-2-thalia-en"),
      ]),
      { audioTimeoutMs: PATIENCE_MS, times },
    );
  });
  after(() => vendors.close());

  function named(vendor: "elevenlabs" | "deepgram", modelId: string) {
    const client = textToSpeech(vendor, vendors.settingsFor(vendor), vendors.context);
    return { vendor, modelId, client };
  }

  async function speak(
    chunks: Uint8Array[],
    format: SpeechFormat = MP3,
    onChunk = () => {},
    signal = never(),
  ): Promise<void> {
    const request = { text: TEXT, modelId: "whatever", speed: 1, language: "en-US", format };
    const take = (audio: Uint8Array) => {
      chunks.push(audio);
      onChunk();
    };
    await voice.synthesize(request, take, signal);
  }

  /** Which of the two has spoken, by the requests that their simulators have seen. */
  function asked(): readonly string[] {
    return vendors.sandbox.journal
      .filter(({ kind }) => kind === "request")
      .map(({ vendor }) => vendor);
  }

  it("uses only the first while all is well, and keeps neither a timer nor the sentence", async () => {
    const timers = clock.pendingTimerCount;
    const before = asked().length;
    const { signal } = new AbortController();
    await speak([], MP3, undefined, signal);
    assert.deepEqual(asked().slice(before), ["elevenlabs"]);
    assert.equal(clock.pendingTimerCount, timers);
    assert.deepEqual(getEventListeners(signal, "abort"), []);
  });

  for (const fault of BEFORE_AUDIO) {
    it(`${fault}: the next one says all of it`, async () => {
      vendors.sandbox.faults.elevenlabs = { ...AT_ONCE, fault };
      const chunks: Uint8Array[] = [];
      await speak(chunks);
      assert.equal(answers.take().tts?.vendor, "deepgram");
      const healthy: Uint8Array[] = [];
      await speak(healthy);
      assert.deepEqual(Buffer.concat(chunks), Buffer.concat(healthy), "and nothing else is heard");
    });
  }

  it("leaves a voice that is silent for too long", async () => {
    vendors.sandbox.faults.elevenlabs = { fault: "stallBeforeFirstByte" };
    const before = asked().length;
    const chunks: Uint8Array[] = [];
    const spoken = speak(chunks);
    await vendors.changes.until("the first to be asked", () => asked().length > before);
    clock.advance(PATIENCE_MS);
    await spoken;
    assert.ok(chunks.length > 0);
    assert.equal(answers.take().tts?.firstFault, "timeout");
  });

  it("reports the word times of the active voice, with its audio", async () => {
    const told: string[] = [];
    const timed = {
      formats: [MULAW_8K],
      warm: () => undefined,
      synthesize: (request: SpeechRequest, onChunk: (audio: Uint8Array) => void) => {
        request.onWords?.([{ text: "early", startMs: 0, endMs: 10 }]);
        onChunk(new Uint8Array(80));
        request.onWords?.([{ text: "table", startMs: 0, endMs: 10 }]);
        return Promise.resolve();
      },
    };
    const link = { vendor: "timed", modelId: "m", client: timed };
    const chain = chainOf("tts", clock, answers, [link, link]);
    voice = new ChainedVoice(chain, { audioTimeoutMs: PATIENCE_MS, times });
    const request = { text: TEXT, modelId: "m", speed: 1, language: "en-US", format: MULAW_8K };
    const onWords = (words: readonly SpokenWord[]) => told.push(...words.map(({ text }) => text));
    await voice.synthesize({ ...request, onWords }, () => undefined, never());
    assert.deepEqual(told, ["table"]);
  });

  it("leaves a voice that usually starts sooner after 800 ms, and the last one not at all", async () => {
    const chain = chainOf("tts", clock, answers, [
      named("elevenlabs", "eleven_flash_v2_5"),
      named("deepgram", "aura-2-thalia-en"),
    ]);
    voice = new ChainedVoice(chain, { audioTimeoutMs: PATIENCE_MS, times });
    for (let n = 0; n < 20; n++) await speak([]);
    vendors.sandbox.faults.elevenlabs = { fault: "stallBeforeFirstByte" };
    vendors.sandbox.faults.deepgramSpeech = { ...AT_ONCE, firstByteMs: 100 };
    const before = asked().length;
    const chunks: Uint8Array[] = [];
    const spoken = speak(chunks);
    await vendors.changes.until("the first to be asked", () => asked().length > before);
    clock.advance(799);
    assert.equal(asked().length, before + 1);
    clock.advance(1);
    await vendors.changes.until("the second to be asked", () => asked().length > before + 1);
    clock.advance(PATIENCE_MS);
    await spoken;
    assert.equal(answers.take().tts?.wastedMs, 800);
    // The wait for it counts among its times: one response in twenty-one was that late.
    assert.equal(times.timeoutMs(chain.first, PATIENCE_MS), 1.2 * 800);
  });

  for (const [fault, format] of [
    ["disconnectMidStream", MP3],
    ["disconnectMidStream", MULAW_8K],
  ] as const) {
    it(`${fault} in ${format.encoding}: played audio stands, and the next voice says the rest`, async () => {
      vendors.sandbox.faults.elevenlabs = { fault };
      const chunks: Uint8Array[] = [];
      const error: unknown = await speak(chunks, format).catch((cause) => cause);
      assert.ok(error instanceof VendorError);
      assert.ok(error.retryable);
      assert.ok(chunks.length > 0);
      const before = asked().length;
      await speak([], format);
      assert.deepEqual(asked().slice(before), ["deepgramSpeech"]);
    });
  }

  it("reports a stall in the middle of a sentence as one, after which the call retries", async () => {
    vendors.sandbox.faults.elevenlabs = { fault: "stallMidStream" };
    const chunks: Uint8Array[] = [];
    const spoken = speak(chunks, MP3, vendors.changes.tell);
    await vendors.changes.until("its first audio", () => chunks.length > 0);
    clock.advance(PATIENCE_MS);
    await assert.rejects(spoken, { fault: "timeout", vendor: "elevenlabs", retryable: true });
  });

  it("does not first retry a voice that stalled in the middle of an aborted sentence", async () => {
    vendors.sandbox.faults.elevenlabs = { fault: "stallMidStream" };
    const abort = new AbortController();
    let hasBegun = false;
    const spoken = speak(
      [],
      MP3,
      () => {
        hasBegun = true;
        vendors.changes.tell();
      },
      abort.signal,
    );
    await vendors.changes.until("its first audio", () => hasBegun);
    clock.advance(600);
    abort.abort();
    const before = asked().length;
    const rest = speak([]);
    await assert.rejects(spoken, VendorError);
    await rest;
    assert.deepEqual(asked().slice(before), ["deepgramSpeech"]);
  });

  for (const [fault, quietMs] of [
    ["stallMidStream", 600],
    ["stallBeforeFirstByte", PATIENCE_MS],
  ] as const) {
    it(`${fault}: a voice that hangs until it times out opens its breaker`, async () => {
      const chain = chainOf("tts", clock, answers, [named("elevenlabs", "eleven_flash_v2_5")]);
      voice = new ChainedVoice(chain, { audioTimeoutMs: PATIENCE_MS, times });
      vendors.sandbox.faults.elevenlabs = { fault };
      const { breaker } = chain.first;
      for (const phase of ["closed", "closed", "open"]) {
        await hang(quietMs, fault === "stallMidStream");
        assert.equal(breaker.phase, phase);
      }
    });
  }

  /** Asks for a sentence and gives it up when nothing has come for `quietMs`. */
  async function hang(quietMs: number, isBegun: boolean): Promise<void> {
    const abort = new AbortController();
    const before = asked().length;
    const chunks: Uint8Array[] = [];
    const spoken = speak(chunks, MP3, vendors.changes.tell, abort.signal);
    const isStuck = () => (isBegun ? chunks.length > 0 : asked().length > before);
    await vendors.changes.until("it to be stuck", isStuck);
    clock.advance(quietMs);
    abort.abort();
    await assert.rejects(spoken, VendorError);
  }

  it("does not hold an interruption against the voice that was interrupted", async () => {
    const abort = new AbortController();
    await assert.rejects(
      speak([], MP3, () => abort.abort(), abort.signal),
      VendorError,
    );
    const before = asked().length;
    await speak([]);
    assert.deepEqual(asked().slice(before), ["elevenlabs"]);
  });
});
