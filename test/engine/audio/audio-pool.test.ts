import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { type TestContext, test } from "node:test";
import { MULAW_8K, PCM_24K } from "../../../engine/audio/audio-format.js";
import { type AudioFault, AudioPool } from "../../../engine/audio/audio-pool.js";
import { AudioThread } from "../../../engine/audio/audio-thread.js";
import { warmUp } from "../../../engine/audio/audio-worker.js";
import { AudioPoolClosedError } from "../../../engine/audio/conversion-queue.js";
import { decodeMulaw } from "../../../engine/audio/mulaw.js";
import { encodePcm } from "../../../engine/audio/sample-coding.js";
import { decodeSpeech, encodeSpeech } from "../../../engine/sandbox/telephone/tone-code.js";
import { type Clock, SystemClock } from "../../../engine/time/clock.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { DIE, HANG, THROW } from "./failing-audio-worker.js";
import { converted } from "./whole-audio.js";

const BATCH_DEADLINE_MS = 10_000;

const FAILING_WORKER = new URL("./failing-audio-worker.js", import.meta.url);
const TO_MULAW = { from: PCM_24K, to: MULAW_8K };

function startPool(t: TestContext, thread?: AudioThread, clock: Clock = new SystemClock()) {
  const faults = new EventEmitter<{ fault: [AudioFault] }>();
  const pool = new AudioPool({
    clock,
    onFault: (fault) => faults.emit("fault", fault),
    ...(thread === undefined ? {} : { thread }),
  });
  t.after(() => pool.close());
  return { pool, faults };
}

/** One beside that of the process. */
function ownThread(t: TestContext, worker?: URL): AudioThread {
  const thread = new AudioThread(worker);
  t.after(() => thread.end());
  return thread;
}

/** One sentence in progress, with its output so far. */
function sentence(pool: AudioPool, priority: "speech" | "background" = "speech") {
  const pieces: Uint8Array[] = [];
  const told = new EventEmitter<{ audio: []; end: []; failed: [Error] }>();
  const conversion = pool.open(TO_MULAW, priority, {
    onAudio: (audio) => {
      pieces.push(audio);
      told.emit("audio");
    },
    onEnd: () => told.emit("end"),
    onFailed: (error) => told.emit("failed", error),
  });
  return { conversion, told, heard: () => Buffer.concat(pieces) };
}

test("a thread is warm when it has decoded two seconds of MP3, which is silence", async () => {
  assert.ok((await warmUp()) > 2 * MULAW_8K.sampleRateHz);
});

test("many sentences at once: each is its own, the same bits as without a pool", async (t) => {
  const { pool } = startPool(t);
  const said = Array.from({ length: 12 }, (_, index) => `sentence ${index} is spoken now`);
  const running = said.map((text) => ({
    audio: encodePcm(encodeSpeech(text, 24_000), true),
    ...sentence(pool),
  }));
  const ended = Promise.all(running.map(({ told }) => once(told, "end")));
  const longest = Math.max(...running.map(({ audio }) => audio.length));
  for (let at = 0; at < longest; at += 4_801) {
    for (const { conversion, audio } of running) conversion.write(audio.subarray(at, at + 4_801));
    await new Promise(setImmediate);
  }
  for (const { conversion } of running) conversion.end();
  await ended;
  for (const [index, { audio, heard }] of running.entries()) {
    assert.deepEqual(heard(), Buffer.from(await converted(audio, TO_MULAW)));
    assert.equal(decodeSpeech(decodeMulaw(heard()), 8_000), said[index]);
  }
});

test("the beginning of a sentence arrives before its end is written", async (t) => {
  const { pool } = startPool(t);
  const { conversion, told, heard } = sentence(pool);
  conversion.write(new Uint8Array(9_600));
  await once(told, "audio");
  assert.ok(heard().length > 1_400, `${heard().length} bytes`);
});

test("a whole sentence of PCM becomes µ-law of the same length that says the same", async (t) => {
  const { pool } = startPool(t);
  const spoken = encodeSpeech("It is half past three.", 24_000);
  const mulaw = await pool.convert(encodePcm(spoken, true), TO_MULAW, "background");
  assert.equal(mulaw.length, Math.ceil(spoken.length / 3));
  assert.equal(decodeSpeech(decodeMulaw(mulaw), 8_000), "It is half past three.");
  await assert.rejects(pool.convert(new Uint8Array(0), TO_MULAW, "background"), /no audio/);
});

for (const [what, order] of [["throws", THROW] as const, ["dies", DIE] as const]) {
  test(`a worker that ${what}: work in progress fails with an error, and the next sentence is converted`, async (t) => {
    const { pool, faults } = startPool(t, ownThread(t, FAILING_WORKER));
    const begun = sentence(pool);
    begun.conversion.write(new Uint8Array(960));
    await once(begun.told, "audio");
    const failed = once(begun.told, "failed");
    const lost = once(faults, "fault");
    const cause = sentence(pool);
    cause.conversion.write(Uint8Array.of(order, 0));
    assert.equal((await lost)[0].kind, "batchLost");
    await failed;
    assert.equal((await pool.convert(new Uint8Array(960), TO_MULAW, "speech")).length, 160);
  });
}

test("a worker that hangs is replaced after its deadline", async (t) => {
  const clock = new VirtualClock();
  const { pool, faults } = startPool(t, ownThread(t, FAILING_WORKER), clock);
  await pool.ready;
  const hanging = sentence(pool);
  const failed = once(hanging.told, "failed");
  const lost = once(faults, "fault");
  hanging.conversion.write(Uint8Array.of(HANG, 0));
  clock.advance(BATCH_DEADLINE_MS);
  await Promise.all([lost, failed]);
  assert.equal((await pool.convert(new Uint8Array(960), TO_MULAW, "speech")).length, 160);
});

test("a closed pool refuses sentences and fails those under way", async (t) => {
  const { pool, faults } = startPool(t);
  const told: AudioFault[] = [];
  faults.on("fault", (fault) => told.push(fault));
  const waiting = Array.from({ length: 5 }, () =>
    pool.convert(new Uint8Array(960), TO_MULAW, "speech"),
  );
  const rejected = Promise.all(waiting.map((each) => assert.rejects(each, AudioPoolClosedError)));
  pool.close();
  await rejected;
  await pool.ready;
  assert.deepEqual(told, [], "that a thread ends which was to end is no fault");
  await assert.rejects(pool.convert(new Uint8Array(960), TO_MULAW, "speech"), AudioPoolClosedError);
});

test("what a sentence waits for a thread that is ready counts", async (t) => {
  const clock = new VirtualClock();
  const { pool } = startPool(t, undefined, clock);
  await pool.ready;
  const said = pool.convert(new Uint8Array(960), TO_MULAW, "speech");
  clock.advance(500);
  await said;
  const { waitLastMs, waitP95Ms } = pool.stats;
  assert.deepEqual([waitLastMs, waitP95Ms], [500, 500]);
});

test("a thread that cannot be started is reported, unless the pool was closed before", async (t) => {
  const kinds = async (isClosed: boolean) => {
    const { pool, faults } = startPool(t, ownThread(t, new URL("./no-worker.js", import.meta.url)));
    const told: string[] = [];
    faults.on("fault", ({ kind }) => told.push(kind));
    if (isClosed) pool.close();
    await pool.ready;
    return told;
  };
  assert.deepEqual(await kinds(false), ["threadLost"]);
  assert.deepEqual(await kinds(true), []);
});

test("what the first sentences wait for while the thread starts is not held against the next call", async (t) => {
  const clock = new VirtualClock();
  const { pool } = startPool(t, ownThread(t), clock);
  const convertTwo = () => [1, 2].map(() => pool.convert(new Uint8Array(6), TO_MULAW, "speech"));
  const first = convertTwo();
  clock.advance(500);
  assert.deepEqual(pool.stats, { stepsWaiting: 3, waitP95Ms: 0, waitLastMs: 0 });
  const sizes = (await Promise.all(first)).map(({ length }) => length);
  assert.deepEqual(sizes, [1, 1], "a single sample is sound");
  await pool.ready;
  await new Promise(setImmediate);
  const next = convertTwo();
  clock.advance(70);
  assert.deepEqual(pool.stats, { stepsWaiting: 3, waitP95Ms: 70, waitLastMs: 0 });
  await Promise.all(next);
});
