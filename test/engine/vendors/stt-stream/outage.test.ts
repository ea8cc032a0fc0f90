import assert from "node:assert/strict";
import type { Duplex } from "node:stream";
import { afterEach, beforeEach, describe, it } from "node:test";
import {
  BYTES_PER_MS,
  FRAME_BYTES,
  finalResults,
  numberedFrames,
  OPENING_BYTES,
  ScriptedDeepgram,
} from "../deepgram/scripted-deepgram.js";
import { bytesOf } from "../scripted-socket-server.js";

const OUTAGE_MS = 12_000;

describe("Deepgram's stream after a connection that was away for seconds", () => {
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

  it("replays all of an outage of eight seconds, at twice real time", async () => {
    const stream = await scripted.open();
    (await server.peer(0)).socket.terminate();
    await scripted.changes.until("the loss", () => listener.lost.length === 1);
    for (const frame of numberedFrames(400)) stream.write(frame);
    clock.advance(0);
    const peer = await server.peer(1);
    await scripted.changes.until("the recovery", () => listener.sttOutageMs.length === 1);
    clock.advance(500);
    await scripted.changes.until(
      "one second",
      () => bytesOf(peer) >= OPENING_BYTES + 1_000 * BYTES_PER_MS,
    );
    assert.equal(bytesOf(peer), OPENING_BYTES + 1_000 * BYTES_PER_MS);
    clock.advance(3_500);
    stream.write(new Uint8Array(FRAME_BYTES).fill(200));
    await scripted.changes.until("live audio", () => peer.binaries.at(-1)?.[0] === 200);
    const all = [...numberedFrames(400), new Uint8Array(FRAME_BYTES).fill(200)];
    assert.deepEqual(Buffer.concat(peer.binaries).subarray(OPENING_BYTES), Buffer.concat(all));
    stream.close();
  });

  it("replays the newest twelve seconds of a longer outage, and two of the next that is none", async () => {
    const stream = await scripted.open();
    (await server.peer(0)).socket.terminate();
    await scripted.changes.until("the loss", () => listener.lost.length === 1);
    for (const frame of numberedFrames(700)) stream.write(frame);
    clock.advance(0);
    const second = await server.peer(1);
    await scripted.changes.until("the recovery", () => listener.sttOutageMs.length === 1);
    clock.advance(OUTAGE_MS / 2);
    const keptBytes = OPENING_BYTES + OUTAGE_MS * BYTES_PER_MS;
    await scripted.changes.until("twelve seconds", () => bytesOf(second) >= keptBytes);
    const newest = Buffer.concat(
      numberedFrames(700).slice((-OUTAGE_MS * BYTES_PER_MS) / FRAME_BYTES),
    );
    assert.deepEqual(Buffer.concat(second.binaries).subarray(OPENING_BYTES), newest);
    for (const frame of numberedFrames(150)) stream.write(frame);
    second.socket.terminate();
    await scripted.changes.until("the second loss", () => listener.lost.length === 2);
    clock.advance(100);
    const third = await server.peer(2);
    await scripted.changes.until("the second recovery", () => listener.sttOutageMs.length === 2);
    clock.advance(1_000);
    const ringBytes = OPENING_BYTES + 2_000 * BYTES_PER_MS;
    await scripted.changes.until("two seconds", () => bytesOf(third) >= ringBytes);
    assert.equal(bytesOf(third), ringBytes);
    stream.close();
  });

  it("continues with the audio when more arrives during a replay than is kept", async () => {
    const stream = await scripted.open();
    for (const frame of numberedFrames(100)) stream.write(frame);
    (await server.peer(0)).socket.terminate();
    await scripted.changes.until("the loss", () => listener.lost.length === 1);
    stream.write(new Uint8Array(10_000 * BYTES_PER_MS));
    clock.advance(0);
    const peer = await server.peer(1);
    await scripted.changes.until("the recovery", () => listener.sttOutageMs.length === 1);
    stream.write(new Uint8Array(1_000 * BYTES_PER_MS));
    clock.advance(1_000);
    peer.socket.send(finalResults("late", 0.1, 0.5));
    await scripted.changes.until("words", () => listener.transcripts.length === 1);
    assert.equal(listener.transcripts[0]?.lastWordEndMs, 1_400);
    stream.close();
  });

  for (const [refusedMs, isTried] of [
    [9_750, true],
    [9_751, false],
  ] as const) {
    it(`${isTried ? "is tried" : "is not tried"} for once more where that would be ${refusedMs + 250} ms after the loss`, async () => {
      const stream = await scripted.open();
      const upgrades: Duplex[] = [];
      server.onUpgrade = (socket) => {
        upgrades.push(socket);
        scripted.changes.tell();
      };
      const upgrade = (count: number) =>
        scripted.changes.until(`try ${count}`, () => upgrades.length === count);
      (await server.peer(0)).socket.terminate();
      await scripted.changes.until("the loss", () => listener.lost.length === 1);
      clock.advance(0);
      await upgrade(1);
      const startedTimers = clock.startedTimerCount;
      clock.advance(5_000);
      await scripted.changes.until("a wait", () => clock.startedTimerCount > startedTimers);
      clock.advance(100);
      await upgrade(2);
      clock.advance(refusedMs - 5_100);
      const waits = clock.startedTimerCount;
      upgrades[1]?.end("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
      await scripted.changes.until(
        "what becomes of it",
        () => clock.startedTimerCount > waits || listener.failed.length > 0,
      );
      clock.advance(250);
      assert.deepEqual(listener.events, isTried ? ["lost"] : ["lost", "failed"]);
      if (isTried) await upgrade(3);
      stream.close();
    });
  }
});
