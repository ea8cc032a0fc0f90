import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { MP3, PCM_24K } from "../../../engine/audio/audio-format.js";
import { AudioPoolOverloadedError } from "../../../engine/audio/conversion-queue.js";
import type { PieceListener } from "../../../engine/conversation/leg-audio.js";
import { SpeechCache } from "../../../engine/conversation/speech-cache.js";
import { speakSentence } from "../../../engine/conversation/synthesis.js";
import type { SpeechFormat } from "../../../engine/vendors/contracts.js";
import { RecordingDelivery } from "../../doubles/recording-delivery.js";
import { ScriptedVoice } from "../../doubles/scripted-voice.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const PIECE = new Uint8Array(480);
const WORD = { text: "hi", startMs: 0, endMs: 90 };

describe("a sentence that is converted piece by piece", () => {
  let voice: ScriptedVoice;
  let cache: SpeechCache;
  let clock: VirtualClock;
  let ending: AbortController;
  let delivery: RecordingDelivery;
  let listener: PieceListener;
  /** Bytes that the converter was given. */
  let writtenBytes: number;
  let atEnd: () => void;

  beforeEach(() => {
    voice = new ScriptedVoice();
    cache = new SpeechCache(1_000_000);
    clock = new VirtualClock(1_000);
    ending = new AbortController();
    writtenBytes = 0;
    atEnd = () => undefined;
  });

  /** Each chunk is a piece of 10 ms. */
  function say(request: SpeechFormat = MP3): Promise<number> {
    delivery = new RecordingDelivery(clock);
    const format = {
      name: "stub",
      request,
      isStreamed: true,
      open: (told: PieceListener) => {
        listener = told;
        const write = (chunk: Uint8Array) => {
          writtenBytes += chunk.length;
          told.onPiece(chunk, 10);
        };
        return { takeAs: () => false, write, end: () => Promise.resolve(atEnd()) };
      },
    };
    const agent = { vendor: "acme", modelId: "m", speed: 1, language: "en", cacheKey: "voice" };
    const tts = { ...agent, client: voice, format };
    const spoken = speakSentence(tts, "hello", cache, delivery, ending.signal, clock);
    spoken.catch(() => undefined);
    return spoken;
  }

  function synthesis() {
    const last = voice.syntheses.at(-1);
    assert.ok(last, "the voice was asked");
    return last;
  }

  it("is as long as its pieces, and is kept as a whole, with no more than 500 words", async () => {
    for (const _time of [1, 2]) {
      const spoken = say();
      for (const chunk of [PIECE, PIECE, PIECE]) synthesis().give(chunk);
      for (const count of [300, 300]) {
        synthesis().request.onWords?.(Array.from({ length: count }, () => WORD));
      }
      synthesis().finish();
      assert.equal(await spoken, 30);
      assert.equal(clock.pendingTimerCount, 0);
    }
    assert.equal(await say(), 30);
    assert.equal(voice.syntheses.length, 2);
    assert.deepEqual([delivery.audio.length, delivery.words.length], [3 * PIECE.length, 500]);
  });

  for (const [error, expected] of [
    [
      new AudioPoolOverloadedError("1000 pieces of audio are already waiting"),
      { vendor: "audioPool", fault: "unavailable", message: "too many sentences wait" },
    ],
    [
      new Error("no MP3"),
      { vendor: "acme", fault: "badAnswer", message: "the vendor's audio could not be converted" },
    ],
  ] as const) {
    it(`fails as ${expected.fault} where the conversion breaks: ${error.message}`, async () => {
      const early = say();
      synthesis().give(PIECE);
      listener.onBroken(error);
      await assert.rejects(early, { ...expected, cause: error });
      assert.equal(synthesis().signal.aborted, true);
      atEnd = () => listener.onBroken(error);
      const late = say();
      synthesis().give(PIECE);
      synthesis().finish();
      await assert.rejects(late, { ...expected, cause: error });
      assert.equal(clock.pendingTimerCount, 0);
    });
  }

  for (const [format, bytesMax] of [
    [MP3, 960_000],
    [PCM_24K, 5_760_000],
  ] as const) {
    it(`is no more than two minutes of ${format.encoding}`, async () => {
      const whole = say(format);
      synthesis().give(new Uint8Array(bytesMax));
      synthesis().finish();
      assert.equal(await whole, 10);
      const tooLong = say(format);
      writtenBytes = 0;
      synthesis().give(new Uint8Array(bytesMax));
      synthesis().give(new Uint8Array(1));
      synthesis().finish();
      await assert.rejects(tooLong, {
        fault: "badAnswer",
        message: "one sentence has more than two minutes of audio",
      });
      assert.equal(writtenBytes, bytesMax);
    });
  }

  it("takes nothing more from TTS after an abort", async () => {
    const spoken = say();
    ending.abort();
    synthesis().give(PIECE);
    synthesis().request.onWords?.([WORD]);
    await assert.rejects(spoken, { fault: "aborted" });
    assert.deepEqual([delivery.firstByteAtMs, delivery.words, writtenBytes], [undefined, [], 0]);
  });

  it("waits four seconds after the last data, to the millisecond", async () => {
    const spoken = say();
    clock.advance(1);
    synthesis().give(PIECE);
    clock.advance(3_999);
    assert.equal(synthesis().signal.aborted, false);
    clock.advance(1);
    await assert.rejects(spoken, {
      fault: "timeout",
      message: "the TTS returned nothing for too long",
    });
  });
});
