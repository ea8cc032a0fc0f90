import assert from "node:assert/strict";
import { test } from "node:test";
import { PCM_8K } from "../../../engine/audio/audio-format.js";
import { decodeMulaw } from "../../../engine/audio/mulaw.js";
import type { CallAudio } from "../../../engine/calls/call-events.js";
import { ListenedCall, tapsTogether } from "../../../engine/calls/call-listening.js";
import { eventMessages } from "../../../engine/cluster/node-events.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { FORMAT, FRAME, sound } from "./recording/listened-recording.js";

const FRAME_MS = 20;
const LATE_MS = 500;

/** A call whose sound is published only while `isWatched`. */
function listenedCall(format = FORMAT) {
  const clock = new VirtualClock();
  const published: CallAudio[] = [];
  const state = { isWatched: false, looks: 0 };
  const log = new RecordingLogger();
  const call = new ListenedCall({
    orgId: "org",
    callId: "call",
    format,
    feed: {
      hasWatchers: (topic) => {
        assert.equal(topic, "org/call/audio");
        state.looks += 1;
        return state.isWatched;
      },
      publishAudio: (_topic, audio) => void published.push(audio),
    },
    recording: {
      clock,
      decodeMp3: () => Promise.reject(new Error("there is no MP3 here")),
      openConversion: () => {
        throw new Error("nothing here has another rate");
      },
    },
    log,
  });
  const play = (durationMs: number, value: number) => {
    for (let ms = 0; ms < durationMs; ms += FRAME_MS) {
      call.caller(sound(FRAME, value));
      call.agent(sound(FRAME, -value));
      clock.advance(FRAME_MS);
    }
  };
  return { call, clock, published, state, log, play };
}

test("while nobody listens nothing is mixed and no timer runs", () => {
  const { clock, published, state, play } = listenedCall();
  play(2_000, 1_000);
  assert.deepEqual(published, []);
  assert.equal(state.looks, 200, "one look for each frame");
  assert.equal(clock.pendingTimerCount, 0);
});

test("who listens hears both sides at their places within half a second, in pieces of 100 ms at most", () => {
  const { clock, published, state, play } = listenedCall();
  play(1_000, 1_000);
  state.isWatched = true;
  play(2_000, 4_000);
  const pieces = published.map(({ audio }) => decodeMulaw(Buffer.from(audio, "base64")));
  assert.ok(pieces.every(({ length }) => length <= 2 * 800));
  const samples = pieces.flatMap((piece) => [...piece]);
  const durationMs = samples.length / 2 / 8;
  assert.ok(durationMs >= 2_000 - LATE_MS, String(durationMs));
  const [left, right] = [samples.at(-2) ?? 0, samples.at(-1) ?? 0];
  assert.ok(Math.abs(left - 4_000) < 200, String(left));
  assert.ok(Math.abs(right + 4_000) < 200, String(right));
  state.isWatched = false;
  play(100, 4_000);
  published.length = 0;
  play(1_000, 4_000);
  assert.deepEqual(published, [], "the last one has left");
  assert.equal(clock.pendingTimerCount, 0);
});

test("at a high rate pieces are shorter, so that each fits into a message between servers", () => {
  const input = { ...PCM_8K, sampleRateHz: 48_000 };
  const { call, clock, published, state } = listenedCall({ ...FORMAT, input, speech: input });
  state.isWatched = true;
  for (let ms = 0; ms < 1_000; ms += FRAME_MS) {
    call.caller(sound(48 * FRAME_MS, 1_000));
    clock.advance(FRAME_MS);
  }
  call.end();
  const topic = `${"0".repeat(36)}/${"0".repeat(36)}/audio`;
  const pieces = published.filter(({ isLast }) => !isLast);
  assert.ok(pieces.length >= 20, `${pieces.length} pieces`);
  for (const piece of pieces) {
    assert.equal(eventMessages(topic, [{ ...piece, callId: "0".repeat(36) }]).length, 1);
  }
});

test("what the agent has not said yet is not heard after an interruption, and the end is told", () => {
  const { call, clock, published, state } = listenedCall();
  state.isWatched = true;
  call.caller(sound(FRAME, 0));
  call.agent(sound(8_000, 4_000));
  clock.advance(200);
  call.agentCut();
  clock.advance(3_000);
  const right = published.flatMap(({ audio }) =>
    [...decodeMulaw(Buffer.from(audio, "base64"))].filter((_, index) => index % 2 === 1),
  );
  const loudMs = right.filter((sample) => sample > 1_000).length / 8;
  assert.ok(Math.abs(loudMs - 200) <= 20, String(loudMs));
  call.end();
  assert.deepEqual(published.at(-1), {
    type: "audio",
    callId: "call",
    sampleRateHz: 8_000,
    audio: "",
    isLast: true,
  });
});

test("a recording and those who listen hear the same", () => {
  const heard: string[] = [];
  const tapOf = (name: string) => ({
    caller: () => void heard.push(`${name} caller`),
    agent: () => void heard.push(`${name} agent`),
    agentCut: () => void heard.push(`${name} cut`),
    end: () => void heard.push(`${name} end`),
  });
  const both = tapsTogether([tapOf("a"), tapOf("b")]);
  both.caller(sound(1));
  both.agent(sound(1));
  both.agentCut();
  both.end();
  const steps = ["caller", "agent", "cut", "end"];
  assert.deepEqual(
    heard,
    steps.flatMap((step) => [`a ${step}`, `b ${step}`]),
  );
});
