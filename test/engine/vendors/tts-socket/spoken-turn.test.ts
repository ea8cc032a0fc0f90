import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, it } from "node:test";
import { PCM_24K } from "../../../../engine/audio/audio-format.js";
import { textToSpeech } from "../../../../engine/vendors/registry.js";
import { type ScriptedSentence, ScriptedSpeech } from "../scripted-speech.js";

const MESSAGE_BYTES = 1024 * 1024;
const REQUEST = { text: "Hi.", modelId: "m", speed: 1, language: "en", format: PCM_24K };
const FRAMES = 2;

describe("a sentence over a kept socket", () => {
  let scripted: ScriptedSpeech;

  beforeEach(async () => {
    scripted = new ScriptedSpeech("deepgram");
    await scripted.server.start();
  });

  afterEach(() => scripted.close());

  function ask(signal = new AbortController().signal): Promise<ScriptedSentence> {
    return scripted.ask(REQUEST, FRAMES, { protocol: "ws:", signal });
  }

  /** Sends so many bytes of audio, and waits until they are heard. */
  async function hear({ peer, chunks, changes }: ScriptedSentence, sizeBytes: number) {
    const before = chunks.length;
    peer.socket.send(Buffer.alloc(sizeBytes));
    await changes.until("the audio", () => chunks.length > before);
  }

  it("times out without data for ten seconds", async () => {
    const sentence = await ask();
    scripted.clock.advance(9_999);
    await hear(sentence, 2);
    scripted.clock.advance(9_999);
    assert.equal(scripted.clock.pendingTimerCount, 2);
    scripted.clock.advance(1);
    assert.equal(scripted.clock.pendingTimerCount, 0);
    await assert.rejects(sentence.spoken, {
      fault: "timeout",
      message: "deepgram: it fell silent",
    });
    await scripted.server.changes.until("the end", () => sentence.peer.isClosed);
  });

  it("times out after a minute, though data keeps arriving", async () => {
    const sentence = await ask();
    for (let second = 0; second < 54; second += 9) {
      scripted.clock.advance(9_000);
      await hear(sentence, 2);
    }
    scripted.clock.advance(5_999);
    assert.equal(scripted.clock.pendingTimerCount, 2);
    scripted.clock.advance(1);
    await assert.rejects(sentence.spoken, { fault: "timeout", message: "deepgram: too slow" });
  });

  it("is eight mebibytes of audio at the most", async () => {
    const sentence = await ask();
    for (let n = 0; n < 8; n += 1) await hear(sentence, MESSAGE_BYTES);
    sentence.peer.socket.send(Buffer.alloc(1));
    await assert.rejects(sentence.spoken, { fault: "badAnswer", message: /too large/ });
    assert.equal(sentence.chunks.length, 8);
  });

  it("leaves neither a timer but the pool's, nor anything at the signal of its call", async () => {
    const { signal } = new AbortController();
    const sentence = await ask(signal);
    await hear(sentence, 2);
    sentence.peer.socket.send(new Uint8Array(0));
    sentence.peer.socket.send('{"type":"Flushed"}');
    await sentence.spoken;
    assert.deepEqual([sentence.chunks.length, scripted.clock.pendingTimerCount], [1, 1]);
    assert.deepEqual(getEventListeners(signal, "abort"), []);
  });

  it("leaves an idle socket to others if the call has ended before the request", async () => {
    const sentence = await ask();
    await hear(sentence, 2);
    sentence.peer.socket.send('{"type":"Flushed"}');
    await sentence.spoken;
    const { clock, connections, server } = scripted;
    const given = { baseUrl: server.url, apiKey: "the-key", settings: {}, clientOwned: false };
    const speech = textToSpeech("deepgram", given, { clock, connections });
    const speaking = speech.synthesize(REQUEST, () => undefined, AbortSignal.abort());
    await assert.rejects(speaking, { fault: "aborted", message: "deepgram: aborted" });
    assert.deepEqual([connections.socketPools.idleCount, server.upgradeCount], [1, 1]);
  });

  it("is broken off with its socket, and says with what it was closed", async () => {
    const sentence = await ask();
    sentence.peer.socket.close(4_000);
    await assert.rejects(sentence.spoken, {
      fault: "disconnected",
      message: "deepgram: closed with 4000",
    });
  });
});
