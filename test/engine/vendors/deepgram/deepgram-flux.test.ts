import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { SpeechStream } from "../../../../engine/vendors/contracts.js";
import { ScriptedRecognition } from "../scripted-recognition.js";
import type { ScriptedPeer } from "../scripted-socket-server.js";

const BYTES_PER_MS = 32;

describe("the messages of Deepgram Flux", () => {
  let scripted: ScriptedRecognition;
  let stream: SpeechStream;
  let peer: ScriptedPeer;

  beforeEach(async () => {
    scripted = new ScriptedRecognition("deepgram");
    await scripted.server.start();
    ({ stream, peer } = await scripted.open({ modelId: "flux-general-en" }, { eotTimeoutMs: 800 }));
  });

  afterEach(async () => {
    stream.close();
    await scripted.close();
  });

  function say(event: string, transcript: string, startSec = 0, endSec = 1, words?: object[]) {
    const [audio_window_start, audio_window_end] = [startSec, endSec];
    const turn = { event, transcript, audio_window_start, audio_window_end, words };
    peer.socket.send(JSON.stringify({ type: "TurnInfo", ...turn }));
  }

  /** All that was said has come when this has. */
  async function heard(): Promise<readonly string[]> {
    const { events } = scripted.listener;
    const marks = scripted.listener.turns.length;
    say("TurnResumed", "mark");
    await scripted.changes.until("the mark", () => scripted.listener.turns.length > marks);
    return events.slice(0, -1);
  }

  const words = (text: string, isFinal: boolean, lastWordEndMs: number | undefined) => ({
    text,
    isFinal,
    speechFinal: false,
    lastWordEndMs,
    hasTurnDetection: true,
    turnSilenceMaxMs: 800,
  });

  it("is a start with or without words, guesses, and an end with all words", async () => {
    say("StartOfTurn", "");
    say("Update", " ");
    say("Update", " book ", 0, 1, [{ end: 0.6 }]);
    say("Weather", "it rains");
    for (const other of ["[{", '{"type":"TurnInfo","event":"Update"}', '{"type":"Connected"}']) {
      peer.socket.send(other);
    }
    say("EndOfTurn", "Book it.", 0, 1.2, [{ end: 0.6 }, { end: 1.1 }]);
    say("StartOfTurn", "and");
    assert.deepEqual(await heard(), [
      "speechStarted",
      "startOfTurn",
      "interim",
      "final",
      "endOfTurn",
      "speechStarted",
      "startOfTurn",
      "interim",
    ]);
    assert.deepEqual(scripted.listener.transcripts, [
      words("book", false, 600),
      words("Book it.", true, 1_100),
      words("and", false, undefined),
    ]);
  });

  it("is an end that seems near, and is revoked", async () => {
    say("EagerEndOfTurn", "book", 0, 1, [{}]);
    say("TurnResumed", "book");
    assert.deepEqual(await heard(), ["interim", "eagerEndOfTurn", "turnResumed"]);
    assert.equal(scripted.listener.turns[0]?.text, "book");
  });

  it("is an error whose log line holds nothing of the vendor's text, after which it comes back", async () => {
    peer.socket.send('{"type":"Error","code":"BUSY","description":"the-key waits"}');
    await scripted.changes.until("the loss", () => scripted.listener.lost.length === 1);
    const [error] = scripted.listener.lost;
    assert.deepEqual(
      [error?.fault, error?.message, error?.vendorText],
      ["unavailable", "deepgram: reports an error", "BUSY: [key] waits"],
    );
  });

  it("is an error too where its words are none", async () => {
    peer.socket.send('{"type":"Error","code":5,"description":"waits"}');
    await scripted.changes.until("the loss", () => scripted.listener.lost.length === 1);
    assert.equal(scripted.listener.lost[0]?.vendorText, "waits");
  });

  /** So much audio was sent that its beginning is no longer kept. */
  function writeSeconds(count: number): void {
    for (let n = 0; n < count * 10; n++) stream.write(new Uint8Array(100 * BYTES_PER_MS).fill(1));
  }

  async function breaks(): Promise<void> {
    const count = scripted.listener.lost.length + 1;
    peer.socket.terminate();
    await scripted.changes.until("the loss", () => scripted.listener.lost.length === count);
  }

  /** The next connection gets the last part of the written audio, of this length, and no more. */
  async function isSentAgain(durationMs: number): Promise<void> {
    scripted.clock.advance(0);
    const next = await scripted.server.peer(1);
    await scripted.changes.until("the way back", () => scripted.listener.sttOutageMs.length === 1);
    scripted.clock.advance(durationMs);
    const finished = stream.finish();
    await scripted.changes.until("the end mark", () => next.texts.length === 1);
    assert.equal(
      Buffer.concat(next.binaries).filter((byte) => byte !== 0).length,
      durationMs * BYTES_PER_MS,
    );
    scripted.clock.advance(2_000);
    await finished;
  }

  it("is settled for a turn that cannot be heard again, up to its last word", async () => {
    writeSeconds(4);
    say("Update", "book it", 1.9, 3, [{ end: 2.5 }]);
    await heard();
    say("Update", "book it", 1.9, 3, [{ end: 2.5 }]);
    await scripted.changes.until("it again", () => scripted.listener.transcripts.length === 2);
    await breaks();
    assert.deepEqual(scripted.listener.transcripts.at(-1), words("book it", true, 2_500));
    await isSentAgain(1_500);
  });

  it("is settled up to the end of what was heard where no word has a time", async () => {
    writeSeconds(4);
    say("Update", "book it", 1.9, 3);
    await scripted.changes.until("a guess", () => scripted.listener.transcripts.length === 1);
    await breaks();
    assert.deepEqual(scripted.listener.transcripts.at(-1), words("book it", true, 3_000));
  });

  it("is settled with a turn that has ended: only what was said since is sent again", async () => {
    writeSeconds(1);
    say("EndOfTurn", "Yes.", 0, 0.6);
    await scripted.changes.until("the end", () => scripted.listener.turns.length === 1);
    await breaks();
    assert.equal(scripted.listener.transcripts.length, 1);
    await isSentAgain(400);
  });

  it("is nothing where the turn can be heard again as a whole, or has ended", async () => {
    writeSeconds(4);
    say("EndOfTurn", "Yes.", 0, 1);
    say("Update", "book it", 2, 3, [{ end: 2.5 }]);
    await scripted.changes.until("a guess", () => scripted.listener.transcripts.length === 2);
    await breaks();
    assert.equal(scripted.listener.transcripts.length, 2);
  });

  it("hints the language to a model of several, by its first part", async () => {
    for (const [modelId, hint] of [
      ["flux-general-multi", "en"],
      ["flux-general-en", null],
    ] as const) {
      const opened = await scripted.open({ modelId }, {});
      const { searchParams } = new URL(opened.peer.request.url ?? "", "ws://flux");
      assert.equal(searchParams.get("language_hint"), hint);
      opened.stream.close();
    }
  });
});
