import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { SpeechStream } from "../../../../engine/vendors/contracts.js";
import { LOUD } from "../../../doubles/voiced-frames.js";
import {
  FRAME_BYTES,
  finalResults,
  interimResults,
  ScriptedDeepgram,
} from "../deepgram/scripted-deepgram.js";

const VOICE_UNHEARD_MAX_MS = 3_000;

const FRAME_MS = 20;
const SYLLABLE_FRAMES = 9;
const PAUSE_FRAMES = 3;

/** A caller who goes on and on, as a loud buzz with pauses between the syllables. */
function voice(durationMs: number): Uint8Array[] {
  return Array.from({ length: durationMs / FRAME_MS }, (_, n) => {
    const isVoiced = n % (SYLLABLE_FRAMES + PAUSE_FRAMES) < SYLLABLE_FRAMES;
    const pcm = Int16Array.from({ length: FRAME_BYTES / 2 }, (_sample, at) =>
      isVoiced ? (at % 100 < 50 ? 3_000 : -3_000) : 3,
    );
    return new Uint8Array(pcm.buffer);
  });
}

/** Half of speech like this is loud for long enough to be taken for a voice. */
const DEAF_AFTER_MS = 2 * VOICE_UNHEARD_MAX_MS;

/** All that was said until a connection was there again has been sent to it. */
const CAUGHT_UP_MS = 4_000;

describe("a Deepgram that does not hear", () => {
  let scripted: ScriptedDeepgram;
  let stream: SpeechStream;

  beforeEach(async () => {
    scripted = new ScriptedDeepgram();
    await scripted.server.start();
    stream = await scripted.open();
    await scripted.server.peer(0);
  });

  afterEach(async () => {
    stream.close();
    await scripted.close();
  });

  const speak = (durationMs: number) => {
    for (const frame of voice(durationMs)) stream.write(frame);
  };

  /** A frame at a time, since the second connection is given again what was said at twice the pace. */
  const speakSlowly = (durationMs: number) => {
    for (const frame of voice(durationMs)) {
      stream.write(frame);
      scripted.clock.advance(FRAME_MS);
    }
  };

  const isQuiet = (ms: number) => {
    for (let n = 0; n < ms / FRAME_MS; n += 1) stream.write(new Uint8Array(FRAME_BYTES).fill(1));
  };

  it("gets a parallel second connection with the newest audio, and has failed when that returns nothing either", async () => {
    const { listener, clock, changes, server } = scripted;
    speak(DEAF_AFTER_MS);
    const second = await server.peer(1);
    await changes.until("its beginning", () => second.binaries.length > 0);
    clock.advance(CAUGHT_UP_MS);
    await changes.until("what it is given again", () => second.binaries.length > 10);
    assert.deepEqual(listener.events, []);
    assert.equal((await server.peer(0)).isClosed, false);
    speakSlowly(DEAF_AFTER_MS);
    assert.deepEqual(listener.events, []);
    speakSlowly(DEAF_AFTER_MS);
    assert.deepEqual(
      listener.failed.map(({ fault }) => fault),
      ["timeout"],
    );
    await changes.until("the end", () => server.peers.every(({ isClosed }) => isClosed));
    assert.equal(server.upgradeCount, 2);
    assert.equal(clock.pendingTimerCount, 0);
  });

  it("is replaced by the second connection as soon as that returns words, and not before", async () => {
    const { listener, changes, server } = scripted;
    speak(DEAF_AFTER_MS);
    const second = await server.peer(1);
    second.socket.send(JSON.stringify({ type: "Metadata" }));
    second.socket.send(JSON.stringify({ type: "SpeechStarted", channel: [0, 1], timestamp: 1 }));
    second.socket.send(finalResults("", 0, 0.3));
    second.socket.send(finalResults("hello", 0.3, 1));
    await changes.until("the words", () => listener.transcripts.length === 1);
    assert.deepEqual(listener.events, ["lost", "recovered", "final"]);
    assert.equal(listener.lost[0]?.fault, "timeout");
    await changes.until("the first to be left", () => server.peers[0]?.isClosed);
    second.socket.send(finalResults("again", 1, 2));
    await changes.until("more", () => listener.finalText === "hello again");
  });

  it("is only slow if its own words come first, and continues alone", async () => {
    const { listener, changes, server } = scripted;
    speak(DEAF_AFTER_MS);
    const second = await server.peer(1);
    const first = await server.peer(0);
    first.socket.send(finalResults("hello", 0.3, 1));
    await changes.until("the second to be left", () => second.isClosed);
    assert.deepEqual(listener.events, ["final"]);
    first.socket.send(finalResults("again", 1, 2));
    await changes.until("more", () => listener.finalText === "hello again");
  });

  it("is replaced by the second connection when it breaks meanwhile", async () => {
    const { listener, changes, server } = scripted;
    speak(DEAF_AFTER_MS);
    const second = await server.peer(1);
    await changes.until("its beginning", () => second.binaries.length > 0);
    (await server.peer(0)).socket.terminate();
    await changes.until("the way back", () => listener.sttOutageMs.length === 1);
    assert.deepEqual(listener.events, ["lost", "recovered"]);
    second.socket.send(finalResults("hello", 0.3, 1));
    await changes.until("the words", () => listener.finalText === "hello");
    assert.equal(server.upgradeCount, 2);
  });

  for (const breaks of ["closes", "sends rubbish", "tells an error"]) {
    it(`continues if the second connection ${breaks}, and gets another one for more speech`, async () => {
      const { listener, changes, server } = scripted;
      speak(DEAF_AFTER_MS);
      const second = await server.peer(1);
      await changes.until("its beginning", () => second.binaries.length > 0);
      if (breaks === "closes") second.socket.close(1011);
      else second.socket.send(breaks === "tells an error" ? '{"type":"Error"}' : "[{");
      await changes.until("its end", () => second.isClosed);
      speak(DEAF_AFTER_MS);
      const third = await server.peer(2);
      third.socket.send(finalResults("hello", 0.3, 1));
      await changes.until("the words", () => listener.finalText === "hello");
    });
  }

  it("also fails if it sends a greeting on each connection", async () => {
    const { listener, server, changes } = scripted;
    const peer = await server.peer(0);
    for (const time of [1, 2, 3]) {
      peer.socket.send(JSON.stringify({ type: "Metadata" }));
      // Tells that the greeting has come, and that nothing was heard.
      peer.socket.send(JSON.stringify({ type: "SpeechStarted", channel: [0, 1], timestamp: 1 }));
      await changes.until("the greeting", () => listener.events.length === time);
      speakSlowly(DEAF_AFTER_MS);
    }
    assert.equal(listener.failed.length, 1);
  });

  it("gets a second connection after the first sentence that it made nothing of", async () => {
    const { listener, server } = scripted;
    speak(2_600);
    isQuiet(1_600);
    await server.peer(1);
    speak(1_000);
    isQuiet(1_600);
    assert.deepEqual(listener.events, []);
    assert.equal(server.upgradeCount, 2);
  });

  for (const waitMs of [3_000, 6_000]) {
    it(`fails within 20 s for a caller who says "Hello?" and waits ${waitMs} ms, again and again`, async () => {
      const { listener, server } = scripted;
      const helloMs = 560;
      isQuiet(400);
      let passedMs = 0;
      for (; passedMs < 20_000 && listener.failed.length === 0; passedMs += helloMs + waitMs) {
        for (let n = 0; n < helloMs / FRAME_MS; n += 1) stream.write(voice(FRAME_MS)[0] ?? LOUD);
        isQuiet(waitMs);
        if (passedMs === helloMs + waitMs) await server.peer(1);
      }
      assert.equal(listener.failed.length, 1, `after ${passedMs} ms`);
    });
  }

  it("is not given up for noises that are far apart", () => {
    isQuiet(400);
    for (let n = 0; n < 6; n += 1) {
      for (let at = 0; at < 560; at += FRAME_MS) stream.write(LOUD);
      isQuiet(16_000);
    }
    assert.deepEqual(scripted.listener.events, []);
  });

  it("is left alone while it returns results, even without words", async () => {
    const { listener, changes, server } = scripted;
    const peer = await server.peer(0);
    for (const step of [1, 2, 3, 4]) {
      speak(VOICE_UNHEARD_MAX_MS / 2);
      peer.socket.send(finalResults("", step, step + 1));
      await changes.until("the result", () => listener.transcripts.length === step);
    }
    assert.deepEqual(listener.lost, []);
  });

  it("is not believed for telling of a voice that starts, again and again", async () => {
    const { listener, changes, server } = scripted;
    const peer = await server.peer(0);
    for (const time of [1, 2, 3]) {
      speak(DEAF_AFTER_MS / 3 + 200);
      if (time < 3) {
        peer.socket.send(JSON.stringify({ type: "SpeechStarted", channel: [0, 1], timestamp: 1 }));
        await changes.until("the voice", () => listener.events.length === time);
      }
    }
    await server.peer(1);
    assert.deepEqual(listener.lost, []);
  });

  it("is not believed for messages that tell nothing", async () => {
    const { listener, changes, server } = scripted;
    const peer = await server.peer(0);
    for (const time of [1, 2, 3]) {
      speak(DEAF_AFTER_MS / 3 + 200);
      if (time === 3) break;
      for (const type of ["Metadata", "KeepAlive"]) peer.socket.send(JSON.stringify({ type }));
      peer.socket.send(JSON.stringify({ type: "SpeechStarted", channel: [0, 1], timestamp: 1 }));
      await changes.until("what comes behind them", () => listener.events.length === time);
    }
    await server.peer(1);
    assert.deepEqual(listener.lost, []);
  });

  it("is left alone while it guesses that there is no word yet", async () => {
    const { listener, changes, server } = scripted;
    const peer = await server.peer(0);
    for (const time of [1, 2, 3, 4]) {
      speak(VOICE_UNHEARD_MAX_MS / 2);
      peer.socket.send(interimResults());
      peer.socket.send(JSON.stringify({ type: "SpeechStarted", channel: [0, 1], timestamp: 1 }));
      await changes.until("what comes behind it", () => listener.events.length === time);
    }
    assert.deepEqual(listener.lost, []);
  });

  it("is not suspected in silence", () => {
    for (let n = 0; n < 1_000; n += 1) stream.write(new Uint8Array(FRAME_BYTES).fill(1));
    assert.deepEqual(scripted.listener.lost, []);
  });
});
