import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { type TestContext, test } from "node:test";
import { type AudioFault, AudioPool } from "../../../engine/audio/audio-pool.js";
import { decodeMulaw, encodeMulaw } from "../../../engine/audio/mulaw.js";
import { decodePcm, encodePcm } from "../../../engine/audio/phone-encoding.js";
import { AudioPoolClosed } from "../../../engine/audio/speech-queue.js";
import { newUpsamplerHistory, upsample } from "../../../engine/audio/upsampler.js";
import { decodeSpeech, encodeSpeech } from "../../../engine/sandbox/tone-code.js";
import { type Clock, SystemClock } from "../../../engine/time/clock.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { DIE, HANG, THROW } from "./failing-audio-worker.js";

const FRAME_BYTES = 160;
const QUIET_FRAME = new Uint8Array(FRAME_BYTES).fill(0xff);
const FAILING_WORKER = new URL("./failing-audio-worker.js", import.meta.url);

function startPool(t: TestContext, worker?: URL, clock: Clock = new SystemClock()) {
  const faults = new EventEmitter<{ fault: [AudioFault] }>();
  const pool = new AudioPool({
    clock,
    onFault: (fault) => faults.emit("fault", fault),
    ...(worker === undefined ? {} : { worker }),
  });
  t.after(() => pool.close());
  return { pool, faults };
}

/** One call, and a promise of the moment at which it has been given so many bytes. */
function caller(pool: AudioPool) {
  const chunks: Uint8Array[] = [];
  const heard = new EventEmitter<{ pcm: [] }>();
  const stream = pool.inbound({
    encoding: "mulaw",
    onPcm: (pcm) => {
      chunks.push(pcm);
      heard.emit("pcm");
    },
  });
  const bytes = () => Buffer.concat(chunks);
  const untilBytes = async (count: number) => {
    while (bytes().length < count) await once(heard, "pcm");
    return bytes();
  };
  return { stream, bytes, untilBytes };
}

function frames(audio: Uint8Array): Uint8Array[] {
  return Array.from({ length: Math.ceil(audio.length / FRAME_BYTES) }, (_, at) =>
    audio.subarray(at * FRAME_BYTES, (at + 1) * FRAME_BYTES),
  );
}

function orderedTo(order: number): Uint8Array {
  const frame = Uint8Array.from(QUIET_FRAME);
  frame[FRAME_BYTES - 1] = order;
  return frame;
}

async function nextTurn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

test("many calls at once: each hears its own words, the same bits as one converter without a pool", async (t) => {
  const { pool } = startPool(t);
  const said = Array.from({ length: 12 }, (_, index) => `caller ${index} speaks now`);
  const calls = said.map((text) => ({
    text,
    audio: encodeMulaw(encodeSpeech(text, 8_000)),
    ...caller(pool),
  }));
  const longest = Math.max(...calls.map(({ audio }) => audio.length));
  for (let at = 0; at < longest; at += FRAME_BYTES) {
    for (const { stream, audio } of calls) stream.push(audio.subarray(at, at + FRAME_BYTES));
    if (at % (5 * FRAME_BYTES) === 0) await nextTurn();
  }
  for (const { text, audio, untilBytes, stream } of calls) {
    const pcm = decodePcm(await untilBytes(audio.length * 4), true);
    assert.deepEqual(pcm, upsample(decodeMulaw(audio), newUpsamplerHistory()));
    assert.equal(decodeSpeech(pcm, 16_000), text);
    assert.equal(stream.droppedMs, 0);
  }
  assert.ok(pool.stats.inboundBatches < calls.length * 10, "frames share their way");
});

test("a sentence of PCM becomes µ-law of the same length that says the same", async (t) => {
  const { pool } = startPool(t);
  for (const [from, rateHz] of [["pcm24k", 24_000] as const, ["pcm16k", 16_000] as const]) {
    const spoken = encodeSpeech("It is half past three.", rateHz);
    const mulaw = await pool.speech(encodePcm(spoken, true), { from, to: "mulaw" });
    assert.equal(mulaw.length, Math.ceil((spoken.length * 8_000) / rateHz));
    assert.equal(decodeSpeech(decodeMulaw(mulaw), 8_000), "It is half past three.");
  }
});

test("the sender's memory stays the sender's", async (t) => {
  const { pool } = startPool(t);
  const { stream, untilBytes } = caller(pool);
  const frame = encodeMulaw(encodeSpeech("yes", 8_000)).slice(0, FRAME_BYTES);
  const wanted = upsample(decodeMulaw(frame), newUpsamplerHistory());
  stream.push(frame);
  frame.fill(0);
  assert.deepEqual(decodePcm(await untilBytes(640), true), wanted);
  const cached = new Uint8Array(960);
  await pool.speech(cached, { from: "pcm24k", to: "mulaw" });
  assert.equal(cached.length, 960);
});

for (const [what, order] of [["throws", THROW] as const, ["dies", DIE] as const]) {
  test(`a worker that ${what}: its batch is lost and told, every call goes on`, async (t) => {
    const { pool, faults } = startPool(t, FAILING_WORKER);
    const one = caller(pool);
    const two = caller(pool);
    const lost = once(faults, "fault");
    one.stream.push(QUIET_FRAME);
    two.stream.push(orderedTo(order));
    const [fault] = await lost;
    assert.equal(fault.kind, "batchLost");
    assert.deepEqual([fault.calls, fault.audioMs], [2, 40]);
    assert.equal(pool.stats.batchesLost, 1);
    one.stream.push(QUIET_FRAME);
    two.stream.push(QUIET_FRAME);
    assert.equal((await one.untilBytes(640)).length, 640);
    assert.equal((await two.untilBytes(640)).length, 640);
  });

  test(`a worker that ${what} on a sentence: that sentence fails, the next is spoken`, async (t) => {
    const { pool } = startPool(t, FAILING_WORKER);
    const format = { from: "pcm8k", to: "mulaw" } as const;
    await assert.rejects(pool.speech(Uint8Array.of(order, 0), format));
    assert.equal((await pool.speech(new Uint8Array(320), format)).length, FRAME_BYTES);
  });
}

test("a worker that hangs is replaced after its deadline, and the calls go on", async (t) => {
  const clock = new VirtualClock();
  const { pool, faults } = startPool(t, FAILING_WORKER, clock);
  const { stream, untilBytes } = caller(pool);
  stream.push(QUIET_FRAME);
  await untilBytes(640);
  clock.advance(10);
  stream.push(orderedTo(HANG));
  await nextTurn();
  const lost = once(faults, "fault");
  stream.push(QUIET_FRAME);
  clock.advance(10_000);
  await lost;
  clock.advance(1_000);
  assert.equal((await untilBytes(1_280)).length, 1_280);
});

test("an ended call hears nothing more, though its audio is on its way", async (t) => {
  const { pool } = startPool(t);
  const ended = caller(pool);
  const other = caller(pool);
  ended.stream.push(QUIET_FRAME);
  other.stream.push(QUIET_FRAME);
  await nextTurn();
  ended.stream.close();
  await other.untilBytes(640);
  ended.stream.push(QUIET_FRAME);
  other.stream.push(QUIET_FRAME);
  await other.untilBytes(1_280);
  assert.equal(ended.bytes().length, 0);
  assert.equal(pool.stats.inboundLines, 1);
});

test("a closed pool refuses sentences, rejects those that wait and takes no audio", async (t) => {
  const { pool } = startPool(t);
  const format = { from: "pcm8k", to: "mulaw" } as const;
  const { stream, bytes } = caller(pool);
  stream.push(QUIET_FRAME);
  const waiting = Array.from({ length: 5 }, () => pool.speech(new Uint8Array(320), format));
  const rejected = Promise.all(
    waiting.map((sentence) => assert.rejects(sentence, AudioPoolClosed)),
  );
  await pool.close();
  await rejected;
  await assert.rejects(pool.speech(new Uint8Array(320), format), AudioPoolClosed);
  stream.push(QUIET_FRAME);
  await nextTurn();
  assert.equal(bytes().length, 0);
});

test("two lanes: calls are spread over both, and each keeps its order", async (t) => {
  const pool = new AudioPool({
    clock: new SystemClock(),
    onFault: assert.ifError,
    inboundThreads: 2,
  });
  t.after(() => pool.close());
  const audio = encodeMulaw(encodeSpeech("one after another", 8_000));
  const calls = Array.from({ length: 4 }, () => caller(pool));
  for (const frame of frames(audio)) {
    for (const { stream } of calls) stream.push(frame);
    await nextTurn();
  }
  for (const { untilBytes } of calls) {
    const pcm = decodePcm(await untilBytes(audio.length * 4), true);
    assert.equal(decodeSpeech(pcm, 16_000), "one after another");
  }
});

test("what the first sentence waits for while the threads start is not held against the next call", async (t) => {
  const clock = new VirtualClock();
  const { pool } = startPool(t, undefined, clock);
  const first = pool.speech(new Uint8Array(960), { from: "pcm24k", to: "mulaw" });
  clock.advance(500);
  await first;
  await nextTurn();
  const { speechWaitLastMs, speechWaitP95Ms } = pool.stats;
  assert.deepEqual([speechWaitLastMs, speechWaitP95Ms], [0, 0]);
});
