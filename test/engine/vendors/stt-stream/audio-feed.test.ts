import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { SpeechStream } from "../../../../engine/vendors/contracts.js";
import { LOUD, QUIET } from "../../../doubles/voiced-frames.js";
import { ScriptedRecognition } from "../scripted-recognition.js";
import type { ScriptedPeer } from "../scripted-socket-server.js";

const BYTES_PER_MS = 32;
/** What Flux is sent at once. */
const PIECE_MS = 80;
const PIECE_FRAMES = 4;

describe("what a recognizer is sent, by its last message", () => {
  let scripted: ScriptedRecognition;
  let stream: SpeechStream;
  let peer: ScriptedPeer;

  beforeEach(async () => {
    scripted = new ScriptedRecognition("deepgram");
    await scripted.server.start();
    ({ stream, peer } = await scripted.open({ modelId: "flux-general-en" }));
  });

  afterEach(async () => {
    stream.close();
    await scripted.close();
  });

  function write(frame: Uint8Array, count: number): void {
    for (let n = 0; n < count; n += 1) stream.write(frame);
  }

  /** How long the messages were, the end of the call included. */
  async function sentMs(): Promise<readonly number[]> {
    const finished = stream.finish();
    await scripted.changes.until("the end mark", () => peer.texts.length === 1);
    scripted.clock.advance(2_000);
    await finished;
    return peer.binaries.map(({ length }) => length / BYTES_PER_MS);
  }

  /** So much of it was no silence. */
  async function soundMs(): Promise<number> {
    await sentMs();
    const sounds = peer.binaries.filter((message) => message.some((byte) => byte !== 0));
    return Buffer.concat(sounds).length / BYTES_PER_MS;
  }

  /** The connection breaks, `held` is written meanwhile, and there is another. */
  async function comesBack(held: Uint8Array, count: number): Promise<void> {
    const { lost, sttOutageMs } = scripted.listener;
    const times = lost.length + 1;
    peer.socket.terminate();
    await scripted.changes.until("the loss", () => lost.length === times);
    write(held, count);
    // Other tries than the first one of an outage wait so long.
    scripted.clock.advance(100);
    peer = await scripted.server.peer(times);
    await scripted.changes.until("the way back", () => sttOutageMs.length === times);
  }

  /** Flux guesses at a turn that began then, by its connection's own time. */
  async function guess(startSec: number): Promise<void> {
    const { transcripts } = scripted.listener;
    const count = transcripts.length + 1;
    const window = { audio_window_start: startSec, audio_window_end: startSec + 1 };
    const turn = { type: "TurnInfo", event: "Update", transcript: "book it", ...window };
    peer.socket.send(JSON.stringify(turn));
    await scripted.changes.until("the guess", () => transcripts.length === count);
  }

  it("is nothing where there was no audio", async () => {
    assert.deepEqual(await sentMs(), []);
  });

  it("is no silence at the end where nothing was left over", async () => {
    write(LOUD, PIECE_FRAMES);
    assert.deepEqual(await sentMs(), [PIECE_MS]);
  });

  it("is silence after the last sound, if that is shorter than a piece", async () => {
    write(LOUD, PIECE_FRAMES + 1);
    await sentMs();
    const [, rest] = peer.binaries;
    assert.deepEqual(rest, Buffer.concat([LOUD, Buffer.alloc(60 * BYTES_PER_MS)]));
  });

  for (const [quietMs, silences] of [
    [499, []],
    [500, [500]],
    [999, [500]],
    [1_000, [500, 500]],
  ] as const) {
    it(`is silence for each half second after the last sound: after ${quietMs} ms`, async () => {
      scripted.clock.advance(300);
      write(LOUD, PIECE_FRAMES);
      scripted.clock.advance(quietMs);
      assert.deepEqual(await sentMs(), [PIECE_MS, ...silences]);
    });
  }

  it("is silence, too, for a process that is blocked a second time while unread audio is awaited", async () => {
    scripted.clock.stall(551);
    scripted.clock.stall(151);
    assert.deepEqual(await sentMs(), [500]);
  });

  it("is what an outage leaves over together with the next words, where it is less than a piece", async () => {
    write(LOUD, 12 * PIECE_FRAMES);
    const turn = { event: "EndOfTurn", audio_window_start: 0, audio_window_end: 0.96 };
    peer.socket.send(JSON.stringify({ type: "TurnInfo", transcript: "book it", ...turn }));
    await scripted.changes.until("the turn", () => scripted.listener.turns.length === 1);
    await comesBack(LOUD, 3);
    scripted.clock.advance(40);
    write(LOUD, 1);
    write(LOUD, 3);
    assert.deepEqual(await sentMs(), [80, 80]);
  });

  it("is what an outage leaves over at once, where it is a piece", async () => {
    await comesBack(LOUD, 4);
    scripted.clock.advance(40);
    write(LOUD, 4);
    assert.deepEqual(await sentMs(), [80, 80]);
  });

  it("is compared with what was heard as soon as there is a connection again", async () => {
    write(QUIET, 300);
    await comesBack(QUIET, 0);
    const doubts = doubtsOf(scripted.listener);
    write(LOUD, 152);
    assert.deepEqual(doubts, ["doubtful", "deaf"]);
  });

  it("is two seconds again of what was said: a guess that began before them is settled, one within is not", async () => {
    write(LOUD, 150);
    await guess(0.9);
    await comesBack(LOUD, 0);
    assert.deepEqual(scripted.listener.events, ["interim", "final", "lost", "recovered"]);
  });

  it("is so on a connection, too, whose time began in the middle of the call", async () => {
    write(QUIET, 150);
    await comesBack(QUIET, 0);
    await guess(1);
    await comesBack(QUIET, 0);
    const again = ["lost", "recovered"];
    assert.deepEqual(scripted.listener.events, [...again, "interim", ...again]);
  });

  it("is no more than twelve seconds of an outage, however much comes at once", async () => {
    await comesBack(new Uint8Array(13_000 * BYTES_PER_MS).fill(8), 1);
    scripted.clock.advance(6_000);
    assert.equal(await soundMs(), 12_000);
  });

  it("is not compared while the audio of a long outage waits before it", async () => {
    write(QUIET, 20);
    await comesBack(QUIET, 150);
    const doubts = doubtsOf(scripted.listener);
    write(LOUD, 152);
    assert.deepEqual(doubts, []);
    scripted.clock.advance(6_000);
    write(LOUD, 152);
    assert.deepEqual(doubts, ["doubtful", "deaf"]);
  });

  it("is all that there was no result of again where a connection breaks that had caught up with a long outage", async () => {
    await comesBack(LOUD, 150);
    scripted.clock.advance(2_000);
    await comesBack(LOUD, 0);
    scripted.clock.advance(2_000);
    assert.equal(await soundMs(), 3_000);
  });
});

function doubtsOf(listener: object): readonly string[] {
  const doubts: string[] = [];
  Object.assign(listener, { onSttStall: (how: string) => void doubts.push(how) });
  return doubts;
}
