import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { beforeEach, describe, it } from "node:test";
import { PCM_16K } from "../../../../engine/audio/audio-format.js";
import type { ChainWatch } from "../../../../engine/vendors/chain/chain.js";
import { ChainedRecognizer } from "../../../../engine/vendors/chain/stt-chain.js";
import { VendorError } from "../../../../engine/vendors/contracts.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { RecordingListener } from "../recording-listener.js";
import { chainOf } from "./chain-of.js";
import { ScriptedRecognizer } from "./scripted-recognizer.js";

const OPTIONS = { language: "en", modelId: "any", format: PCM_16K, endpointingMs: 200 } as const;
const DOWN = new VendorError("one", "disconnected", "one: down");

describe("the only recognizer of a call", () => {
  let clock: VirtualClock;
  let recognizer: ScriptedRecognizer;
  let told: unknown[];
  let call: AbortController;
  let chain: ReturnType<typeof chained>;

  beforeEach(() => {
    clock = new VirtualClock();
    recognizer = new ScriptedRecognizer();
    told = [];
    call = new AbortController();
    chain = chained(recognizer);
  });

  function chained(...clients: readonly ScriptedRecognizer[]) {
    const watch: ChainWatch = {
      answered: (category, { vendor }) => told.push(["answered", category, vendor]),
      failed: (category, { vendor }, { message }, wasted) =>
        told.push(["failed", category, vendor, message, wasted]),
      hedged: () => undefined,
    };
    const [first, ...others] = clients.map((client, index) => {
      return { vendor: String(index), modelId: "own", client };
    });
    assert.ok(first);
    return chainOf("stt", clock, watch, [first, ...others]);
  }

  const open = (listener = new RecordingListener()) =>
    new ChainedRecognizer(chain, 3_000).open(OPTIONS, listener, call.signal);

  it("has nothing between it and the call, and has answered once it listens", async () => {
    const listener = new RecordingListener();
    const stream = await open(listener);
    assert.equal(stream, recognizer.newest);
    assert.equal(recognizer.newest.listener, listener);
    assert.deepEqual(told, [["answered", "stt", "0"]]);
    assert.equal(clock.pendingTimerCount, 0);
    assert.deepEqual(getEventListeners(call.signal, "abort"), []);
  });

  it("has no time limit, and its failures count for the next call", async () => {
    recognizer.isStalled = true;
    const opening = open();
    clock.advance(60_000);
    recognizer.answer();
    await opening;
    recognizer.isStalled = false;
    for (let time = 0; time < 3; time += 1) {
      recognizer.failures.push(DOWN);
      await assert.rejects(open(), DOWN);
    }
    assert.equal(chain.first.breaker.phase, "open");
    assert.deepEqual(told, [["answered", "stt", "0"]]);
  });

  it("leaves the next call to try where its call ends first, and waits longer where it has failed", async () => {
    for (const [isEnded, isSkipped] of [
      [true, false],
      [false, true],
    ] as const) {
      [recognizer, call] = [new ScriptedRecognizer(), new AbortController()];
      chain = chained(recognizer);
      const { breaker } = chain.first;
      breaker.failed({ fault: "unauthorized", retryAfterMs: undefined });
      clock.advance(5_000);
      recognizer.isStalled = isEnded;
      if (!isEnded) recognizer.failures.push(DOWN);
      const opening = open();
      assert.equal(breaker.phase, "halfOpen");
      if (isEnded) call.abort();
      await assert.rejects(opening);
      assert.equal(breaker.phase, "open");
      assert.equal(breaker.isSkipped, isSkipped);
      assert.equal(breaker.health.lastFault?.fault, isEnded ? "unauthorized" : "disconnected");
      if (!isSkipped) continue;
      clock.advance(9_999);
      assert.equal(breaker.isSkipped, true, "the pause is twice as long");
      clock.advance(1);
      assert.equal(breaker.isSkipped, false);
    }
  });

  it("of several leaves neither a timer nor a listener once it is connected", async () => {
    chain = chained(recognizer, new ScriptedRecognizer());
    const stream = await open();
    assert.equal(clock.pendingTimerCount, 0);
    assert.equal(getEventListeners(call.signal, "abort").length, 1);
    stream.close();
    assert.deepEqual(getEventListeners(call.signal, "abort"), []);
    assert.deepEqual(told, []);
  });
});
