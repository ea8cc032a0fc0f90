import assert from "node:assert/strict";
import { test } from "node:test";
import { MULAW_8K, PCM_24K } from "../../../../engine/audio/audio-format.js";
import { encodeMulaw } from "../../../../engine/audio/mulaw.js";
import { FORMAT, FRAME, near, newRecording, RATE_HZ, sound } from "./listened-recording.js";

test("each side is at its position in the call: the caller up to its arrival, the agent from its sending on", () => {
  const { clock, sink, story, recording } = newRecording();
  clock.advance(500);
  recording.caller(sound(FRAME));
  clock.advance(300);
  recording.agent(sound(FRAME));
  recording.agent(sound(FRAME));
  clock.advance(5_000);
  recording.caller(sound(FRAME));
  clock.advance(20);
  recording.end();
  assert.deepEqual(story, ["whole"]);
  assert.equal(sink.samples, 5_820 * 8);
  near(sink.onsets[0][0], 480);
  near(sink.onsets[0][1], 5_780);
  near(sink.onsets[1][0], 800);
  assert.deepEqual(sink.loudSamples, [2 * FRAME, 2 * FRAME]);
});

test("what the agent has said ahead is cut where it is interrupted, and where the call ends", () => {
  const { clock, sink, recording } = newRecording();
  recording.agent(sound(RATE_HZ * 4));
  clock.advance(1_500);
  recording.agentCut();
  clock.advance(1_000);
  recording.agent(sound(RATE_HZ * 4));
  clock.advance(2_000);
  recording.end();
  assert.deepEqual(sink.onsets[1], [0, 2_500 * 8]);
  assert.equal(sink.loudSamples[1], 3_500 * 8);
  assert.equal(sink.samples, 4_500 * 8);
});

test("frames that come unevenly are one sound without a gap", () => {
  const { clock, sink, recording } = newRecording();
  const jitterMs = [0, 31, 4, 55, 12, 0, 48, 7];
  for (let index = 0; index < 500; index += 1) {
    const jitter = jitterMs[index % jitterMs.length] ?? 0;
    clock.after(100 + index * 20 + jitter, () => recording.caller(sound(FRAME)));
  }
  clock.advance(12_000);
  recording.end();
  assert.equal(sink.onsets[0].length, 1);
  near(sink.onsets[0][0], 80);
  assert.ok(Math.abs(sink.loudSamples[0] - 500 * FRAME) <= 8);
});

test("audio that the network held back for two seconds finds its place; a real silence stays one", () => {
  const { clock, sink, recording } = newRecording();
  const frames = (count: number) => {
    for (let index = 0; index < count; index += 1) {
      recording.caller(sound(FRAME));
      clock.advance(20);
    }
  };
  clock.advance(20);
  frames(50);
  clock.advance(1_980);
  for (let index = 0; index < 100; index += 1) recording.caller(sound(FRAME));
  frames(50);
  assert.equal(sink.onsets[0].length, 1);
  clock.advance(700);
  frames(200);
  recording.end();
  assert.equal(sink.onsets[0].length, 2);
  assert.ok(Math.abs(sink.loudSamples[0] - 400 * FRAME) <= 2 * FRAME);
});

for (const [stallMs, lostMs, saidFirstMs] of [
  [9_000, 0, 5_000],
  [10_000, 0, 5_020],
  [30_000, 20_000, 5_000],
] as const) {
  test(`audio that the network delayed for ${stallMs / 1_000} s and delivers at once is at its position; ${lostMs / 1_000} s of it are lost`, () => {
    const { clock, sink, story, recording } = newRecording();
    const startMs = clock.monotonicMs();
    const sayUntil = (endMs: number) => {
      while (clock.monotonicMs() - startMs < endMs) {
        clock.advance(20);
        recording.caller(sound(FRAME));
      }
    };
    sayUntil(saidFirstMs);
    clock.advance(1_000);
    recording.agent(sound(RATE_HZ));
    clock.advance(stallMs - 1_000);
    for (let late = 0; late < stallMs; late += 20) recording.caller(sound(FRAME));
    sayUntil(saidFirstMs + stallMs + 20_000);
    recording.end();
    const saidMs = saidFirstMs + 20_000 + stallMs - lostMs;
    const offByMs = Math.abs(sink.loudSamples[0] / 8 - saidMs);
    assert.ok(offByMs <= 2_000 && (lostMs > 0 || offByMs < 1), `off by ${offByMs} ms`);
    assert.equal(sink.onsets[0].length, lostMs > 0 ? 2 : 1);
    near(sink.onsets[0][0], 0);
    near(sink.onsets[1][0], saidFirstMs + 1_000);
    assert.equal(sink.samples, (saidFirstMs + 20_000 + stallMs) * 8);
    assert.ok(sink.largestBlock <= 2 * RATE_HZ * 4);
    assert.deepEqual(story, ["whole"]);
  });
}

test("words from before the call was ready, given all at once, end where the call was then", () => {
  const { clock, sink, recording } = newRecording();
  clock.advance(1_000);
  for (let index = 0; index < 20; index += 1) recording.caller(sound(FRAME));
  clock.advance(5_000);
  recording.end();
  near(sink.onsets[0][0], 600);
  assert.equal(sink.onsets[0].length, 1);
});

test("a leg that floods fills neither memory nor file", () => {
  const { clock, sink, recording } = newRecording();
  for (let second = 0; second < 10; second += 1) {
    for (let frame = 0; frame < 5_000; frame += 1) recording.caller(sound(FRAME));
    clock.advance(1_000);
    assert.ok(recording.bufferedSamples < 20 * RATE_HZ, String(recording.bufferedSamples));
  }
  recording.end();
  assert.equal(sink.samples, 10 * RATE_HZ);
});

test("audio in the smallest pieces fills no memory while they wait", () => {
  const { clock, sink, recording } = newRecording();
  clock.advance(9_000);
  for (let sample = 0; sample < 9_000 * 8; sample += 1) recording.caller(sound(1));
  clock.advance(5_000);
  assert.ok(recording.bufferedSamples <= 4_000);
  recording.end();
  assert.ok(sink.loudSamples[0] <= 4_000);
});

test("a recording whose disk is too slow ends with the reason, once", () => {
  const { clock, sink, story, recording } = newRecording();
  clock.advance(10_000);
  sink.takes = false;
  clock.advance(10_000);
  recording.caller(sound(FRAME));
  recording.agent(sound(FRAME));
  recording.end();
  assert.equal(story.length, 1);
  assert.match(story[0] ?? "", /^broken: .*disk/);
  assert.equal(clock.pendingTimerCount, 0);
  assert.equal(recording.bufferedSamples, 0);
});

test("more of the agent's speech than a call can have ahead ends the recording", () => {
  const { story, recording } = newRecording();
  for (let second = 0; second < 200; second += 1) recording.agent(sound(RATE_HZ));
  assert.equal(story.length, 1);
  assert.match(story[0] ?? "", /^broken: .*ahead/);
  assert.equal(recording.bufferedSamples, 0);
});

test("µ-law of the caller is recorded as the sound that it is", () => {
  const { clock, sink, recording } = newRecording({}, { ...FORMAT, input: MULAW_8K });
  clock.advance(100);
  recording.caller(encodeMulaw(new Int16Array(FRAME).fill(1_000)));
  recording.end();
  assert.equal(sink.loudSamples[0], FRAME);
});

test("a call that is sent in real time has a gap where the agent's next words are late at all", () => {
  const { clock, sink, recording } = newRecording();
  recording.agent(sound(FRAME));
  clock.advance(21);
  recording.agent(sound(FRAME));
  clock.advance(1_000);
  recording.end();
  assert.deepEqual(sink.onsets[1], [0, 21 * 8]);
});

test("140 seconds of the agent's speech may be ahead, and not a sample more", () => {
  const { story, recording } = newRecording();
  recording.agent(sound(140 * RATE_HZ));
  recording.agent(sound(1));
  assert.deepEqual(story, []);
  recording.agent(sound(1));
  assert.deepEqual(story, [
    "broken: more of the agent's audio was sent ahead than a recording holds",
  ]);
});

test("each second is written three seconds later while the caller is heard, twelve while not, and then in steps", () => {
  const { clock, sink, recording } = newRecording();
  const written: number[] = [];
  const listen = (seconds: number, isHeard: boolean) => {
    for (let second = 0; second < seconds; second += 1) {
      for (let frame = 0; frame < 50; frame += 1) {
        clock.advance(20);
        if (isHeard) recording.caller(sound(FRAME));
      }
      written.push(sink.samples / RATE_HZ);
    }
  };
  listen(6, true);
  assert.deepEqual(written.splice(0), [0, 0, 0, 1, 2, 3]);
  listen(14, false);
  assert.deepEqual(written.splice(0), [4, 5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 7, 8]);
  listen(10, true);
  assert.deepEqual(written.splice(0), [9, 11, 13, 15, 17, 19, 21, 23, 25, 27]);
  recording.end();
});

test("nothing is recorded after the end of a call, and the end is reported once", () => {
  const { clock, sink, story, recording } = newRecording();
  clock.advance(100);
  recording.end();
  recording.caller(sound(FRAME));
  recording.agent(sound(FRAME));
  clock.advance(5_000);
  recording.end();
  assert.deepEqual([story, sink.samples, clock.pendingTimerCount], [["whole"], 800, 0]);
  assert.deepEqual([sink.loudSamples, recording.bufferedSamples], [[0, 0], 0]);
});

test("for a browser in stream mode gaps up to 200 ms are hidden by its buffer, and not one more", () => {
  for (const [lateMs, onsets] of [
    [200, [0]],
    [201, [0, 221 * 8]],
  ] as const) {
    const { clock, sink, recording } = newRecording({}, { ...FORMAT, isPaced: false });
    recording.agent(sound(FRAME));
    clock.advance(20 + lateMs);
    recording.agent(sound(FRAME));
    clock.advance(1_000);
    recording.end();
    assert.deepEqual(sink.onsets[1], onsets);
  }
});

test("a recording that breaks off ends what is being converted for it", () => {
  const ends: string[] = [];
  const openConversion = () => ({
    write: () => {},
    end: () => void ends.push("ended"),
    drop: () => {},
  });
  const format = { ...FORMAT, speech: PCM_24K };
  const { clock, sink, recording, story } = newRecording({ openConversion }, format);
  recording.agent(sound(FRAME));
  sink.takes = false;
  clock.advance(20_000);
  assert.deepEqual(ends, ["ended"]);
  assert.deepEqual(story, [
    "broken: the disk is too slow for it, or it is as long as a file can be",
  ]);
});

test("a recording that breaks off holds nothing of what the caller has said", () => {
  const { clock, recording, story } = newRecording();
  clock.advance(20);
  recording.caller(sound(FRAME));
  clock.advance(2_480);
  assert.equal(recording.bufferedSamples, FRAME);
  for (let times = 0; times < 2; times += 1) recording.agent(sound(RATE_HZ * 141));
  assert.deepEqual([recording.bufferedSamples, story.length], [0, 1]);
});
