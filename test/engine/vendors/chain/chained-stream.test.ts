import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { beforeEach, describe, it } from "node:test";
import { PCM_16K } from "../../../../engine/audio/audio-format.js";
import { AnswerLog } from "../../../../engine/vendors/chain/answer-log.js";
import { ChainedRecognizer } from "../../../../engine/vendors/chain/chained-recognizer.js";
import {
  type SpeechStream,
  VendorError,
  type VendorFault,
} from "../../../../engine/vendors/contracts.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { FRAME_MS, LOUD, QUIET } from "../../../doubles/voiced-frames.js";
import { RecordingListener } from "../recording-listener.js";
import { chainOf } from "./chain-of.js";
import { ScriptedRecognizer } from "./scripted-recognizer.js";

const PATIENCE_MS = 3_000;
const BYTES_PER_MS = 32;
const OPTIONS = { language: "en", modelId: "any", format: PCM_16K, endpointingMs: 200 } as const;

function fault(kind: VendorFault = "disconnected"): VendorError {
  return new VendorError("first", kind, `first: ${kind}`);
}

describe("a call's recognition by one recognizer after another", () => {
  let clock: VirtualClock;
  let answers: AnswerLog;
  let listener: RecordingListener;
  let first: ScriptedRecognizer;
  let second: ScriptedRecognizer;

  beforeEach(() => {
    clock = new VirtualClock();
    answers = new AnswerLog();
    listener = new RecordingListener();
    [first, second] = [new ScriptedRecognizer(), new ScriptedRecognizer()];
  });

  async function open(signal = new AbortController().signal): Promise<SpeechStream> {
    const named = (vendor: string, client: ScriptedRecognizer) => ({
      vendor,
      modelId: "m",
      client,
    });
    const links = [named("first", first), named("second", second)] as const;
    const chain = chainOf("stt", clock, answers, links);
    return new ChainedRecognizer(chain, PATIENCE_MS).open(OPTIONS, listener, signal);
  }

  /** What was promised has its say. */
  async function settled(): Promise<void> {
    for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
  }

  async function pass(ms: number): Promise<void> {
    clock.advance(ms);
    await settled();
  }

  function write(stream: SpeechStream, sound: Uint8Array, durationMs: number): void {
    for (let at = 0; at < durationMs; at += FRAME_MS) stream.write(sound);
  }

  it("passes on what the one that listens tells, and nothing of one that was left", async () => {
    const stream = await open();
    const left = first.newest.listener;
    left.onSpeechStarted();
    left.onTurn({ mark: "startOfTurn", text: "a" });
    left.onUtteranceEnd(40);
    left.onFailed(fault("unauthorized"));
    await settled();
    second.newest.listener.onSpeechStarted();
    left.onSpeechStarted();
    left.onTurn({ mark: "endOfTurn", text: "a" });
    left.onLost(fault());
    left.onFailed(fault());
    assert.deepEqual(listener.events, [
      "speechStarted",
      "startOfTurn",
      "utteranceEnd",
      "recovered",
      "speechStarted",
    ]);
    assert.deepEqual([first.newest.isClosed, second.newest.isClosed], [true, false]);
    stream.close();
    second.newest.listener.onSpeechStarted();
    assert.equal(listener.events.length, 5);
    assert.equal(second.newest.isClosed, true);
  });

  it("waits 700 ms for a connection that breaks, and counts what the caller waited", async () => {
    const stream = await open();
    first.newest.listener.onLost(fault());
    assert.deepEqual(listener.events, ["lost"]);
    await pass(699);
    assert.equal(second.askedCount, 0);
    await pass(1);
    assert.equal(second.askedCount, 1);
    assert.deepEqual(listener.deafMs, [700]);
    second.newest.says("yes", 100);
    const { stt } = answers.take();
    assert.deepEqual(
      [stt?.vendor, stt?.firstFault, stt?.wastedMs],
      ["second", "disconnected", 700],
    );
    stream.close();
    assert.equal(clock.pendingTimerCount, 0);
  });

  it("stays with one that comes back, and waits again only ten seconds later", async () => {
    const stream = await open();
    first.newest.listener.onLost(fault());
    await pass(300);
    first.newest.listener.onRecovered(300);
    assert.deepEqual(listener.deafMs, [300]);
    await pass(10_000);
    first.newest.listener.onLost(fault());
    await settled();
    assert.equal(second.askedCount, 0);
    await pass(300);
    first.newest.listener.onRecovered(300);
    await pass(9_999);
    first.newest.listener.onLost(fault());
    await settled();
    assert.equal(second.askedCount, 1);
    stream.close();
  });

  it("was deaf until the next one listens, from when the one before it had failed", async () => {
    const stream = await open();
    second.isStalled = true;
    first.newest.listener.onFailed(fault());
    await pass(350);
    second.answer();
    await settled();
    assert.deepEqual(listener.deafMs, [350]);
    stream.close();
  });

  it("leaves at once who says by itself that it is deaf", async () => {
    const stream = await open();
    first.newest.listener.onLost(fault("timeout"));
    await settled();
    assert.equal(second.askedCount, 1);
    stream.close();
  });

  it("changes six times in one outage, and then has failed; ten seconds in between begin anew", async () => {
    await open();
    const newest = () => (first.ears.length > second.ears.length ? first : second).newest;
    for (let change = 1; change <= 6; change += 1) {
      newest().listener.onFailed(fault());
      await settled();
      assert.equal(listener.failed.length, 0, String(change));
    }
    await pass(9_999);
    newest().listener.onFailed(fault());
    await settled();
    assert.deepEqual(
      listener.failed.map(({ vendor }) => vendor),
      ["chain"],
    );
    assert.equal(listener.events.at(-1), "failed");
    listener = new RecordingListener();
    [first, second] = [new ScriptedRecognizer(), new ScriptedRecognizer()];
    const stream = await open();
    for (let change = 1; change <= 12; change += 1) {
      await pass(10_000);
      newest().listener.onFailed(fault());
      await settled();
    }
    assert.deepEqual(listener.failed, []);
    for (let change = 2; change <= 6; change += 1) {
      newest().listener.onFailed(fault());
      await settled();
    }
    assert.deepEqual(listener.failed, [], "the last of the twelve was the first of this outage");
    newest().listener.onFailed(fault());
    await settled();
    assert.equal(listener.failed.length, 1);
    stream.close();
  });

  it("tells the next what was not understood, at most eight seconds, at twice its pace, and goes on", async () => {
    const stream = await open();
    write(stream, LOUD, 9_000);
    first.newest.listener.onFailed(fault());
    await settled();
    const ear = second.newest;
    assert.equal(ear.writtenBytes, 0);
    clock.advance(2_000);
    assert.equal(ear.writtenBytes, 4_000 * BYTES_PER_MS);
    write(stream, LOUD, 1_000);
    clock.advance(2_500);
    assert.equal(ear.writtenBytes, 9_000 * BYTES_PER_MS);
    stream.write(QUIET);
    assert.deepEqual(ear.written.at(-1), QUIET);
    // Its own time began a second after the call's.
    ear.says("words", 500);
    ear.listener.onUtteranceEnd(500);
    ear.says("more", undefined);
    assert.deepEqual(
      listener.transcripts.map(({ lastWordEndMs }) => lastWordEndMs),
      [1_500, undefined],
    );
    assert.deepEqual(listener.utteranceEndsMs, [1_500]);
    stream.close();
  });

  it("gives what is still to be told at its end, and ends", async () => {
    const stream = await open();
    write(stream, LOUD, 1_000);
    first.newest.listener.onFailed(fault());
    await settled();
    const ear = second.newest;
    await stream.finish();
    assert.deepEqual([ear.writtenBytes, ear.isFinished], [1_000 * BYTES_PER_MS, true]);
    assert.equal(clock.pendingTimerCount, 0);
    stream.write(LOUD);
    assert.equal(ear.writtenBytes, 1_000 * BYTES_PER_MS);
    await stream.finish();
  });

  it("ends while nobody listens, and hears nobody until then", async () => {
    const stream = await open();
    second.isStalled = true;
    const left = first.newest.listener;
    left.onFailed(fault());
    await settled();
    left.onSpeechStarted();
    left.onFailed(fault());
    await stream.finish();
    await settled();
    assert.deepEqual(listener.events, []);
    assert.equal(clock.pendingTimerCount, 0);
  });

  it("asks the last one without a limit, and the others with their patience", async () => {
    first.isStalled = true;
    second.isStalled = true;
    const opening = open();
    opening.catch(() => undefined);
    await pass(PATIENCE_MS - 1);
    assert.equal(second.askedCount, 0);
    await pass(1);
    assert.equal(second.askedCount, 1);
    await pass(60_000);
    assert.equal(clock.pendingTimerCount, 0);
    const { stt } = answers.take();
    assert.deepEqual([stt?.firstFault, stt?.wastedMs], ["timeout", PATIENCE_MS]);
  });

  it("tells a fault that may pass where nobody can be asked, and leaves nothing at the call's signal", async () => {
    const { signal } = new AbortController();
    const failures = [fault("unauthorized"), new Error("a bug")];
    first.failures.push(...failures);
    second.failures.push(...failures);
    await assert.rejects(open(signal), { fault: "unauthorized", vendor: "first" });
    await assert.rejects(open(signal), { fault: "badAnswer", vendor: "first" });
    assert.deepEqual(getEventListeners(signal, "abort"), []);
    const stream = await open(signal);
    stream.close();
    assert.deepEqual(getEventListeners(signal, "abort"), []);
  });

  it("is over with its call", async () => {
    const ending = new AbortController();
    const stream = await open(ending.signal);
    ending.abort();
    assert.equal(first.newest.isClosed, true);
    stream.write(LOUD);
    assert.equal(first.newest.writtenBytes, 0);
  });
});
