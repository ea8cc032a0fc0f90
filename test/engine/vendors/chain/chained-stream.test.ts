import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { beforeEach, describe, it } from "node:test";
import { LOUD, QUIET } from "../../../doubles/voiced-frames.js";
import { RecordingListener } from "../recording-listener.js";
import { BYTES_PER_MS, ChainedEars, fault, PATIENCE_MS } from "./chained-ears.js";
import { ScriptedRecognizer } from "./scripted-recognizer.js";

describe("a call's recognition by one recognizer after another", () => {
  let ears: ChainedEars;

  beforeEach(() => {
    ears = new ChainedEars();
  });

  it("passes on the events of the active STT, and none of a replaced one", async () => {
    const stream = await ears.open();
    const left = ears.first.newest.listener;
    left.onSpeechStarted();
    left.onTurn({ mark: "startOfTurn", text: "a" });
    left.onUtteranceEnd(40);
    left.onFailed(fault("unauthorized"));
    await ears.settled();
    ears.second.newest.listener.onSpeechStarted();
    left.onSpeechStarted();
    left.onTurn({ mark: "endOfTurn", text: "a" });
    left.onLost(fault());
    left.onFailed(fault());
    assert.deepEqual(ears.listener.events, [
      "speechStarted",
      "startOfTurn",
      "utteranceEnd",
      "recovered",
      "speechStarted",
    ]);
    assert.deepEqual([ears.first.newest.isClosed, ears.second.newest.isClosed], [true, false]);
    stream.close();
    ears.second.newest.listener.onSpeechStarted();
    assert.equal(ears.listener.events.length, 5);
    assert.equal(ears.second.newest.isClosed, true);
  });

  it("waits 700 ms for a connection that breaks, and counts what the caller waited", async () => {
    const stream = await ears.open();
    ears.first.newest.listener.onLost(fault());
    assert.deepEqual(ears.listener.events, ["lost"]);
    await ears.pass(699);
    assert.equal(ears.second.askedCount, 0);
    await ears.pass(1);
    assert.equal(ears.second.askedCount, 1);
    assert.deepEqual(ears.listener.sttOutageMs, [700]);
    ears.second.newest.says("yes", 100);
    const { stt } = ears.answers.take();
    assert.deepEqual(
      [stt?.vendor, stt?.firstFault, stt?.wastedMs],
      ["second", "disconnected", 700],
    );
    stream.close();
    assert.equal(ears.clock.pendingTimerCount, 0);
  });

  it("stays with one that comes back, and waits again only ten seconds later", async () => {
    const stream = await ears.open();
    ears.first.newest.listener.onLost(fault());
    await ears.pass(300);
    ears.first.newest.listener.onRecovered(300);
    assert.deepEqual(ears.listener.sttOutageMs, [300]);
    await ears.pass(10_000);
    ears.first.newest.listener.onLost(fault());
    await ears.settled();
    assert.equal(ears.second.askedCount, 0);
    await ears.pass(300);
    ears.first.newest.listener.onRecovered(300);
    await ears.pass(9_999);
    ears.first.newest.listener.onLost(fault());
    await ears.settled();
    assert.equal(ears.second.askedCount, 1);
    stream.close();
  });

  it("was deaf until the next one listens, from when the one before it had failed", async () => {
    const stream = await ears.open();
    ears.second.isStalled = true;
    ears.first.newest.listener.onFailed(fault());
    await ears.pass(350);
    ears.second.answer();
    await ears.settled();
    assert.deepEqual(ears.listener.sttOutageMs, [350]);
    stream.close();
  });

  it("leaves an STT that reports itself as dead immediately", async () => {
    const stream = await ears.open();
    ears.first.newest.listener.onLost(fault("timeout"));
    await ears.settled();
    assert.equal(ears.second.askedCount, 1);
    stream.close();
  });

  it("changes six times in one outage, and then has failed; ten seconds without one reset the count", async () => {
    await ears.open();
    const newest = () =>
      (ears.first.ears.length > ears.second.ears.length ? ears.first : ears.second).newest;
    for (let change = 1; change <= 6; change += 1) {
      newest().listener.onFailed(fault());
      await ears.settled();
      assert.equal(ears.listener.failed.length, 0, String(change));
    }
    await ears.pass(9_999);
    newest().listener.onFailed(fault());
    await ears.settled();
    assert.deepEqual(
      ears.listener.failed.map(({ vendor }) => vendor),
      ["chain"],
    );
    assert.equal(ears.listener.events.at(-1), "failed");
    ears.listener = new RecordingListener();
    [ears.first, ears.second] = [new ScriptedRecognizer(), new ScriptedRecognizer()];
    const stream = await ears.open();
    for (let change = 1; change <= 12; change += 1) {
      await ears.pass(10_000);
      newest().listener.onFailed(fault());
      await ears.settled();
    }
    assert.deepEqual(ears.listener.failed, []);
    for (let change = 2; change <= 6; change += 1) {
      newest().listener.onFailed(fault());
      await ears.settled();
    }
    assert.deepEqual(
      ears.listener.failed,
      [],
      "the last of the twelve was the first of this outage",
    );
    newest().listener.onFailed(fault());
    await ears.settled();
    assert.equal(ears.listener.failed.length, 1);
    stream.close();
  });

  it("replays audio without words to the next, at most eight seconds, at twice real time, and continues", async () => {
    const stream = await ears.open();
    ears.write(stream, LOUD, 9_000);
    ears.first.newest.listener.onFailed(fault());
    await ears.settled();
    const ear = ears.second.newest;
    assert.equal(ear.writtenBytes, 0);
    ears.clock.advance(2_000);
    assert.equal(ear.writtenBytes, 4_000 * BYTES_PER_MS);
    ears.write(stream, LOUD, 1_000);
    ears.clock.advance(2_500);
    assert.equal(ear.writtenBytes, 9_000 * BYTES_PER_MS);
    stream.write(QUIET);
    assert.deepEqual(ear.written.at(-1), QUIET);
    // Its own time began a second after the call's.
    ear.says("words", 500);
    ear.listener.onUtteranceEnd(500);
    ear.says("more", undefined);
    assert.deepEqual(
      ears.listener.transcripts.map(({ lastWordEndMs }) => lastWordEndMs),
      [1_500, undefined],
    );
    assert.deepEqual(ears.listener.utteranceEndsMs, [1_500]);
    stream.close();
  });

  it("sends the remaining audio at its end, and ends", async () => {
    const stream = await ears.open();
    ears.write(stream, LOUD, 1_000);
    ears.first.newest.listener.onFailed(fault());
    await ears.settled();
    const ear = ears.second.newest;
    await stream.finish();
    assert.deepEqual([ear.writtenBytes, ear.isFinished], [1_000 * BYTES_PER_MS, true]);
    assert.equal(ears.clock.pendingTimerCount, 0);
    stream.write(LOUD);
    assert.equal(ear.writtenBytes, 1_000 * BYTES_PER_MS);
    await stream.finish();
  });

  it("ends without an active STT, and returns nothing until then", async () => {
    const stream = await ears.open();
    ears.second.isStalled = true;
    const left = ears.first.newest.listener;
    left.onFailed(fault());
    await ears.settled();
    left.onSpeechStarted();
    left.onFailed(fault());
    await stream.finish();
    await ears.settled();
    assert.deepEqual(ears.listener.events, []);
    assert.equal(ears.clock.pendingTimerCount, 0);
  });

  it("asks the last one without a limit, and the others with their timeouts", async () => {
    ears.first.isStalled = true;
    ears.second.isStalled = true;
    const opening = ears.open();
    opening.catch(() => undefined);
    await ears.pass(PATIENCE_MS - 1);
    assert.equal(ears.second.askedCount, 0);
    await ears.pass(1);
    assert.equal(ears.second.askedCount, 1);
    await ears.pass(60_000);
    assert.equal(ears.clock.pendingTimerCount, 0);
    const { stt } = ears.answers.take();
    assert.deepEqual([stt?.firstFault, stt?.wastedMs], ["timeout", PATIENCE_MS]);
  });

  it("reports a retryable fault without a fallback, and leaves no listener on the call's signal", async () => {
    const { signal } = new AbortController();
    const failures = [fault("unauthorized"), new Error("a bug")];
    ears.first.failures.push(...failures);
    ears.second.failures.push(...failures);
    await assert.rejects(ears.open(signal), { fault: "unauthorized", vendor: "first" });
    await assert.rejects(ears.open(signal), { fault: "badAnswer", vendor: "first" });
    assert.deepEqual(getEventListeners(signal, "abort"), []);
    const stream = await ears.open(signal);
    stream.close();
    assert.deepEqual(getEventListeners(signal, "abort"), []);
  });

  it("is over with its call", async () => {
    const ending = new AbortController();
    const stream = await ears.open(ending.signal);
    ending.abort();
    assert.equal(ears.first.newest.isClosed, true);
    stream.write(LOUD);
    assert.equal(ears.first.newest.writtenBytes, 0);
  });
});
