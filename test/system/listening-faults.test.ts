import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { DeepgramFault } from "../../engine/sandbox/faults.js";
import { closeOf, ended, repliesOf } from "./events.js";
import { OWN_VENDORS_ALLOWED, OwnVendors } from "./own-vendors.js";
import { TestServer } from "./test-server.js";

const REFUSALS: readonly DeepgramFault[] = [
  "unauthorized",
  "paymentRequired",
  "forbidden",
  "rateLimited",
  "serverError",
];
/** Oddities of the vendor that a caller must not notice. */
const ODDITIES: readonly DeepgramFault[] = [
  "neverSpeechFinal",
  "utteranceEndOnly",
  "doubleSpeechFinal",
  "emptyFinals",
  "falseSpeechStarted",
  "staleUtteranceEnd",
  "missingFlags",
  "unknownMessages",
  "noAnswerToClose",
];
const FAILED = "speech recognition failed";
const APOLOGY = "I am sorry, I could not answer that just now.";
const NOT_RECOGNIZED = "Sorry, I did not catch that.";
const CONCURRENT_MAX = 5;

let server: TestServer;
before(async () => {
  server = await TestServer.start({ environment: OWN_VENDORS_ALLOWED });
});
after(() => server.close());

describe("a recognizer that fails", { concurrency: CONCURRENT_MAX }, () => {
  test("an STT vendor that drops every connection is given up after some attempts", async (context) => {
    const own = await OwnVendors.of(server, context);
    const caller = await own.call();
    own.faults.deepgram = { fault: "dropMidCall" };
    const close = await closeOf(caller);
    assert.deepEqual(close, { code: 1011, reason: FAILED, error: FAILED });
    assert.equal((await own.endedCall()).status, "failed");
  });

  for (const fault of REFUSALS) {
    test(`a call that it refuses (${fault}) is announced in the agent's voice, and recorded as failed`, async (context) => {
      const own = await OwnVendors.of(server, context, { faults: { deepgram: { fault } } });
      const caller = own.dial();
      const close = await closeOf(caller);
      assert.deepEqual(close, { code: 1011, reason: FAILED, error: FAILED });
      assert.deepEqual(
        (await caller.playedReplies()).map(({ text }) => text),
        [APOLOGY],
      );
      const call = await own.endedCall();
      assert.equal(call.status, "failed");
      assert.equal(call.metadata["endReason"], "sttFailed");
      assert.ok(call.endedAtMs !== null);
    });
  }

  for (const fault of ["dropMidCall", "closeMidCall"] as const) {
    test(`${fault} while the caller speaks: STT reconnects and misses no word`, async (context) => {
      const own = await OwnVendors.of(server, context);
      const caller = await own.call();
      own.faults.deepgram = { fault, times: 1, after: 8 };
      await caller.say("say thank you very much");
      await caller.until(ended);
      assert.deepEqual(repliesOf(caller), ["thank you very much"]);
      assert.equal(own.faults.deepgram.fault, undefined, "the fault struck");
      await caller.hangUp();
      const call = await own.endedCall();
      assert.equal(call.status, "completed");
      assert.equal(typeof call.metadata["sttOutageMs"], "number");
    });

    test(`${fault} in silence has no effect`, async (context) => {
      const own = await OwnVendors.of(server, context);
      const caller = await own.call();
      own.faults.deepgram = { fault, times: 1 };
      await caller.play("a pause", Buffer.alloc(6_400));
      await caller.say("say ok");
      await caller.until(ended);
      assert.deepEqual(repliesOf(caller), ["ok"]);
      await caller.hangUp();
      assert.equal((await own.endedCall()).status, "completed");
    });
  }

  test("audio that STT cannot decode ends the call with the reason", async (context) => {
    const own = await OwnVendors.of(server, context);
    const caller = await own.call();
    own.faults.deepgram = { fault: "refuseAudio" };
    const close = await closeOf(caller);
    assert.deepEqual(close, { code: 1011, reason: FAILED, error: FAILED });
    assert.equal((await own.endedCall()).metadata["endReason"], "sttFailed");
  });

  test("some unreadable messages are survived", async (context) => {
    const own = await OwnVendors.of(server, context);
    const caller = await own.call();
    own.faults.deepgram = { fault: "garbageJson", times: 3 };
    await caller.say("say ok");
    await caller.until(ended);
    assert.deepEqual(repliesOf(caller), ["ok"]);
    await caller.hangUp();
    await own.endedCall();
  });

  test("a caller whose speech got no words from STT is asked to repeat it, and then gets a reply", async (context) => {
    const thresholds = { onUnrecognizedSpeech: "ask" } as const;
    const own = await OwnVendors.of(server, context, { agent: { thresholds } });
    const caller = await own.call();
    own.faults.deepgram = { fault: "dropUtterance", times: 1 };
    await caller.say("say thank you very much");
    await caller.until(ended);
    assert.deepEqual(repliesOf(caller), [NOT_RECOGNIZED]);
    const isSecond = () => caller.events.filter(ended).length === 2;
    await caller.say("say thank you very much");
    await caller.until(isSecond);
    assert.deepEqual(repliesOf(caller), [NOT_RECOGNIZED, "thank you very much"]);
    await caller.hangUp();
    const call = await own.endedCall();
    assert.equal(call.status, "completed");
    assert.deepEqual(
      call.transcript.map(({ role }) => role),
      ["assistant", "user", "assistant"],
    );
  });

  for (const fault of ODDITIES) {
    test(`${fault}: the caller is still understood and gets a reply`, async (context) => {
      const own = await OwnVendors.of(server, context, { faults: { deepgram: { fault } } });
      const caller = await own.call();
      await caller.say("say ok");
      await caller.until(ended);
      assert.equal(repliesOf(caller).at(-1), "ok");
      await caller.hangUp();
      const call = await own.endedCall();
      assert.equal(call.status, "completed");
      const said = call.transcript.filter(({ role }) => role === "user").map(({ text }) => text);
      assert.equal(said.join(" "), "say ok");
    });
  }
});
