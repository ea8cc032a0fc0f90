import assert from "node:assert/strict";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import type { Worker } from "node:worker_threads";
import type { AudioPool } from "../../engine/audio/audio-pool.js";
import { SPEECH_WAITING_MAX } from "../../engine/audio/speech-queue.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { eventually } from "./eventually.js";
import { heard, ring } from "./phone-line-up.js";
import { TestServer } from "./test-server.js";

/** Long enough for a thread that the queue does not run dry between two looks. */
const SECONDS_OF_WORK = 20;

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
  await eventually("the count to be heard", () => (/2\./.test(first.heard()) ? true : undefined));
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
  const refusal = await eventually("the refusal", () =>
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

/** More sentences than may wait, and another for each that is done, until what it gives is called. */
function fillQueue(pool: AudioPool): () => void {
  const stopping = new AbortController();
  const audio = new Uint8Array(2 * 24_000 * SECONDS_OF_WORK);
  const add = () => {
    pool.speech(audio, { from: "pcm24k", to: "mulaw" }, stopping.signal).then(
      () => setImmediate(add),
      () => undefined,
    );
  };
  for (let n = 0; n <= SPEECH_WAITING_MAX; n += 1) add();
  return () => stopping.abort();
}

test("a first call on a cold pool leaves room for the next", async (context) => {
  const server = await TestServer.start({ environment: { EVENT_LOOP_DELAY_MAX_MS: "10000" } });
  context.after(() => server.close());
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Hello there." } }, { tts: "edge" });
  const first = await ring(server, customer);
  await heard(first, "Hello there.");
  // Three looks of a second each would be enough to close the door.
  for (const words of ["say one moment please", "say I am still here"]) {
    await first.say(words);
    await heard(first, words.slice("say ".length));
    assert.equal(server.parley.calls.isReady, true);
  }
  const second = await ring(server, customer);
  await heard(second, "Hello there.");
  await Promise.all([first.hangUp(), second.hangUp()]);
  await server.endedCalls(customer, 2);
});
