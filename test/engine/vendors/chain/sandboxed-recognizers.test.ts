import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { PCM_16K } from "../../../../engine/audio/audio-format.js";
import type { DeepgramFault } from "../../../../engine/sandbox/faults.js";
import { encodeSpeech } from "../../../../engine/sandbox/telephone/tone-code.js";
import { AnswerLog } from "../../../../engine/vendors/chain/answer-log.js";
import { ChainedRecognizer } from "../../../../engine/vendors/chain/stt-chain.js";
import { type SpeechStream, VendorError } from "../../../../engine/vendors/contracts.js";
import { speechToText } from "../../../../engine/vendors/registry.js";
import { RecordingListener } from "../recording-listener.js";
import {
  eventually,
  never,
  type SandboxedVendors,
  startSandboxedVendors,
} from "../sandboxed-vendors.js";
import { chainOf } from "./chain-of.js";

const PATIENCE_MS = 3_000;
const OPTIONS = {
  language: "en-US",
  modelId: "whatever",
  format: PCM_16K,
  endpointingMs: 200,
} as const;

const AT_THE_BEGINNING: readonly DeepgramFault[] = [
  "unauthorized",
  "paymentRequired",
  "rateLimited",
  "serverError",
  "stallHandshake",
];

function spoken(text: string): Uint8Array {
  const pcm = encodeSpeech(text, OPTIONS.format.sampleRateHz);
  return new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength);
}

function quiet(durationMs: number): Uint8Array {
  return new Uint8Array(durationMs * 32);
}

/** As loud as a voice, and no words. */
function noise(durationMs: number): Uint8Array {
  const pcm = Int16Array.from({ length: durationMs * 16 }, (_, at) =>
    at % 100 < 50 ? 3_000 : -3_000,
  );
  return new Uint8Array(pcm.buffer);
}

function write(stream: SpeechStream, ...audios: readonly Uint8Array[]): void {
  for (const audio of audios) {
    for (let at = 0; at < audio.length; at += 640) stream.write(audio.subarray(at, at + 640));
  }
}

describe("a chain of STTs", () => {
  let vendors: SandboxedVendors;
  let answers: AnswerLog;
  let listener: RecordingListener;
  let recognizer: ChainedRecognizer;
  let journalledBefore = 0;

  before(async () => {
    vendors = await startSandboxedVendors();
  });
  beforeEach(() => {
    Object.assign(vendors.sandbox.faults, { deepgram: {}, assemblyai: {} });
    journalledBefore = vendors.sandbox.journal.length;
    answers = new AnswerLog();
    listener = new RecordingListener(vendors.changes);
    recognizer = new ChainedRecognizer(
      chainOf("stt", vendors.context.clock, answers, [
        named("deepgram", "nova-3"),
        named("assemblyai", "universal-streaming-english"),
      ]),
      PATIENCE_MS,
    );
  });
  after(() => vendors.close());

  function named(vendor: "deepgram" | "assemblyai", modelId: string) {
    const client = speechToText(vendor, vendors.settingsFor(vendor), vendors.context);
    return { vendor, modelId, client };
  }

  function open(signal = never()): Promise<SpeechStream> {
    return recognizer.open(OPTIONS, listener, signal);
  }

  /** How often the simulator has sent this in this test. */
  function countOf(vendor: "deepgram" | "assemblyai", kind: "opened" | "closed"): number {
    return vendors.sandbox.journal
      .slice(journalledBefore)
      .filter((entry) => entry.vendor === vendor && entry.kind === kind).length;
  }

  async function hears(words: string): Promise<void> {
    await vendors.changes.until(`"${words}"`, () => listener.finalText === words);
  }

  /** The connection in progress breaks, and every new one fails. */
  async function breaks(stream: SpeechStream, first: DeepgramFault, then: DeepgramFault) {
    vendors.sandbox.faults.deepgram = { fault: first, times: 1 };
    stream.write(quiet(20));
    const hasStruck = () => vendors.sandbox.faults.deepgram.fault === undefined;
    await vendors.changes.until("the connection to break", hasStruck);
    vendors.sandbox.faults.deepgram = { fault: then };
  }

  it("listens with the first while all is well", async () => {
    const stream = await open();
    write(stream, spoken("book a table"), quiet(600));
    await hears("book a table");
    stream.close();
    assert.equal(answers.take().stt?.vendor, "deepgram");
    assert.deepEqual(listener.lost, []);
  });

  for (const fault of AT_THE_BEGINNING) {
    it(`${fault} at the beginning: the next listens`, async () => {
      vendors.sandbox.faults.deepgram = { fault };
      const stream = await open();
      write(stream, spoken("book a table"), quiet(1_500));
      await hears("book a table");
      stream.close();
      const { stt } = answers.take();
      assert.equal(stt?.vendor, "assemblyai");
      assert.equal(stt.firstVendor, "deepgram");
    });
  }

  for (const fault of ["dropMidCall", "closeMidCall"] as const) {
    it(`${fault}, and refused on the way back: the next hears again what was not understood`, async () => {
      const stream = await open();
      write(stream, spoken("book a table"), quiet(600));
      await hears("book a table");
      write(stream, spoken("for two"));
      const { clock } = vendors.context;
      const beforeMs = clock.monotonicMs();
      await breaks(stream, fault, "unauthorized");
      write(stream, spoken("please"), quiet(1_500));
      await hears("book a table for two please");
      stream.close();
      const { stt } = answers.take();
      assert.equal(stt?.vendor, "assemblyai");
      assert.ok((stt.wastedMs ?? 0) <= clock.monotonicMs() - beforeMs, `${stt.wastedMs} ms`);
      assert.equal(listener.failed.length, 0);
    });

    it(`${fault} of every connection: an STT that reconnects only to be lost again is left`, async () => {
      const stream = await open();
      vendors.sandbox.faults.deepgram = { fault };
      write(stream, spoken("book a table for two"), quiet(1_500));
      await hears("book a table for two");
      stream.close();
      assert.equal(answers.take().stt?.vendor, "assemblyai");
    });
  }

  it("a deaf one is left, and its words are heard by the next, on the same clock", async () => {
    const stream = await open();
    write(stream, spoken("hello"), quiet(600));
    await hears("hello");
    vendors.sandbox.faults.deepgram = { fault: "silent" };
    const long =
      "a table for two people tomorrow evening at eight if there is one outside or else a quiet one by the window please";
    write(stream, quiet(400), spoken(long), quiet(2_000));
    await hears(`hello ${long}`);
    stream.close();
    assert.equal(answers.take().stt?.vendor, "assemblyai");
    const last = listener.transcripts.findLast(({ isFinal, text }) => isFinal && text !== "");
    const endMs = (spoken("hello").length + spoken(long).length) / 32 + 1_000;
    assert.ok(Math.abs((last?.lastWordEndMs ?? 0) - endMs) < 250, `${last?.lastWordEndMs}`);
  });

  it("a deaf one is left as soon as a short utterance has ended without a word", async () => {
    const words = "a table for two people this evening please";
    const stream = await open();
    vendors.sandbox.faults.deepgram = { fault: "silent" };
    write(stream, spoken(words), quiet(2_000));
    await hears(words);
    stream.close();
    const { stt } = answers.take();
    assert.deepEqual([stt?.vendor, stt?.firstFault], ["assemblyai", "timeout"]);
  });

  it("a deaf one is left in the middle of a longer one", async () => {
    const words = "a table for two people tomorrow evening at eight by the window if there is one";
    const stream = await open();
    vendors.sandbox.faults.deepgram = { fault: "silent" };
    write(stream, spoken(words));
    await vendors.changes.until("the next to listen", () => countOf("assemblyai", "opened") === 1);
    write(stream, quiet(1_500));
    await hears(words);
    stream.close();
  });

  it("noise opens the next STT once in a call, and none is blamed for it", async () => {
    const stream = await open();
    vendors.sandbox.faults.deepgram = { fault: "silent" };
    for (const word of ["hello", "please"]) {
      write(stream, noise(1_400), quiet(200));
      await vendors.changes.until("the next", () => countOf("assemblyai", "opened") > 0);
      write(stream, spoken(word), quiet(1_500));
      // The simulators take a noise for words that they cannot read.
      await vendors.changes.until(word, () => listener.finalText.endsWith(word));
    }
    stream.close();
    assert.deepEqual([countOf("deepgram", "opened"), countOf("assemblyai", "opened")], [1, 1]);
    assert.deepEqual(listener.lost, []);
    assert.equal(answers.take().stt?.firstFault, undefined);
  });

  it("keeps a suspected STT if there is no other", async () => {
    const stream = await open();
    vendors.sandbox.faults.deepgram = { fault: "silent" };
    vendors.sandbox.faults.assemblyai = { fault: "unauthorized" };
    write(stream, spoken("a table for two people this evening please"), quiet(2_000));
    const isRefused = () => answers.take().stt?.firstFault === "unauthorized";
    await eventually(isRefused, "the next to refuse");
    vendors.sandbox.faults.deepgram = {};
    write(stream, spoken("hello"), quiet(600));
    await hears("hello");
    stream.close();
    assert.deepEqual(listener.failed, []);
  });

  it("has failed when none is left, and reports it once", async () => {
    vendors.sandbox.faults.deepgram = { fault: "unauthorized" };
    vendors.sandbox.faults.assemblyai = { fault: "unauthorized" };
    await assert.rejects(open(), VendorError);
    assert.equal(listener.failed.length, 0);
    vendors.sandbox.faults.deepgram = {};
    const stream = await open();
    write(stream, spoken("hello"));
    await breaks(stream, "dropMidCall", "unauthorized");
    await vendors.changes.until("the end", () => listener.failed.length > 0);
    stream.write(quiet(20));
    assert.equal(listener.failed.length, 1);
  });

  it("gives the last words before it ends", async () => {
    vendors.sandbox.faults.deepgram = { fault: "serverError" };
    const stream = await open();
    write(stream, spoken("good bye"));
    await stream.finish();
    assert.equal(listener.finalText, "good bye");
  });

  it("stops when its caller has gone", async () => {
    vendors.sandbox.faults.deepgram = { fault: "stallHandshake" };
    const abort = new AbortController();
    const opening = open(abort.signal);
    abort.abort();
    const error: unknown = await opening.catch((cause) => cause);
    assert.ok(error instanceof VendorError);
    assert.equal(error.fault, "aborted");
  });
});
