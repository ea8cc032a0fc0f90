import assert from "node:assert/strict";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import type { Worker } from "node:worker_threads";
import { MULAW_8K, PCM_24K } from "../../engine/audio/audio-format.js";
import type { AudioPool } from "../../engine/audio/audio-pool.js";
import { audioThread } from "../../engine/audio/audio-thread.js";
import type { Conversion } from "../../engine/audio/conversion-queue.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { VirtualClock } from "../doubles/virtual-clock.js";
import { heard, ring } from "./telephone-stand.js";
import { TestServer } from "./test-server.js";

const STEPS_WAITING_MAX = 1_000;

/** A third of a second of speech. */
const PIECE_BYTES = 16 * 1024;
/** Limits the number of promise steps between the end of a piece and the next one's turn. */
const HOPS_MAX = 20;

/**
 * The living threads that were started since the call of this function; the audio pool's thread, or its replacement, is
 * the last. A thread left by an earlier server is ended first, so that the next server starts another.
 */
async function watchThreads(context: TestContext): Promise<Worker[]> {
  await audioThread().end();
  const threads: Worker[] = [];
  const onWorker = (worker: Worker) => {
    threads.push(worker);
    worker.once("exit", () => threads.splice(threads.indexOf(worker), 1));
  };
  process.on("worker", onWorker);
  context.after(() => process.off("worker", onWorker));
  return threads;
}

async function killLast(threads: readonly Worker[]): Promise<void> {
  const last = threads.at(-1);
  assert.ok(last);
  const exit = once(last, "exit");
  void last.terminate();
  await exit;
}

test("calls continue if threads of the audio pool die, idle or at work", async (context) => {
  const log = new RecordingLogger();
  const threads = await watchThreads(context);
  const server = await TestServer.start({ log });
  context.after(() => server.close());
  const threadCount = threads.length;
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Hello there." } }, { tts: "edge" });
  const callers = await Promise.all([ring(server, customer), ring(server, customer)]);
  await Promise.all(callers.map((caller) => heard(caller, "Hello there.")));

  await killLast(threads);
  for (const caller of callers) {
    await caller.say("say thank you");
    await heard(caller, "thank you");
  }

  const [first, second] = callers;
  assert.ok(first && second);
  await first.say("count to 20");
  await heard(first, "Number 2.");
  await killLast(threads);
  await second.say("say well done");
  await heard(second, "well done");
  assert.equal(threads.length, threadCount, "another has taken its place");
  await first.hangUp();
  await second.hangUp();
  const calls = await server.endedCalls(customer, 2);
  assert.ok(calls.every(({ status }) => status === "completed"));
  const faults = log.ofLevel("error").map(({ message }) => message);
  assert.ok(faults.every((message) => /audio thread failed; calls continue/.test(message)));
});

test("a full queue of sentences costs a call one sentence, and the call continues", async (context) => {
  const log = new RecordingLogger();
  const environment = { EVENT_LOOP_DELAY_MAX_MS: "0" };
  const server = await TestServer.start({ log, environment });
  context.after(() => server.close());
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Hello there." } }, { tts: "edge" });
  const caller = await ring(server, customer);
  await heard(caller, "Hello there.");

  const emptyQueue = fillQueue(server.parley.calls.audioPool(), customer.tenant.organization.id);
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

/**
 * Fills one organization's queue to its limit, and adds a piece for each finished one before anything else can run,
 * until the returned function is called.
 */
function fillQueue(pool: AudioPool, orgId: string): () => void {
  const stopping = new AbortController();
  const audio = new Uint8Array(PIECE_BYTES);
  const filling = new Set<Conversion>();
  const add = (): void => {
    const conversion = pool.open(
      { from: PCM_24K, to: MULAW_8K },
      "speech",
      {
        onAudio: () => {
          conversion.drop();
          filling.delete(conversion);
          void refill();
        },
        onEnd: () => undefined,
        onFailed: () => undefined,
      },
      orgId,
    );
    filling.add(conversion);
    conversion.write(audio);
  };
  // The queue advances just after a piece is done, within the same turn of the event loop.
  const refill = async (): Promise<void> => {
    for (let hop = 0; hop < HOPS_MAX && pool.stats.stepsWaiting >= STEPS_WAITING_MAX; hop += 1) {
      await Promise.resolve();
    }
    while (!stopping.signal.aborted && pool.stats.stepsWaiting < STEPS_WAITING_MAX) add();
  };
  void refill();
  return () => {
    stopping.abort();
    for (const conversion of filling) conversion.drop();
  };
}

test("a first call on a cold pool leaves room for the next", async (context) => {
  const clock = new VirtualClock();
  const environment = { EVENT_LOOP_DELAY_MAX_MS: "10000" };
  const server = await TestServer.start({ clock, environment });
  context.after(() => server.close());
  const pool = server.parley.calls.audioPool();
  const sentence = pool.convert(new Uint8Array(960), { from: PCM_24K, to: MULAW_8K }, "speech");
  // No thread can start within one turn of the event loop.
  clock.advance(500);
  await sentence;
  for (let looks = 1; looks <= 3; looks += 1) {
    clock.advance(1_000);
    assert.equal(server.parley.calls.isReady, true, `after ${looks} looks`);
  }
});
