import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { MULAW_8K, PCM_24K } from "../../../../engine/audio/audio-format.js";
import { type ScriptedSentence, ScriptedSpeech } from "../scripted-speech.js";

const MODEL = "aura-2-thalia-en";
const REQUEST = { text: "Hi.", modelId: MODEL, speed: 1, language: "en", format: PCM_24K };
const WAYS = { protocol: "ws:" };

describe("a sentence of Deepgram Aura", () => {
  let scripted: ScriptedSpeech;

  beforeEach(async () => {
    scripted = new ScriptedSpeech("deepgram");
    await scripted.server.start();
  });

  afterEach(() => scripted.close());

  function say({ peer }: ScriptedSentence, message: object): void {
    peer.socket.send(JSON.stringify(message));
  }

  it("is requested by voice and format, and flushed", async () => {
    const { peer } = await scripted.ask(REQUEST, 2, WAYS);
    const query = "encoding=linear16&sample_rate=24000&container=none";
    assert.equal(peer.request.url, `/v1/speak?model=${MODEL}&${query}`);
    assert.equal(peer.request.headers.authorization, "Token the-key");
    assert.deepEqual(
      peer.texts.map((text) => JSON.parse(text)),
      [{ type: "Speak", text: "Hi." }, { type: "Flush" }],
    );
    const telephone = await scripted.ask({ ...REQUEST, format: MULAW_8K }, 2, WAYS);
    assert.match(
      telephone.peer.request.url ?? "",
      /&encoding=mulaw&sample_rate=8000&container=none$/,
    );
  });

  it("ends when it is flushed, whatever other messages arrive", async () => {
    const sentence = await scripted.ask(REQUEST, 2, WAYS);
    sentence.peer.socket.send("[{");
    say(sentence, { type: "Metadata" });
    say(sentence, { type: "Warning", code: "TEXT", description: "odd" });
    sentence.peer.socket.send(Buffer.of(1, 2));
    say(sentence, { type: "Flushed" });
    await sentence.spoken;
    assert.deepEqual(Buffer.concat(sentence.chunks), Buffer.of(1, 2));
  });

  it("is over one second after its audio has ended in silence, if the flush is not reported", async () => {
    const text = "Your table for four is booked for seven.";
    const sentence = await scripted.ask({ ...REQUEST, text }, 2, WAYS);
    const audio = Buffer.alloc(2_400 * 48);
    for (let at = 0; at < 2_200 * 48; at += 2) audio.writeInt16LE((at % 90) * 99, at);
    sentence.peer.socket.send(audio);
    await sentence.changes.until("the audio", () => sentence.chunks.length > 0);
    scripted.clock.advance(1_000);
    await sentence.spoken;
    assert.deepEqual(Buffer.concat(sentence.chunks), audio);
    await scripted.server.changes.until("the socket's end", () => sentence.peer.isClosed);
  });

  for (const [message, fault, words] of [
    [{ type: "Warning", code: "FLUSH_LIMIT" }, "rateLimited", "takes no more flushes for now"],
    [{ type: "Warning", description: "no Flush" }, "rateLimited", "takes no more flushes for now"],
    [{ type: "Error", code: "NET-1" }, "unavailable", "NET-1"],
    [{ type: "Error", description: "Hi." }, "unavailable", "reports an error"],
  ] as const) {
    it(`${JSON.stringify(message)} is ${fault}`, async () => {
      const sentence = await scripted.ask(REQUEST, 2, WAYS);
      say(sentence, message);
      await assert.rejects(sentence.spoken, { fault, message: `deepgram: ${words}` });
    });
  }
});
