import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { SpeechStream } from "../../../../engine/vendors/contracts.js";
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

  it("is connected to anew, given the newest audio again, and in the end given up", async () => {
    const { listener, clock, changes, server } = scripted;
    for (const time of [1, 2]) {
      speak(DEAF_AFTER_MS);
      assert.equal(listener.lost.length, time);
      assert.equal(listener.lost[time - 1]?.fault, "timeout");
      clock.advance(100);
      const peer = await server.peer(time);
      await changes.until("the recovery", () => listener.deafMs.length === time);
      clock.advance(CAUGHT_UP_MS);
      await changes.until("what it is given again", () => peer.binaries.length > 10);
    }
    speak(DEAF_AFTER_MS);
    assert.deepEqual(
      listener.failed.map(({ fault }) => fault),
      ["timeout"],
    );
    await changes.until("the end", () => server.peers[2]?.isClosed);
    assert.equal(clock.pendingTimerCount, 0);
  });

  it("is given up, too, when it greets on each connection", async () => {
    const { listener, clock, changes, server } = scripted;
    for (const time of [1, 2, 3]) {
      const peer = await server.peer(time - 1);
      peer.socket.send(JSON.stringify({ type: "Metadata" }));
      // Tells that the greeting has come, and that nothing was heard.
      peer.socket.send(JSON.stringify({ type: "SpeechStarted", channel: [0, 1], timestamp: 1 }));
      await changes.until("the greeting", () => listener.events.at(-1) === "speechStarted");
      speak(DEAF_AFTER_MS);
      clock.advance(100);
      if (time === 3) break;
      await changes.until("the recovery", () => listener.deafMs.length === time);
      clock.advance(CAUGHT_UP_MS);
    }
    assert.deepEqual(
      listener.failed.map(({ fault }) => fault),
      ["timeout"],
    );
  });

  it("is connected to anew after the first sentence that it made nothing of, once", async () => {
    const { listener, clock, changes, server } = scripted;
    const isQuiet = (ms: number) => {
      for (let n = 0; n < ms / FRAME_MS; n += 1) stream.write(new Uint8Array(FRAME_BYTES).fill(1));
    };
    speak(2_600);
    isQuiet(1_600);
    assert.deepEqual(
      listener.lost.map(({ fault }) => fault),
      ["timeout"],
    );
    clock.advance(100);
    await server.peer(1);
    await changes.until("the recovery", () => listener.deafMs.length === 1);
    speak(1_000);
    isQuiet(1_600);
    assert.equal(listener.lost.length, 1);
    assert.deepEqual(listener.failed, []);
  });

  it("is left alone while it tells results, even without words", async () => {
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
    assert.equal(listener.lost.length, 1);
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
    assert.equal(listener.lost.length, 1);
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

  it("is not suspected while nobody speaks", () => {
    for (let n = 0; n < 1_000; n += 1) stream.write(new Uint8Array(FRAME_BYTES).fill(1));
    assert.deepEqual(scripted.listener.lost, []);
  });
});
