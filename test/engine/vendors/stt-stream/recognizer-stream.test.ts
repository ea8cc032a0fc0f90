import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { SpeechStream } from "../../../../engine/vendors/contracts.js";
import { LOUD, QUIET } from "../../../doubles/voiced-frames.js";
import { ScriptedRecognition } from "../scripted-recognition.js";
import { bytesOf, type ScriptedPeer } from "../scripted-socket-server.js";

const BYTES_PER_MS = 32;

describe("one call's stream to a recognizer", () => {
  let scripted: ScriptedRecognition;
  let ending: AbortController;
  let stream: SpeechStream;
  let peer: ScriptedPeer;

  beforeEach(async () => {
    scripted = new ScriptedRecognition("deepgram");
    await scripted.server.start();
    ending = new AbortController();
    ({ stream, peer } = await open());
  });

  afterEach(async () => {
    stream.close();
    await scripted.close();
  });

  function open(modelId = "flux-general-en") {
    return scripted.open({ modelId }, {}, ending.signal);
  }

  function say(event: string, transcript: string): void {
    const turn = { event, transcript, audio_window_start: 0, audio_window_end: 1 };
    peer.socket.send(JSON.stringify({ type: "TurnInfo", ...turn }));
  }

  function write(frame: Uint8Array, count: number): void {
    for (let n = 0; n < count; n += 1) stream.write(frame);
  }

  async function breaks(): Promise<void> {
    const { lost } = scripted.listener;
    const count = lost.length + 1;
    peer.socket.terminate();
    await scripted.changes.until("the loss", () => lost.length === count);
  }

  const messages = (count: number) =>
    scripted.changes.until(`${count} messages`, () => peer.binaries.length === count);

  it("is over with the call, and leaves neither a timer nor anything at its signal", async () => {
    assert.equal(getEventListeners(ending.signal, "abort").length, 1);
    ending.abort();
    await scripted.changes.until("the end", () => peer.isClosed);
    assert.equal(scripted.clock.pendingTimerCount, 0);
    ending = new AbortController();
    const other = await open();
    other.stream.close();
    assert.deepEqual(getEventListeners(ending.signal, "abort"), []);
    assert.deepEqual(scripted.listener.events, []);
  });

  it("ends once, however often it is closed", async () => {
    const finished = stream.finish();
    assert.equal(stream.finish(), finished);
    await scripted.changes.until("the end mark", () => peer.texts.length === 1);
    scripted.clock.advance(2_000);
    await finished;
    await stream.finish();
    assert.equal(peer.texts.length, 1);
  });

  it("reports nothing more of a message after its listener has closed it", async () => {
    const { listener, changes } = scripted;
    listener.onSpeechStarted = () => {
      listener.events.push("speechStarted");
      stream.close();
      changes.tell();
    };
    say("StartOfTurn", "hello");
    await changes.until("the voice", () => listener.events.length > 0);
    await changes.until("the end", () => peer.isClosed);
    assert.deepEqual(listener.events, ["speechStarted"]);
  });

  it("does not report a loss after its listener closed it at the last words of a breaking connection", async () => {
    const { listener, changes, clock } = scripted;
    write(LOUD, 200);
    say("Update", "book it");
    await changes.until("a guess", () => listener.transcripts.length === 1);
    listener.onTranscript = (transcript) => {
      listener.transcripts.push(transcript);
      stream.close();
      changes.tell();
    };
    peer.socket.terminate();
    await changes.until("the words", () => listener.transcripts.length === 2);
    assert.equal(listener.transcripts[1]?.isFinal, true);
    assert.deepEqual(listener.lost, []);
    assert.equal(clock.pendingTimerCount, 0);
  });

  it("does not reconnect after its listener closed it at the loss", async () => {
    const { listener, changes, clock, server } = scripted;
    listener.onLost = (error) => {
      listener.lost.push(error);
      stream.close();
      changes.tell();
    };
    await breaks();
    assert.equal(clock.pendingTimerCount, 0);
    clock.advance(60_000);
    assert.equal(server.upgradeCount, 1);
  });

  it("reports nothing more when it is closed during a reconnect", async () => {
    const { listener, changes, clock, server } = scripted;
    await breaks();
    server.onUpgrade = () => changes.tell();
    clock.advance(0);
    await changes.until("the question", () => server.upgradeCount === 2);
    stream.close();
    await new Promise(setImmediate);
    assert.deepEqual([listener.events, clock.pendingTimerCount], [["lost"], 0]);
  });

  it("has failed, and was not lost before, where it will not come back", async () => {
    peer.socket.close(1_008, "why");
    await scripted.changes.until("the failure", () => scripted.listener.failed.length === 1);
    assert.deepEqual(scripted.listener.events, ["failed"]);
    assert.equal(scripted.clock.pendingTimerCount, 0);
    assert.deepEqual(getEventListeners(ending.signal, "abort"), []);
  });

  it("settles at its end what was guessed on a connection that breaks then: nothing is sent again", async () => {
    write(LOUD, 20);
    say("Update", "book it");
    await scripted.changes.until("a guess", () => scripted.listener.transcripts.length === 1);
    const finished = stream.finish();
    peer.socket.terminate();
    await finished;
    assert.deepEqual(
      scripted.listener.transcripts.map(({ text, isFinal }) => [text, isFinal]),
      [
        ["book it", false],
        ["book it", true],
      ],
    );
  });

  it("knows nothing on a new connection of a guess on the one before, which was heard again", async () => {
    const { listener, changes, clock, server } = scripted;
    write(QUIET, 50);
    say("Update", "book it");
    await changes.until("a guess", () => listener.transcripts.length === 1);
    await breaks();
    clock.advance(0);
    peer = await server.peer(1);
    await changes.until("the way back", () => listener.sttOutageMs.length === 1);
    clock.advance(1_000);
    write(QUIET, 250);
    await breaks();
    assert.deepEqual(listener.events, ["interim", "lost", "recovered", "lost"]);
  });

  it("reports words without a limit of their silence if none is set", async () => {
    say("Update", "book it");
    await scripted.changes.until("a guess", () => scripted.listener.transcripts.length === 1);
    assert.deepEqual(scripted.listener.transcripts[0], {
      text: "book it",
      isFinal: false,
      speechFinal: false,
      lastWordEndMs: undefined,
      hasTurnDetection: true,
    });
  });

  it("sends silence in longer pieces once a turn has ended, and not when it only seems to", async () => {
    write(LOUD, 4);
    write(QUIET, 4);
    say("EagerEndOfTurn", "yes");
    await scripted.changes.until("the mark", () => scripted.listener.turns.length === 1);
    write(QUIET, 4);
    await messages(3);
    say("EndOfTurn", "yes");
    await scripted.changes.until("the end", () => scripted.listener.turns.length === 2);
    write(QUIET, 9);
    write(QUIET, 1);
    await messages(4);
    const durationsMs = peer.binaries.map(({ length }) => length / BYTES_PER_MS);
    assert.deepEqual(durationsMs, [80, 80, 80, 200]);
  });

  it("opens a second connection for an utterance without a result if there is no fallback", async () => {
    write(QUIET, 20);
    write(LOUD, 70);
    write(QUIET, 80);
    const second = await scripted.server.peer(1);
    assert.deepEqual(scripted.listener.events, []);
    peer = second;
    say("Update", "book it");
    await scripted.changes.until("words", () => scripted.listener.transcripts.length === 1);
    assert.deepEqual(scripted.listener.events, ["lost", "recovered", "interim"]);
    const [error] = scripted.listener.lost;
    assert.deepEqual(
      [error?.fault, error?.message],
      ["timeout", "deepgram: returned no words for speech"],
    );
  });

  it("leaves that to the chain if there is one, and reports when it seems dead", () => {
    const doubts: string[] = [];
    Object.assign(scripted.listener, { onSttStall: (how: string) => void doubts.push(how) });
    write(QUIET, 20);
    write(LOUD, 70);
    write(QUIET, 80);
    assert.deepEqual(doubts, ["doubtful", "deaf"]);
    write(LOUD, 152);
    assert.deepEqual(doubts, ["doubtful", "deaf", "deaf"]);
    assert.deepEqual(scripted.listener.events, []);
    assert.equal(scripted.server.upgradeCount, 1);
  });

  it("seems dead if a voice gets only starts of turns", async () => {
    const { listener, changes } = scripted;
    const doubts: string[] = [];
    Object.assign(listener, { onSttStall: (how: string) => void doubts.push(how) });
    write(QUIET, 20);
    for (const count of [1, 2]) {
      write(LOUD, 60);
      say("StartOfTurn", "");
      await changes.until("the start", () => listener.turns.length === count);
    }
    write(LOUD, 32);
    assert.deepEqual(doubts, ["doubtful", "deaf"]);
  });

  it("sends again in pieces of the vendor's length, as soon as there is one", async () => {
    await breaks();
    write(LOUD, 20);
    scripted.clock.advance(0);
    const next = await scripted.server.peer(1);
    await scripted.changes.until("the way back", () => scripted.listener.sttOutageMs.length === 1);
    scripted.clock.advance(39);
    scripted.clock.advance(1);
    await scripted.changes.until("a piece", () => next.binaries.length === 1);
    assert.equal(bytesOf(next), 80 * BYTES_PER_MS);
  });
});
