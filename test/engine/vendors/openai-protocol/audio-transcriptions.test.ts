import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, it } from "node:test";
import { PCM_16K } from "../../../../engine/audio/audio-format.js";
import type { SpeechStream } from "../../../../engine/vendors/contracts.js";
import { AudioTranscriptions } from "../../../../engine/vendors/openai-protocol/audio-transcriptions.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import { Changes } from "../../../doubles/changes.js";
import { ToldClock } from "../../../doubles/told-clock.js";
import { RecordingListener } from "../recording-listener.js";
import { never } from "../sandboxed-vendors.js";
import { ScriptedWebServer } from "../scripted-web-server.js";

const ANSWER_MAX_BYTES = 256 * 1024;
const OPTIONS = { language: "en", modelId: "m", format: PCM_16K, endpointingMs: 200 } as const;
const DIALECT = { vendor: "acme", publicUrl: "", isKeyRequired: false };

describe("the transcription of an utterance", () => {
  let clock: ToldClock;
  let changes: Changes;
  let listener: RecordingListener;
  let server: ScriptedWebServer;
  let connections: Connections;
  let stream: SpeechStream;
  /** The requests of utterances that have not been answered yet. */
  let responses: ServerResponse[];

  beforeEach(async () => {
    clock = new ToldClock();
    changes = new Changes();
    listener = new RecordingListener(changes);
    server = new ScriptedWebServer();
    await server.start();
    server.answer = (given, { method }) => {
      if (method === "GET") given.end();
      else responses.push(given);
    };
    responses = [];
    connections = new Connections({ clock, allowPrivateAddresses: true });
    stream = await recognizer().open(OPTIONS, listener, never());
    await server.changes.until("the connection ahead", () => server.requests.length === 1);
    assert.equal(server.requests[0]?.method, "GET");
  });

  afterEach(async () => {
    stream.close();
    await connections.close();
    await server.close();
  });

  function recognizer(settings = {}): AudioTranscriptions {
    const given = { baseUrl: server.url, apiKey: "", settings, clientOwned: false };
    return new AudioTranscriptions(DIALECT, given, { clock, connections });
  }

  /** An utterance is said, and its transcription requested. */
  async function say(): Promise<ServerResponse> {
    stream.write(new Uint8Array(new Int16Array(8_000).fill(5_000).buffer));
    stream.write(new Uint8Array(16_000));
    return server.changes.until("the utterance", () => responses.shift());
  }

  async function answer(response: ServerResponse, piece: string): Promise<void> {
    const before = clock.lookCount;
    response.write(piece);
    await clock.changes.until("the piece", () => clock.lookCount > before);
  }

  async function endsAfter(timeMs: number, message: string): Promise<void> {
    clock.advance(timeMs - 1);
    await new Promise(setImmediate);
    assert.equal(listener.lost.length, 0, "it was given up too soon");
    clock.advance(1);
    const error = await changes.until("the loss", () => listener.lost[0]);
    assert.deepEqual([error.fault, error.message], ["timeout", message]);
  }

  it("is requested after a configured silence of 200 ms to 3 s, and by default after half a second", async () => {
    for (const silenceMs of [199, 3_001]) {
      assert.throws(() => recognizer({ silenceMs }), {
        fault: "refused",
        message: "acme: setting silenceMs: expected a whole number from 200 to 3000",
      });
    }
    for (const silenceMs of [200, 3_000]) recognizer({ silenceMs });
    stream.write(new Uint8Array(new Int16Array(8_000).fill(5_000).buffer));
    stream.write(new Uint8Array(480 * 32));
    await new Promise(setImmediate);
    assert.equal(responses.length, 0);
    stream.write(new Uint8Array(20 * 32));
    await server.changes.until("the utterance", () => responses.shift());
  });

  it("is waited for 15 s until its first byte", async () => {
    await say();
    await endsAfter(15_000, "acme: no answer in time");
  });

  it("is waited for 5 s from one byte to the next", async () => {
    const response = await say();
    clock.advance(14_999);
    await answer(response, " ");
    await endsAfter(5_000, "acme: the answer stalled");
  });

  it("is waited for 20 s in all, though there is always something", async () => {
    const response = await say();
    for (const stepMs of [14_000, 4_000]) {
      clock.advance(stepMs);
      await answer(response, " ");
    }
    await endsAfter(2_000, "acme: the answer stalled");
  });

  it("is read to its end, in however many pieces it comes", async () => {
    const response = await say();
    await answer(response, '{"text":');
    response.end('" two words "}');
    await changes.until("the words", () => listener.transcripts.length === 1);
    assert.equal(listener.finalText, "two words");
  });

  it("is cut when it is larger than 256 KiB", async () => {
    const padded = (sizeBytes: number) => '{"text":"word"}'.padEnd(sizeBytes);
    (await say()).end(padded(ANSWER_MAX_BYTES));
    await changes.until("the words", () => listener.transcripts.length === 1);
    assert.equal(listener.finalText, "word");
    (await say()).end(padded(ANSWER_MAX_BYTES + 1));
    const { message } = await changes.until("the loss", () => listener.lost[0]);
    assert.equal(message, "acme: the answer is too large");
  });
});
