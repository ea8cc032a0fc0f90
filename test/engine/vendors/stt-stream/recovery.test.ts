import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import {
  BYTES_PER_MS,
  FRAME_BYTES,
  finalResults,
  interimResults,
  numberedFrames,
  OPENING_BYTES,
  ScriptedDeepgram,
} from "../deepgram/scripted-deepgram.js";
import { bytesOf } from "../scripted-socket-server.js";

const SEND_BUFFER_MAX_BYTES = 128 * 1024;

describe("Deepgram's stream after its connection broke", () => {
  let scripted: ScriptedDeepgram;
  let clock: ScriptedDeepgram["clock"];
  let server: ScriptedDeepgram["server"];
  let listener: ScriptedDeepgram["listener"];

  beforeEach(async () => {
    scripted = new ScriptedDeepgram();
    ({ clock, server, listener } = scripted);
    await server.start();
  });

  afterEach(() => scripted.close());

  /** Breaks the newest of `count` connections; the next one is opened `delayMs` later, and no sooner. */
  async function breakConnection(count: number, delayMs: number): Promise<void> {
    (await server.peer(count - 1)).socket.terminate();
    await scripted.changes.until(`loss ${count}`, () => listener.lost.length === count);
    const startedTimers = clock.startedTimerCount;
    if (delayMs > 0) clock.advance(delayMs - 1);
    assert.equal(clock.startedTimerCount, startedTimers, "it was tried too soon");
    clock.advance(delayMs > 0 ? 1 : 0);
    assert.equal(clock.startedTimerCount, startedTimers + 1, "it was not tried in time");
    await scripted.changes.until(`recovery ${count}`, () => listener.sttOutageMs.length === count);
  }

  it("keeps live audio in order after a replay", async () => {
    const stream = await scripted.open();
    for (const frame of numberedFrames(10)) stream.write(frame);
    (await server.peer(0)).socket.terminate();
    await scripted.changes.until("the loss", () => listener.lost.length === 1);
    clock.advance(0);
    const peer = await server.peer(1);
    await scripted.changes.until("the recovery", () => listener.sttOutageMs.length === 1);
    for (const frame of numberedFrames(20).slice(10)) {
      stream.write(frame);
      clock.advance(20);
    }
    await scripted.changes.until(
      "all audio",
      () => bytesOf(peer) >= OPENING_BYTES + 20 * FRAME_BYTES,
    );
    const heard = Buffer.concat(peer.binaries).subarray(OPENING_BYTES);
    assert.deepEqual(heard, Buffer.concat(numberedFrames(20)));
    stream.close();
  });

  it("shifts the times of a new connection by where its audio began", async () => {
    const stream = await scripted.open();
    for (const frame of numberedFrames(50)) stream.write(frame);
    const first = await server.peer(0);
    first.socket.send(finalResults("one", 0.1, 0.6));
    await scripted.changes.until("the first words", () => listener.transcripts.length === 1);
    assert.equal(listener.transcripts[0]?.lastWordEndMs, 500);
    first.socket.terminate();
    await scripted.changes.until("the loss", () => listener.lost.length === 1);
    clock.advance(0);
    const second = await server.peer(1);
    await scripted.changes.until("the recovery", () => listener.sttOutageMs.length === 1);
    second.socket.send(finalResults("two", 0.1, 0.4));
    second.socket.send('{"type":"UtteranceEnd","channel":[0,1],"last_word_end":0.4}');
    await scripted.changes.until("the second words", () => listener.utteranceEndsMs.length === 1);
    // The replay began at 500 ms, behind the opening silence of 100 ms.
    assert.equal(listener.transcripts[1]?.lastWordEndMs, 800);
    assert.deepEqual(listener.utteranceEndsMs, [800]);
    const events = ["final", "lost", "recovered", "final", "utteranceEnd"];
    assert.deepEqual(listener.events, events);
    stream.close();
  });

  it("reports interim words that it cannot replay, and replays the newest one", async () => {
    const stream = await scripted.open();
    for (const frame of numberedFrames(150)) stream.write(frame);
    const first = await server.peer(0);
    first.socket.send(interimResults("one", "two", "three", "four", "five"));
    await scripted.changes.until("the guess", () => listener.transcripts.length === 1);
    first.socket.terminate();
    await scripted.changes.until("the loss", () => listener.lost.length === 1);
    const told = { text: "one two three four", isFinal: true, speechFinal: false };
    assert.deepEqual(listener.transcripts[1], { ...told, lastWordEndMs: 2_000 });
    clock.advance(0);
    const second = await server.peer(1);
    await scripted.changes.until("the recovery", () => listener.sttOutageMs.length === 1);
    clock.advance(600);
    const againBytes = OPENING_BYTES + 1_000 * BYTES_PER_MS;
    await scripted.changes.until("the rest", () => bytesOf(second) >= againBytes);
    assert.equal(bytesOf(second), againBytes);
    stream.close();
  });

  it("reports none of the words that it can replay from the first one on", async () => {
    const stream = await scripted.open();
    for (const frame of numberedFrames(100)) stream.write(frame);
    const first = await server.peer(0);
    first.socket.send(interimResults("one", "two", "three"));
    await scripted.changes.until("the guess", () => listener.transcripts.length === 1);
    first.socket.terminate();
    await scripted.changes.until("the loss", () => listener.lost.length === 1);
    assert.equal(listener.transcripts.length, 1);
    stream.close();
  });

  it("reports a whole interim result if its words have no text of their own, or the newest cannot be replayed", async () => {
    for (const [index, guess] of [
      interimResults("one", "two", "three", "four", "five").replaceAll('"word"', '"w"'),
      interimResults("one", "two"),
    ].entries()) {
      const stream = await scripted.open();
      for (const frame of numberedFrames(152)) stream.write(frame);
      const { socket } = await server.peer(index);
      const before = listener.transcripts.length;
      socket.send(guess);
      await scripted.changes.until("the guess", () => listener.transcripts.length > before);
      socket.terminate();
      await scripted.changes.until("the loss", () => listener.lost.length > index);
      assert.equal(listener.transcripts.at(-1)?.text, listener.transcripts[before]?.text);
      assert.equal(listener.transcripts.at(-1)?.isFinal, true);
      stream.close();
    }
  });

  it("survives as much rubbish on a new connection as on the one before", async () => {
    const stream = await scripted.open();
    for (const count of [1, 2]) {
      const { socket } = await server.peer(count - 1);
      for (let n = 0; n < 20; n += 1) socket.send("[{");
      socket.send(finalResults("still here", 0, 1));
      await scripted.changes.until("words", () => listener.transcripts.length === count);
      if (count === 1) await breakConnection(1, 0);
    }
    assert.deepEqual(listener.events, ["final", "lost", "recovered", "final"]);
    (await server.peer(1)).socket.send("[{");
    await scripted.changes.until("the loss", () => listener.lost.length === 2);
    assert.equal(listener.lost[1]?.message, "deepgram: sent an unreadable message");
    stream.close();
  });

  it("breaks a connection that is there in the very moment when the call ends", async () => {
    const stream = await scripted.open();
    const after = clock.after.bind(clock);
    clock.after = (delayMs, action) => {
      const cancel = after(delayMs, action);
      const isOfOpening = delayMs === 5_000;
      return () => {
        cancel();
        if (isOfOpening) queueMicrotask(() => stream.close());
      };
    };
    (await server.peer(0)).socket.terminate();
    await scripted.changes.until("the loss", () => listener.lost.length === 1);
    clock.advance(0);
    const peer = await server.peer(1);
    await scripted.changes.until("the end", () => peer.isClosed);
    assert.deepEqual([listener.events, clock.pendingTimerCount], [["lost"], 0]);
  });

  it("gives up after a bounded number of tries", async () => {
    const stream = await scripted.open();
    server.onUpgrade = (socket) => {
      socket.end(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
      );
    };
    (await server.peer(0)).socket.terminate();
    await scripted.changes.until("the loss", () => listener.lost.length === 1);
    for (const delayMs of [0, 100, 250, 500, 1_000, 2_000]) {
      const startedTimers = clock.startedTimerCount;
      clock.advance(delayMs);
      // One for the try itself, and one for the wait before the next.
      await scripted.changes.until(
        "the next wait",
        () => clock.startedTimerCount === startedTimers + 2 || listener.failed.length > 0,
      );
    }
    assert.deepEqual(listener.events, ["lost", "failed"]);
    assert.equal(listener.failed[0]?.fault, "unavailable");
    assert.equal(clock.pendingTimerCount, 0);
    stream.write(new Uint8Array(FRAME_BYTES));
    await stream.finish();
    assert.equal(server.upgradeCount, 7);
  });

  it("counts connections that break at once as tries of one outage", async () => {
    const stream = await scripted.open();
    for (let index = 0; index < 7; index++) {
      (await server.peer(index)).socket.close(1011, "NET-0000");
      await scripted.changes.until(
        `loss ${index}`,
        () => listener.lost.length === index + 1 || listener.failed.length > 0,
      );
      clock.advance(2_000);
    }
    await scripted.changes.until("the failure", () => listener.failed.length === 1);
    assert.equal(server.upgradeCount, 7);
    assert.match(listener.failed[0]?.message ?? "", /NET-0000/);
    stream.close();
  });

  it("waits longer with each attempt, and resets once a connection has lasted five seconds", async () => {
    const stream = await scripted.open();
    await breakConnection(1, 0);
    clock.advance(4_999);
    await breakConnection(2, 100);
    await breakConnection(3, 250);
    clock.advance(5_000);
    await breakConnection(4, 0);
    await breakConnection(5, 100);
    assert.deepEqual(listener.sttOutageMs, [0, 100, 250, 0, 100]);
    assert.deepEqual(listener.failed, []);
    stream.close();
  });

  it("does not connect again when the end comes while it is not connected", async () => {
    const stream = await scripted.open();
    (await server.peer(0)).socket.terminate();
    await scripted.changes.until("the loss", () => listener.lost.length === 1);
    await stream.finish();
    assert.equal(clock.pendingTimerCount, 0);
    clock.advance(10_000);
    assert.equal(server.upgradeCount, 1);
    assert.deepEqual(listener.events, ["lost"]);
  });

  it("sends the end mark after the audio that is still to be replayed", async () => {
    const stream = await scripted.open();
    for (const frame of numberedFrames(10)) stream.write(frame);
    (await server.peer(0)).socket.terminate();
    await scripted.changes.until("the loss", () => listener.lost.length === 1);
    clock.advance(0);
    const peer = await server.peer(1);
    await scripted.changes.until("the recovery", () => listener.sttOutageMs.length === 1);
    const finished = stream.finish();
    clock.advance(100);
    await scripted.changes.until("the end mark", () => peer.texts.length === 1);
    assert.equal(bytesOf(peer), OPENING_BYTES + 10 * FRAME_BYTES);
    peer.socket.close(1000);
    await finished;
    assert.deepEqual(listener.events, ["lost", "recovered"]);
  });

  it("comes back after an error that the vendor sends as a message", async () => {
    const stream = await scripted.open();
    const { socket } = await server.peer(0);
    socket.send('{"type":"Error","description":"dg-key is out of order","variant":"x"}');
    await scripted.changes.until("the loss", () => listener.lost.length === 1);
    assert.equal(listener.lost[0]?.message, "deepgram: reports an error");
    assert.equal(listener.lost[0]?.vendorText, "[key] is out of order");
    stream.close();
  });

  it("leaves a vendor that does not read, instead of keeping audio for it", async () => {
    const stream = await scripted.open();
    const peer = await server.peer(0);
    peer.socket.pause();
    const second = new Uint8Array(1_000 * BYTES_PER_MS);
    let writtenBytes = 0;
    const isLost = () => listener.lost.length > 0;
    while (!isLost()) {
      stream.write(second);
      writtenBytes += second.length;
      assert.ok(writtenBytes < 64 * 1024 * 1024, "it is never lost");
      await new Promise(setImmediate);
    }
    assert.equal(listener.lost[0]?.fault, "unavailable");
    peer.socket.resume();
    await scripted.changes.until("the end", () => peer.isClosed);
    const unreadBytes = writtenBytes + OPENING_BYTES - bytesOf(peer);
    assert.ok(unreadBytes > SEND_BUFFER_MAX_BYTES, `${unreadBytes} bytes`);
    // The vendor may have read a part of the last two messages.
    assert.ok(unreadBytes < SEND_BUFFER_MAX_BYTES + 2 * second.length, `${unreadBytes} bytes`);
    stream.close();
  });
});
