import assert from "node:assert/strict";
import { once, setMaxListeners } from "node:events";
import { type TestContext, test } from "node:test";
import type { Worker } from "node:worker_threads";
import type { AudioPool } from "../../engine/audio/audio-pool.js";
import { SPEECH_WAITING_MAX } from "../../engine/audio/speech-queue.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { VirtualClock } from "../doubles/virtual-clock.js";
import { heard, ring } from "./telephone-stand.js";
import { TestServer } from "./test-server.js";

/** Long enough for a thread that a full queue is worth the name. */
const SECONDS_OF_WORK = 20;
/** More promises than lie between the end of a sentence and the next one's turn. */
const HOPS_MAX = 20;
const FRAME_BYTES = 160;

/** The threads that begin while it watches, the living ones; the server's others begin with it. */
function watchThreads(context: TestContext): Set<Worker> {
  const threads = new Set<Worker>();
  const onWorker = (worker: Worker) => {
    threads.add(worker);
    worker.once("exit", () => threads.delete(worker));
  };
  process.on("worker", onWorker);
  context.after(() => process.off("worker", onWorker));
  return threads;
}

async function killAll(threads: ReadonlySet<Worker>): Promise<void> {
  assert.ok(threads.size > 0);
  const killed = [...threads];
  const exits = killed.map((thread) => once(thread, "exit"));
  for (const thread of killed) void thread.terminate();
  await Promise.all(exits);
}

test("calls go on though the threads of the audio pool die, idle and at work", async (context) => {
  const log = new RecordingLogger();
  const server = await TestServer.start({ log });
  context.after(() => server.close());
  const threads = watchThreads(context);
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Hello there." } }, { tts: "edge" });
  const callers = await Promise.all([ring(server, customer), ring(server, customer)]);
  await Promise.all(callers.map((caller) => heard(caller, "Hello there.")));

  await killAll(threads);
  for (const caller of callers) {
    await caller.say("say thank you");
    await heard(caller, "thank you");
  }

  const [first, second] = callers;
  assert.ok(first && second);
  await first.say("count to 20");
  await heard(first, "Number 2.");
  await killAll(threads);
  await second.say("say well done");
  await heard(second, "well done");
  assert.ok(threads.size > 0, "others have taken their place");
  await first.hangUp();
  await second.hangUp();
  const calls = await server.endedCalls(customer, 2);
  assert.ok(calls.every(({ status }) => status === "completed"));
  const faults = log.ofLevel("error").map(({ message }) => message);
  assert.ok(
    faults.every((message) => /thread of the audio pool failed; calls go on/.test(message)),
  );
});

test("a full queue of sentences costs a call one of its own, and the call goes on", async (context) => {
  const log = new RecordingLogger();
  const environment = { EVENT_LOOP_DELAY_MAX_MS: "0" };
  const server = await TestServer.start({ log, environment });
  context.after(() => server.close());
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Hello there." } }, { tts: "edge" });
  const caller = await ring(server, customer);
  await heard(caller, "Hello there.");

  const emptyQueue = fillQueue(server.parley.calls.audioPool());
  await caller.say("say this is refused");
  const refusal = await server.changes.until("the refusal", () =>
    log.lines.find(({ message }) => message === "vendor request failed"),
  );
  const { vendor, fault } = refusal.fields;
  assert.deepEqual([vendor, fault], ["audioPool", "unavailable"], "not the vendor's fault");
  emptyQueue();
  await caller.say("say all is well");
  await heard(caller, "all is well");
  await caller.hangUp();
  assert.equal((await server.endedCall(customer)).status, "completed");
});

/** As many sentences as may wait, and another for each that is done before anyone else has a turn, until what it gives is called. */
function fillQueue(pool: AudioPool): () => void {
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  const audio = new Uint8Array(2 * 24_000 * SECONDS_OF_WORK);
  const add = (): void => {
    pool
      .speech(audio, { from: "pcm24k", to: "mulaw" }, stopping.signal)
      .then(refill, () => undefined);
  };
  // The queue moves up just after the one that is done has told so, within the same turn of the event loop.
  const refill = async (): Promise<void> => {
    for (let hop = 0; hop < HOPS_MAX && pool.stats.speechWaiting >= SPEECH_WAITING_MAX; hop += 1) {
      await Promise.resolve();
    }
    while (!stopping.signal.aborted && pool.stats.speechWaiting < SPEECH_WAITING_MAX) add();
  };
  add();
  void refill();
  return () => stopping.abort();
}

test("a first call on a cold pool leaves room for the next", async (context) => {
  const clock = new VirtualClock();
  const environment = { EVENT_LOOP_DELAY_MAX_MS: "10000" };
  const server = await TestServer.start({ clock, environment });
  context.after(() => server.close());
  const pool = server.parley.calls.audioPool();
  const wasHeard = new Promise<void>((onHeard) => {
    const stream = pool.inbound({ encoding: "mulaw", onPcm: () => onHeard() });
    stream.push(new Uint8Array(FRAME_BYTES));
  });
  const sentence = pool.speech(new Uint8Array(960), { from: "pcm24k", to: "mulaw" });
  // No thread starts within one turn of the event loop.
  clock.advance(500);
  await Promise.all([sentence, wasHeard]);
  for (let looks = 1; looks <= 3; looks += 1) {
    clock.advance(1_000);
    assert.equal(server.parley.calls.isReady, true, `after ${looks} looks`);
  }
});
