import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { MULAW_8K } from "../../../../engine/audio/audio-format.js";
import { bytesOf } from "../scripted-socket-server.js";
import {
  FRAME_BYTES,
  finalResults,
  LISTENING,
  numberedFrames,
  OPENING_BYTES,
  ScriptedDeepgram,
} from "./scripted-deepgram.js";

const GARBAGE_MESSAGES_MAX = 20;

describe("Deepgram's stream", () => {
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

  it("asks for what turn taking needs", async () => {
    const stream = await scripted.open();
    const { request } = await server.peer(0);
    assert.equal(request.headers.authorization, "Token dg-key");
    assert.equal(request.headers["sec-websocket-extensions"], undefined);
    assert.equal(
      request.url,
      "/v1/listen?model=nova-3&language=en-US&encoding=linear16&sample_rate=16000&channels=1" +
        "&interim_results=true&punctuate=true&endpointing=200&utterance_end_ms=1500&vad_events=true",
    );
    stream.close();
  });

  it("refuses an utterance end that the vendor would refuse", () => {
    assert.throws(() => scripted.client({ utteranceEndMs: 700 }), {
      fault: "refused",
      message: /utteranceEndMs/,
    });
  });

  for (const [header, body, told] of [
    ["dg-error: slow down\r\n", '{"err_code":"BUSY","err_msg":"other"}', "BUSY: slow down"],
    ["", '{"err_code":"BUSY","err_msg":"too many"}', "BUSY: too many"],
    ["", "<html>", undefined],
  ] as const) {
    it(`is refused in the vendor's words: ${told ?? "none"}`, async () => {
      server.onUpgrade = (socket) => {
        const length = `Content-Length: ${body.length}\r\n`;
        socket.end(`HTTP/1.1 429 No\r\n${header}${length}Connection: close\r\n\r\n${body}`);
      };
      await assert.rejects(scripted.open(), {
        fault: "rateLimited",
        vendorText: told,
      });
    });
  }

  for (const [status, code, fault] of [
    [401, "INVALID_AUTH", "unauthorized"],
    [401, "INSUFFICIENT_PERMISSIONS", "unauthorized"],
    [403, "INVALID_AUTH", "unauthorized"],
    [403, "INSUFFICIENT_PERMISSIONS", "refused"],
  ] as const) {
    it(`reports a wrong key separately from a model that it may not use: ${status} ${code}`, async () => {
      server.onUpgrade = (socket) => {
        const body = JSON.stringify({ err_code: code, err_msg: "no" });
        const length = `Content-Length: ${body.length}\r\n`;
        socket.end(`HTTP/1.1 ${status} No\r\n${length}Connection: close\r\n\r\n${body}`);
      };
      await assert.rejects(scripted.open(), { fault, status });
    });
  }

  it("sends some silence first, then the audio as it is, and never an empty frame", async () => {
    const stream = await scripted.open({ ...LISTENING, format: MULAW_8K });
    stream.write(new Uint8Array(0));
    stream.write(Uint8Array.of(1, 2, 3));
    stream.write(new Uint8Array(0));
    stream.write(Uint8Array.of(4));
    const peer = await server.peer(0);
    assert.match(peer.request.url ?? "", /&encoding=mulaw&sample_rate=8000&/);
    await scripted.changes.until("three frames", () => peer.binaries.length === 3);
    assert.deepEqual([...(peer.binaries[0] ?? [])], Array(800).fill(0xff));
    assert.deepEqual([...(peer.binaries[1] ?? [])], [1, 2, 3]);
    assert.deepEqual([...(peer.binaries[2] ?? [])], [4]);
    stream.close();
  });

  it("has no time before the caller's audio, though the vendor hears silence before it", async () => {
    const stream = await scripted.open();
    const { socket } = await server.peer(0);
    for (const [endSec, count] of [
      [0.05, 1],
      [0.1, 2],
      [0.101, 3],
    ] as const) {
      socket.send(finalResults("hm", 0, endSec));
      await scripted.changes.until("the words", () => listener.transcripts.length === count);
    }
    assert.deepEqual(
      listener.transcripts.map(({ lastWordEndMs }) => lastWordEndMs),
      [0, 0, 1],
    );
    stream.close();
  });

  it("keeps the connection alive every 4 s, only while no audio flows", async () => {
    const stream = await scripted.open();
    const peer = await server.peer(0);
    for (let second = 0; second < 8; second++) {
      stream.write(new Uint8Array(FRAME_BYTES).fill(1));
      clock.advance(1_000);
    }
    assert.deepEqual(peer.texts, []);
    clock.advance(11_000);
    await scripted.changes.until("three keep-alives", () => peer.texts.length === 3);
    assert.deepEqual(peer.texts, Array(3).fill('{"type":"KeepAlive"}'));
    stream.close();
    assert.equal(clock.pendingTimerCount, 0);
  });

  it("waits two seconds for the last results and no longer", async () => {
    const stream = await scripted.open();
    for (const frame of numberedFrames(3)) stream.write(frame);
    const finished = stream.finish();
    stream.write(new Uint8Array(FRAME_BYTES).fill(9));
    const peer = await server.peer(0);
    await scripted.changes.until("the end mark", () => peer.texts.length === 1);
    assert.deepEqual(peer.texts, ['{"type":"CloseStream"}']);
    clock.advance(2_000);
    await finished;
    await scripted.changes.until("the close", () => peer.isClosed);
    assert.equal(bytesOf(peer), OPENING_BYTES + 3 * FRAME_BYTES, "nothing is sent behind the end");
    assert.equal(clock.pendingTimerCount, 0);
  });

  it("counts unreadable messages and leaves a peer that sends nothing else", async () => {
    const stream = await scripted.open();
    const { socket } = await server.peer(0);
    socket.send('{"type":"Weather"}');
    for (let count = 0; count < GARBAGE_MESSAGES_MAX; count++) socket.send("[{");
    socket.send(finalResults("still here", 0, 1));
    await scripted.changes.until("words among garbage", () => listener.transcripts.length === 1);
    assert.equal(listener.lost.length, 0);
    socket.send("[{");
    await scripted.changes.until("the loss", () => listener.lost.length === 1);
    assert.equal(listener.lost[0]?.fault, "badAnswer");
    stream.close();
  });

  it("ignores continuing silence and the end of an utterance without words", async () => {
    const stream = await scripted.open();
    const { socket } = await server.peer(0);
    const empty = { type: "Results", start: 0, duration: 1, channel: { alternatives: [] } };
    socket.send(JSON.stringify(empty));
    for (const endSec of [-1, 0]) {
      socket.send(JSON.stringify({ type: "UtteranceEnd", last_word_end: endSec }));
    }
    socket.send(JSON.stringify({ ...empty, speech_final: true }));
    await scripted.changes.until("the end of the silence", () => listener.transcripts.length === 1);
    assert.deepEqual(listener.transcripts[0], {
      text: "",
      isFinal: true,
      speechFinal: true,
      lastWordEndMs: undefined,
    });
    assert.deepEqual(listener.events, ["utteranceEnd", "final"]);
    stream.close();
  });

  it("says nothing more after it was closed", async () => {
    const stream = await scripted.open();
    const { socket } = await server.peer(0);
    stream.close();
    socket.send(finalResults("too late", 0, 1));
    socket.terminate();
    await scripted.changes.until("the close", () => server.peers[0]?.isClosed === true);
    clock.advance(60_000);
    assert.deepEqual(listener.events, []);
    assert.equal(server.upgradeCount, 1);
  });
});
