import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { beforeEach, describe, it } from "node:test";
import { PCM_16K } from "../../../../engine/audio/audio-format.js";
import { VendorError } from "../../../../engine/vendors/contracts.js";
import { TranscriptionStream } from "../../../../engine/vendors/openai-protocol/audio-transcriptions.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { RecordingListener } from "../recording-listener.js";

const BYTES_PER_MS = 32;
const OPTIONS = { language: "en", modelId: "m", format: PCM_16K, endpointingMs: 200 } as const;
const DOWN = new VendorError("acme", "unavailable", "acme: down");

/** An utterance that was sent, to be answered by the test. */
interface Asked {
  readonly audio: Uint8Array;
  readonly signal: AbortSignal;
  readonly answer: (text: string) => void;
  readonly fail: (cause: unknown) => void;
}

describe("a call's recognition by recordings", () => {
  let clock: VirtualClock;
  let listener: RecordingListener;
  let call: AbortController;
  let asked: Asked[];
  let stream: TranscriptionStream;

  beforeEach(() => {
    clock = new VirtualClock();
    listener = new RecordingListener();
    call = new AbortController();
    asked = [];
    const transcribe = (audio: Uint8Array, signal: AbortSignal) =>
      new Promise<string>((answer, fail) => void asked.push({ audio, signal, answer, fail })).then(
        (text) => ({ text }),
      );
    const parts = { vendor: "acme", clock, options: OPTIONS, silenceMs: 500, listener, transcribe };
    stream = new TranscriptionStream(parts, call.signal);
  });

  const settled = () => new Promise(setImmediate);

  function sound(durationMs: number, amplitude: number): Uint8Array {
    return new Uint8Array(new Int16Array(durationMs * 16).fill(amplitude).buffer);
  }

  /** A voice of half a second, and the silence that ends it. */
  function say(): void {
    stream.write(sound(500, 5_000));
    stream.write(sound(500, 0));
  }

  it("requests one utterance after the other, and reports each with its end", async () => {
    say();
    say();
    assert.equal(asked.length, 1);
    asked[0]?.answer("one");
    await settled();
    assert.equal(asked.length, 2);
    asked[1]?.answer("");
    await settled();
    const words = { isFinal: true, speechFinal: true };
    assert.deepEqual(listener.transcripts, [
      { ...words, text: "one", lastWordEndMs: 500 },
      { ...words, text: "", lastWordEndMs: undefined },
    ]);
    stream.close();
    assert.deepEqual(getEventListeners(call.signal, "abort"), []);
  });

  it("asks three times more, each later than the one before, and then has failed", async () => {
    say();
    for (const [tries, delayMs] of [
      [1, 0],
      [2, 250],
      [3, 1_000],
    ] as const) {
      asked.at(-1)?.fail(DOWN);
      await settled();
      assert.equal(asked.length, tries);
      if (delayMs > 0) clock.advance(delayMs - 1);
      assert.equal(asked.length, tries, "too soon");
      clock.advance(1);
      assert.equal(asked.length, tries + 1);
    }
    assert.deepEqual(listener.events, ["speechStarted", "lost"]);
    asked.at(-1)?.fail(DOWN);
    await settled();
    assert.deepEqual(listener.events, ["speechStarted", "lost", "failed"]);
    assert.equal(listener.failed[0], DOWN);
    assert.equal(clock.pendingTimerCount, 0);
  });

  it("reports the length of an outage, and resets its attempts", async () => {
    for (let utterance = 0; utterance < 2; utterance += 1) {
      say();
      for (const delayMs of [0, 250]) {
        const { length } = asked;
        asked.at(-1)?.fail(DOWN);
        await settled();
        clock.advance(delayMs);
        assert.equal(asked.length, length + 1);
      }
      asked.at(-1)?.answer("word");
      await settled();
    }
    assert.deepEqual(listener.sttOutageMs, [250, 250]);
    assert.equal(listener.finalText, "word word");
    stream.close();
  });

  it("has failed at once with what will not pass, and with a bug after its tries", async () => {
    say();
    asked[0]?.fail(new TypeError("a bug"));
    await settled();
    assert.equal(listener.lost[0]?.fault, "badAnswer");
    assert.equal(listener.lost[0].message, "acme: transcription failed");
    clock.advance(0);
    asked[1]?.fail(new VendorError("acme", "refused", "acme: no"));
    await settled();
    assert.deepEqual(
      listener.failed.map(({ fault }) => fault),
      ["refused"],
    );
  });

  it("lets eight utterances wait, and no more", () => {
    for (let n = 0; n < 8; n += 1) say();
    assert.deepEqual(listener.failed, []);
    say();
    assert.deepEqual(
      listener.failed.map(({ fault, message }) => [fault, message]),
      [["unavailable", "acme: does not keep up"]],
    );
    assert.equal(asked[0]?.signal.aborted, true);
  });

  it("gives the words that were being said at its end", async () => {
    stream.write(sound(500, 5_000));
    const finished = stream.finish();
    asked[0]?.answer("bye");
    await finished;
    assert.deepEqual(listener.transcripts, [
      { text: "bye", isFinal: true, speechFinal: true, lastWordEndMs: 500 },
    ]);
  });

  it("fails once with all that one piece of audio holds", () => {
    const utterance = [sound(100, 5_000), sound(500, 0)];
    stream.write(Buffer.concat(Array.from({ length: 20 }, () => utterance).flat()));
    assert.deepEqual(listener.events, [...Array(9).fill("speechStarted"), "failed"]);
    assert.equal(asked.length, 1);
  });

  it("leaves no timer when it ends between two tries", async () => {
    say();
    for (const delayMs of [0, 250]) {
      asked.at(-1)?.fail(DOWN);
      await settled();
      assert.equal(clock.pendingTimerCount, 1);
      if (delayMs === 0) clock.advance(0);
    }
    stream.close();
    assert.equal(clock.pendingTimerCount, 0);
    await stream.finish();
    assert.equal(clock.pendingTimerCount, 0, "to finish what has ended starts none");
  });

  it("sends no more requests when the listener closes it during a loss", async () => {
    say();
    listener.onLost = () => stream.close();
    asked[0]?.fail(DOWN);
    await settled();
    assert.equal(clock.pendingTimerCount, 0);
    assert.deepEqual(listener.events, ["speechStarted"]);
  });

  it("waits five seconds for the last words and no longer", async () => {
    stream.write(sound(500, 5_000));
    let isOver = false;
    const finished = stream.finish().then(() => {
      isOver = true;
    });
    assert.equal(asked.length, 1);
    clock.advance(4_999);
    await settled();
    assert.equal(isOver, false);
    clock.advance(1);
    await finished;
    asked[0]?.answer("late");
    await settled();
    assert.deepEqual(listener.transcripts, []);
    assert.equal(asked[0]?.signal.aborted, true);
    assert.equal(clock.pendingTimerCount, 0);
  });

  it("sends the newest second of a silent stream, and nothing of an empty one", async () => {
    stream.write(sound(1_500, 0));
    const finished = stream.finish();
    assert.equal(stream.finish(), finished);
    assert.equal(asked[0]?.audio.length, 1_000 * BYTES_PER_MS);
    say();
    asked[0].answer("hm");
    await finished;
    assert.equal(asked.length, 1);
    assert.deepEqual(listener.transcripts, [
      { text: "hm", isFinal: true, speechFinal: true, lastWordEndMs: 0 },
    ]);
    assert.deepEqual(listener.events, ["final"], "what is said behind the end is not heard");
    const empty = new TranscriptionStream(
      {
        vendor: "acme",
        clock,
        options: OPTIONS,
        silenceMs: 500,
        listener,
        transcribe: () => Promise.reject(DOWN),
      },
      call.signal,
    );
    empty.write(new Uint8Array(0));
    await empty.finish();
    assert.deepEqual(listener.failed, []);
    assert.equal(clock.pendingTimerCount, 0);
  });

  it("aborts its requests when the call ends, and then reports nothing", async () => {
    say();
    call.abort();
    assert.equal(asked[0]?.signal.aborted, true);
    asked[0].fail(DOWN);
    say();
    await settled();
    assert.deepEqual(listener.events, ["speechStarted"]);
    assert.equal(clock.pendingTimerCount, 0);
  });
});
