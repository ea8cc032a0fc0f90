import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { EdgeFault, SandboxFaults, SpeechFault } from "../../engine/sandbox/faults.js";
import { closeOf, ended, repliesOf } from "./events.js";
import { OWN_VENDORS_ALLOWED, OwnVendors } from "./own-vendors.js";
import { TestServer } from "./test-server.js";

const PASSING: readonly SpeechFault[] = [
  "rateLimited",
  "serverError",
  "disconnectBeforeFirstByte",
  "disconnectMidStream",
  "garbage",
  "emptyAudio",
];
const PASSING_OF_EDGE: readonly EdgeFault[] = [
  "disconnectBeforeFirstByte",
  "disconnectMidStream",
  "garbage",
  "turnEndWithoutAudio",
  "closeWithoutTurnEnd",
];
const LONG_REPLY = "the table for four people is booked for you on friday evening";
const CONCURRENT_MAX = 5;

type SpeechVendor = "openai" | "elevenlabs" | "edge";

/** Assigns only the faults that the vendor supports: each list above is for one vendor. */
function spoilt(
  tts: SpeechVendor,
  settings: { readonly fault: string; readonly times?: number; readonly after?: number },
): Partial<SandboxFaults> {
  const vendor = tts === "openai" ? "openaiSpeech" : tts;
  return { [vendor]: settings };
}

let server: TestServer;
before(async () => {
  server = await TestServer.start({ environment: OWN_VENDORS_ALLOWED });
});
after(() => server.close());

describe("a voice that fails", { concurrency: CONCURRENT_MAX }, () => {
  for (const tts of ["openai", "elevenlabs"] as const) {
    test(`a voice that the vendor does not have is an error that callers are told: ${tts}`, async (context) => {
      const ttsConfig = { voice: "nosuchvoice" };
      const own = await OwnVendors.of(server, context, { tts, agent: { ttsConfig } });
      const caller = await own.call();
      await caller.say("say one");
      await caller.until(({ type }) => type === "error");
      await caller.hangUp();
    });
  }

  test("three replies that cannot be spoken are reported as errors, and end the call", async (context) => {
    const own = await OwnVendors.of(server, context, {
      faults: { openaiSpeech: { fault: "serverError" } },
    });
    const caller = await own.call();
    for (const word of ["one", "two"]) {
      await caller.say(`say ${word}`);
      await caller.until(({ type }) => type === "error");
    }
    await caller.say("say three");
    const { code, error } = await closeOf(caller);
    assert.equal(code, 1011);
    assert.equal(error, "speech synthesis failed");
    const told = caller.events.flatMap((event) =>
      event.type === "error" ? [event.payload.message] : [],
    );
    assert.deepEqual(told.slice(0, 2), Array(2).fill("the reply could not be spoken"));
    const call = await own.endedCall();
    assert.equal(call.status, "failed");
    assert.deepEqual(
      call.transcript.map(({ text }) => text),
      ["say one", "say two", "say three"],
    );
  });

  for (const tts of ["openai", "elevenlabs", "edge"] as const) {
    for (const fault of tts === "edge" ? PASSING_OF_EDGE : PASSING) {
      test(`${tts}: ${fault} once is retried, and the caller hears the reply`, async (context) => {
        const own = await OwnVendors.of(server, context, { tts });
        const caller = await own.call();
        Object.assign(own.faults, spoilt(tts, { fault, times: 1 }));
        await caller.say("say ok");
        await caller.until(ended);
        assert.deepEqual(
          (await caller.playedReplies()).map(({ text }) => text),
          ["ok"],
        );
        assert.ok(!JSON.stringify(own.faults).includes(fault), "the fault struck");
        await caller.hangUp();
        const call = await own.endedCall();
        assert.equal(call.status, "completed");
        assert.equal(call.transcript.at(-1)?.text, "ok");
      });
    }

    for (const fault of ["silentAudio", "halfAudio"] as const) {
      test(`${tts}: ${fault} once is retried, and the caller hears the whole reply`, async (context) => {
        const own = await OwnVendors.of(server, context, { tts });
        const caller = await own.call();
        Object.assign(own.faults, spoilt(tts, { fault, times: 1 }));
        await caller.say(`say ${LONG_REPLY}`);
        await caller.until(ended);
        const heard = (await caller.playedReplies()).map(({ text }) => text).join(" ");
        assert.ok(!JSON.stringify(own.faults).includes(fault), "the fault struck");
        await caller.hangUp();
        const { transcript } = await own.endedCall();
        assert.deepEqual([heard, transcript.at(-1)?.text], [LONG_REPLY, LONG_REPLY]);
      });
    }

    test(`${tts}: a refused request ends the call with the reason`, async (context) => {
      const faults = spoilt(tts, { fault: "unauthorized" });
      const own = await OwnVendors.of(server, context, { tts, faults });
      const caller = await own.call();
      await caller.say("say ok");
      const close = await closeOf(caller);
      const reason = "speech synthesis failed";
      assert.deepEqual(close, { code: 1011, reason, error: reason });
      const call = await own.endedCall();
      assert.equal(call.status, "failed");
      assert.equal(call.metadata["endReason"], "speechFailed");
      assert.deepEqual(
        call.transcript.map(({ text }) => text),
        ["say ok"],
        "text that was not heard is not in the transcript",
      );
    });

    test(`${tts}: a failure in the second sentence ends the reply with the first`, async (context) => {
      const faults = spoilt(tts, { fault: "disconnectBeforeFirstByte", after: 1 });
      const own = await OwnVendors.of(server, context, { tts, faults });
      const caller = await own.call();
      await caller.say("say Absolutely. There is more to tell.");
      await caller.until(ended);
      assert.deepEqual(repliesOf(caller), ["Absolutely."]);
      await caller.until(({ type }) => type === "error");
      const error = caller.events.find((event) => event.type === "error");
      assert.equal(error?.payload.message, "the reply was cut short");
      Object.assign(own.faults, { openaiSpeech: {}, elevenlabs: {}, edge: {} });
      await caller.say("say ok");
      await caller.until(ended);
      await caller.hangUp();
      const call = await own.endedCall();
      assert.equal(call.status, "completed");
      assert.equal(call.transcript.at(-3)?.text, "Absolutely.");
      assert.equal(call.transcript.at(-1)?.text, "ok");
    });
  }

  for (const fault of ["rateLimited", "serverError"] as const) {
    test(`edge: a connection refused as ${fault} is retried`, async (context) => {
      // The first attempt is the connection that is opened in advance when the call begins.
      const faults = spoilt("edge", { fault, times: 2 });
      const own = await OwnVendors.of(server, context, { tts: "edge", faults });
      const caller = await own.call();
      await caller.say("say ok");
      await caller.until(ended);
      assert.equal(own.faults.edge.fault, undefined, "the fault struck");
      assert.deepEqual(repliesOf(caller), ["ok"]);
      await caller.hangUp();
      await own.endedCall();
    });
  }

  test("a call whose greeting cannot be spoken continues", async (context) => {
    const own = await OwnVendors.of(server, context, {
      faults: { openaiSpeech: { fault: "serverError" } },
      agent: { persona: { greeting: "Hello there." } },
    });
    const caller = await own.call();
    await caller.until(({ type }) => type === "error");
    own.faults.openaiSpeech = {};
    await caller.say("say ok");
    await caller.until(ended);
    await caller.hangUp();
    assert.deepEqual(
      (await own.endedCall()).transcript.map(({ text }) => text),
      ["say ok", "ok"],
    );
  });
});
