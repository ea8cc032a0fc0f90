import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { beforeEach, describe, it } from "node:test";
import { LOUD } from "../../../doubles/voiced-frames.js";
import { BYTES_PER_MS, ChainedEars, fault } from "./chained-ears.js";

describe("an STT that is left, lost or unreachable", () => {
  let ears: ChainedEars;

  beforeEach(() => {
    ears = new ChainedEars();
  });

  it("returns nothing before it is connected, nor after a failed connect", async () => {
    ears.first.isStalled = true;
    const opening = ears.open();
    ears.first.listeners[0]?.onSpeechStarted();
    ears.first.answer();
    const stream = await opening;
    assert.deepEqual(ears.listener.events, []);
    stream.close();
    ears.first.isStalled = false;
    ears.first.failures.push(fault());
    await ears.open();
    ears.first.listeners[1]?.onSpeechStarted();
    assert.deepEqual(ears.listener.events, []);
    ears.second.listeners[0]?.onSpeechStarted();
    assert.deepEqual(ears.listener.events, ["speechStarted"]);
  });

  it("is not followed by another in a call that has ended", async () => {
    ears.first.failures.push(fault());
    await assert.rejects(ears.open(AbortSignal.abort()), { fault: "disconnected" });
    assert.equal(ears.second.askedCount, 0);
    ears.first.isStalled = true;
    const ending = new AbortController();
    const opening = ears.open(ending.signal);
    ending.abort();
    await assert.rejects(opening);
    assert.equal(ears.second.askedCount, 0);
  });

  it("is closed where it listens only when its call is over", async () => {
    const stream = await ears.open();
    ears.second.isStalled = true;
    ears.first.newest.listener.onFailed(fault());
    ears.second.answer();
    stream.close();
    await ears.settled();
    assert.equal(ears.second.newest.isClosed, true);
    ears.second.newest.listener.onSpeechStarted();
    assert.deepEqual(ears.listener.events, []);
  });

  it("is written nothing that is empty, nor anything once it was left", async () => {
    const stream = await ears.open();
    stream.write(new Uint8Array(0));
    assert.equal(ears.first.newest.written.length, 0);
    stream.write(LOUD);
    ears.second.isStalled = true;
    ears.first.newest.listener.onFailed(fault());
    stream.write(LOUD);
    assert.equal(ears.first.newest.written.length, 1);
    stream.close();
  });

  it("is written no more of a backlog once it has failed, and leaves no timer", async () => {
    const stream = await ears.open();
    ears.write(stream, LOUD, 1_000);
    ears.first.newest.listener.onFailed(fault());
    await ears.settled();
    await ears.pass(100);
    assert.equal(ears.second.newest.writtenBytes, 200 * BYTES_PER_MS);
    ears.first.isStalled = true;
    ears.second.newest.listener.onFailed(fault());
    await ears.pass(100);
    assert.equal(ears.second.newest.writtenBytes, 200 * BYTES_PER_MS);
    ears.first.answer();
    await ears.settled();
    assert.equal(ears.clock.pendingTimerCount, 1);
    stream.close();
    assert.equal(ears.clock.pendingTimerCount, 0);
  });

  it("has cost the caller's wait, each time again", async () => {
    const stream = await ears.open();
    const lost = ears.first.newest.listener;
    lost.onLost(fault());
    await ears.pass(300);
    lost.onRecovered(300);
    await ears.pass(20_000);
    lost.onFailed(fault());
    await ears.settled();
    await ears.pass(5_000);
    ears.second.newest.listener.onLost(fault());
    await ears.pass(100);
    ears.second.newest.listener.onFailed(fault());
    await ears.settled();
    assert.deepEqual(ears.told, [
      ["failed", "first", "disconnected", "first: disconnected", { ms: 0, tokens: 0 }],
      ["failed", "second", "disconnected", "first: disconnected", { ms: 100, tokens: 0 }],
    ]);
    assert.deepEqual(ears.listener.sttOutageMs, [300, 0, 100]);
    await ears.pass(700);
    assert.equal(ears.told.length, 2, "who has failed is not left once more");
    stream.close();
  });

  it("has a new limit when it is lost once more, and is left once", async () => {
    await ears.open();
    ears.first.newest.listener.onLost(fault());
    await ears.pass(300);
    ears.first.newest.listener.onLost(fault());
    await ears.pass(699);
    assert.equal(ears.second.askedCount, 0);
    await ears.pass(1);
    assert.equal(ears.second.askedCount, 1);
    assert.deepEqual(ears.told, [
      ["failed", "first", "disconnected", "first: disconnected", { ms: 1_000, tokens: 0 }],
    ]);
  });

  it("is waited for as long as any other where the one before it had come back just now", async () => {
    await ears.open();
    const { listener } = ears.first.newest;
    listener.onLost(fault());
    await ears.pass(300);
    listener.onRecovered(300);
    listener.onFailed(fault());
    await ears.settled();
    ears.second.newest.listener.onLost(fault());
    await ears.pass(699);
    assert.equal(ears.first.askedCount, 1);
    await ears.pass(1);
    assert.equal(ears.first.askedCount, 2);
  });

  it("is not waited for once its call has ended, neither to come back nor to listen", async () => {
    const stream = await ears.open();
    ears.first.newest.listener.onLost(fault());
    stream.close();
    assert.equal(ears.clock.pendingTimerCount, 0);
    const other = await ears.open();
    ears.second.isStalled = true;
    ears.first.newest.listener.onFailed(fault());
    await ears.settled();
    assert.equal(ears.second.signals[0]?.aborted, false);
    other.close();
    assert.equal(ears.second.signals[0].aborted, true);
  });

  it("is not waited for when its call ends because it is lost, or is about to end", async () => {
    const stream = await ears.open();
    ears.listener.onLost = () => stream.close();
    ears.first.newest.listener.onLost(fault());
    assert.equal(ears.clock.pendingTimerCount, 0);
    ears = new ChainedEars();
    const other = await ears.open();
    ears.first.newest.listener.onLost(fault());
    ears.first.newest.finish = () => new Promise(() => undefined);
    void other.finish();
    await ears.pass(700);
    assert.equal(ears.second.askedCount, 0);
    assert.equal(ears.clock.pendingTimerCount, 0);
  });

  it("that is the last leaves nothing at the call's signal", async () => {
    const { signal } = new AbortController();
    await ears.open(signal);
    ears.second.failures.push(fault("unauthorized"));
    ears.first.newest.listener.onFailed(fault());
    await ears.settled();
    assert.deepEqual(ears.listener.events, ["failed"]);
    assert.deepEqual(getEventListeners(signal, "abort"), []);
  });

  it("has finished the audio before its last word, and not what may still change", async () => {
    for (const [text, isFinal, hearsAgainMs] of [
      ["words", true, 1_000],
      ["words", false, 2_000],
      ["", true, 2_000],
    ] as const) {
      ears = new ChainedEars();
      const stream = await ears.open();
      ears.write(stream, LOUD, 2_000);
      const { listener } = ears.first.newest;
      listener.onTranscript({ text, isFinal, speechFinal: false, lastWordEndMs: 1_000 });
      assert.deepEqual(ears.told, text === "" ? [] : [["answered", "first"]]);
      listener.onFailed(fault());
      await ears.settled();
      await ears.pass(2_000);
      assert.equal(ears.second.newest.writtenBytes, hearsAgainMs * BYTES_PER_MS, text);
    }
  });
});
