import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { MULAW_8K, PCM_24K } from "../../../../engine/audio/audio-format.js";
import { textToSpeech } from "../../../../engine/vendors/registry.js";
import { eventually } from "../sandboxed-vendors.js";
import { type ScriptedSentence, ScriptedSpeech } from "../scripted-speech.js";

const REQUEST = { text: "Hi.", modelId: "sonic-3", speed: 1, language: "en-US", format: PCM_24K };

describe("a sentence of Cartesia", () => {
  let scripted: ScriptedSpeech;

  beforeEach(async () => {
    scripted = new ScriptedSpeech("cartesia");
    await scripted.server.start();
  });

  afterEach(() => scripted.close());

  function say({ peer }: ScriptedSentence, ...messages: readonly object[]): void {
    for (const message of messages) peer.socket.send(JSON.stringify(message));
  }

  it("is requested under its protocol version, by voice, volume and language", async () => {
    const settings = { voiceId: "voice", volume: 0.8 };
    const { peer } = await scripted.ask(REQUEST, 1, { settings });
    assert.equal(peer.request.url, "/tts/websocket?cartesia_version=2026-03-01");
    assert.equal(peer.request.headers.authorization, "Bearer the-key");
    assert.equal(peer.request.headers["cartesia-version"], "2026-03-01");
    const { context_id, ...asked } = JSON.parse(peer.texts[0] ?? "");
    assert.match(context_id, /^[0-9a-f-]{36}$/);
    assert.deepEqual(asked, {
      model_id: "sonic-3",
      transcript: "Hi.",
      voice: { mode: "id", id: "voice" },
      language: "en",
      output_format: { container: "raw", encoding: "pcm_s16le", sample_rate: 24_000 },
      generation_config: { speed: 1, volume: 0.8 },
      continue: false,
      add_timestamps: true,
      max_buffer_delay_ms: 0,
    });
  });

  it("is said over the socket that was opened ahead of it", async () => {
    const { clock, connections, server } = scripted;
    const baseUrl = server.url.replace("ws:", "http:");
    const given = { baseUrl, apiKey: "the-key", settings: {}, clientOwned: false };
    textToSpeech("cartesia", given, { clock, connections }).warm();
    const { texts } = await server.peer(0);
    await eventually(() => connections.socketPools.idleCount === 1, "the socket to wait");
    scripted.speak(REQUEST).catch(() => undefined);
    await server.changes.until("the sentence", () => texts.length === 1);
    assert.equal(server.upgradeCount, 1);
  });

  for (const [asked, sent] of [
    [0.5, 0.6],
    [0.6, 0.6],
    [1.5, 1.5],
    [2, 1.5],
  ] as const) {
    it(`at a speed of ${asked} is requested at ${sent}`, async () => {
      const { peer } = await scripted.ask({ ...REQUEST, speed: asked, format: MULAW_8K }, 1);
      const { generation_config, output_format } = JSON.parse(peer.texts[0] ?? "");
      assert.equal(generation_config.speed, sent);
      const raw = { container: "raw", encoding: "pcm_mulaw", sample_rate: 8_000 };
      assert.deepEqual(output_format, raw);
    });
  }

  it("has its words where the vendor reports them, with as many of their times as it reports", async () => {
    const sentence = await scripted.ask(REQUEST, 1);
    say(
      sentence,
      { type: "chunk", data: Buffer.of(1, 2).toString("base64") },
      { type: "timestamps", word_timestamps: { words: ["a"], start: [0.1234], end: [0.25] } },
      { type: "timestamps", word_timestamps: { words: ["b", "c"], start: [0.5], end: [] } },
      { type: "timestamps", word_timestamps: null },
      { type: "chunk" },
      { type: "weather" },
      { type: "done" },
    );
    await sentence.spoken;
    assert.deepEqual(Buffer.concat(sentence.chunks), Buffer.of(1, 2));
    assert.deepEqual(sentence.words, [
      { text: "a", startMs: 123, endMs: 250 },
      { text: "b", startMs: 500, endMs: 500 },
      { text: "c", startMs: 0, endMs: 0 },
    ]);
  });

  for (const [message, fault, words] of [
    [
      { status_code: 402, error_code: "quota_exceeded", title: "No credits: Hi." },
      "quotaExceeded",
      "quota_exceeded, about the account's quota or credit",
    ],
    [{ status_code: 429, title: "x".repeat(301) }, "rateLimited", "reports an error"],
    [{ error_code: "odd" }, "unavailable", "reports an error"],
  ] as const) {
    it(`fails as ${fault} without the vendor's text`, async () => {
      const sentence = await scripted.ask(REQUEST, 1);
      say(sentence, { type: "error", message: "Hi.", ...message });
      await assert.rejects(sentence.spoken, { fault, message: `cartesia: ${words}` });
    });
  }

  it("fails on what cannot be read", async () => {
    const sentence = await scripted.ask(REQUEST, 1);
    sentence.peer.socket.send("[{");
    await assert.rejects(sentence.spoken, {
      fault: "badAnswer",
      message: "cartesia: unreadable answer",
    });
  });

  it("is not heard from binary messages", async () => {
    const sentence = await scripted.ask(REQUEST, 1);
    sentence.peer.socket.send(Buffer.of(1, 2));
    say(sentence, { type: "done" });
    await assert.rejects(sentence.spoken, { fault: "badAnswer", message: /without audio/ });
  });
});
