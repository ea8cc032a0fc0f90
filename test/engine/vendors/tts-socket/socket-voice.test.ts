import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, it } from "node:test";
import * as v from "valibot";
import { PCM_24K } from "../../../../engine/audio/audio-format.js";
import { textToSpeech } from "../../../../engine/vendors/registry.js";
import { eventually, never } from "../sandboxed-vendors.js";
import { type ScriptedSentence, ScriptedSpeech } from "../scripted-speech.js";

const REQUEST = { text: "Hi.", modelId: "m", speed: 1, language: "en", format: PCM_24K };
const AUDIO = Buffer.alloc(4_800).toString("base64");
const opened = v.pipe(v.string(), v.parseJson(), v.object({ context_id: v.string() }));

describe("the socket of a sentence that is interrupted, where the vendor ends its sentences by themselves", () => {
  let scripted: ScriptedSpeech;
  let sentence: ScriptedSentence;

  beforeEach(async () => {
    scripted = new ScriptedSpeech("elevenlabs");
    await scripted.server.start();
    const ending = new AbortController();
    const ways = { settings: { transport: "websocket" }, signal: ending.signal };
    sentence = await scripted.ask(REQUEST, 3, ways);
    say({ audio: AUDIO });
    await sentence.changes.until("the audio", () => sentence.chunks.length === 1);
    ending.abort();
    await assert.rejects(sentence.spoken, { fault: "aborted", message: "elevenlabs: aborted" });
  });

  afterEach(() => scripted.close());

  function say(message: object): void {
    const { context_id } = v.parse(opened, sentence.peer.texts[0]);
    sentence.peer.socket.send(JSON.stringify({ context_id, ...message }));
  }

  /** It is not kept, and nothing waits for it. */
  async function assertBroken(): Promise<void> {
    await scripted.server.changes.until("the end", () => sentence.peer.isClosed);
    const { socketPools } = scripted.connections;
    await eventually(() => scripted.clock.pendingTimerCount === 0, "the end of all timers");
    assert.equal(socketPools.idleCount, 0);
    assert.deepEqual(getEventListeners(socketPools.ended, "abort"), []);
  }

  it("is kept once all of it has come, of which nothing is heard", async () => {
    say({ audio: AUDIO });
    say({ isFinal: true });
    const { socketPools } = scripted.connections;
    await eventually(() => socketPools.idleCount === 1, "the socket to be kept");
    assert.equal(sentence.chunks.length, 1);
    assert.equal(scripted.clock.pendingTimerCount, 1, "that of the pool");
    assert.deepEqual(getEventListeners(socketPools.ended, "abort"), []);
    scripted.clock.advance(3_000);
    assert.equal(socketPools.idleCount, 1);
  });

  it("is broken where that takes more than three seconds", async () => {
    scripted.clock.advance(2_999);
    assert.equal(scripted.clock.pendingTimerCount, 1);
    scripted.clock.advance(1);
    await assertBroken();
  });

  it("is broken where the vendor fails", async () => {
    say({ error: "system_busy" });
    await assertBroken();
  });

  it("is dropped when the vendor closes it", async () => {
    sentence.peer.socket.close(1_000);
    await assertBroken();
  });

  it("is broken with all others", async () => {
    scripted.connections.socketPools.close();
    await assertBroken();
  });
});

describe("the sockets of a voice", () => {
  let scripted: ScriptedSpeech;

  beforeEach(async () => {
    scripted = new ScriptedSpeech("deepgram");
    await scripted.server.start();
  });

  afterEach(() => scripted.close());

  /** A call of its own says a sentence, which comes over this connection as its so manieth. */
  async function speak(peerIndex: number, count: number, modelId = "m", apiKey = "the-key") {
    const { clock, connections, server } = scripted;
    const given = { baseUrl: server.url, apiKey, settings: {}, clientOwned: false };
    const speech = textToSpeech("deepgram", given, { clock, connections });
    const spoken = speech.synthesize({ ...REQUEST, modelId }, () => undefined, never());
    const { socket, texts } = await server.peer(peerIndex);
    await server.changes.until("the sentence", () => texts.length === 2 * count);
    socket.send(Buffer.alloc(2));
    socket.send('{"type":"Flushed"}');
    await spoken;
  }

  it("are left after twenty sentences of whichever calls: the vendor takes no more of them", async () => {
    for (let count = 1; count <= 19; count += 1) await speak(0, count);
    assert.equal(scripted.connections.socketPools.idleCount, 1);
    await speak(0, 20);
    assert.equal(scripted.connections.socketPools.idleCount, 0);
    await scripted.server.changes.until("the end", () => scripted.server.peers[0]?.isClosed);
    await speak(1, 1);
  });

  it("are shared between calls with the same key and model, and no others", async () => {
    await speak(0, 1);
    await speak(0, 2);
    await speak(1, 1, "other");
    await speak(2, 1, "m", "other-key");
    await speak(0, 3);
    assert.equal(scripted.server.upgradeCount, 3);
  });
});
