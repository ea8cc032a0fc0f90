import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { CallReports } from "../../engine/calls/call-reports.js";
import type { ChatFault } from "../../engine/sandbox/faults.js";
import { SystemClock } from "../../engine/time/clock.js";
import type { CallRecord } from "../../storage/records.js";
import { closeOf, ended, repliesOf, spoke } from "./events.js";
import { OWN_VENDORS_ALLOWED, OwnVendors } from "./own-vendors.js";
import { TestServer } from "./test-server.js";

const VENDORS = ["openai", "groq", "ollama"] as const;
const APOLOGY = "I am sorry, I could not answer that just now.";

/** Faults that a retry may overcome: after one such response the caller still gets the reply. */
const PASSING: readonly ChatFault[] = [
  "rateLimited",
  "serverError",
  "overloaded",
  "disconnectBeforeFirstByte",
  "disconnectMidStream",
  "garbageJson",
  "errorMidStream",
  "emptyReply",
];
/** Faults that only the operator can fix. */
const LASTING: readonly ChatFault[] = ["unauthorized", "notFound", "badRequest"];
const CONCURRENT_MAX = 5;

/** The words of the last turn: on a busy machine a pause between two words may have ended an earlier turn. */
const lastWords = ({ transcript }: CallRecord) => transcript.slice(-2).map(({ text }) => text);

let server: TestServer;
before(async () => {
  server = await TestServer.start({ environment: OWN_VENDORS_ALLOWED });
});
after(() => server.close());

describe("a language model that fails", { concurrency: CONCURRENT_MAX }, () => {
  test("after three turns without an answer the call ends with the reason", async (context) => {
    const own = await OwnVendors.of(server, context, {
      faults: { openai: { fault: "serverError" } },
    });
    const caller = await own.call();
    for (const word of ["one", "two", "three"]) {
      await caller.say(word);
      await caller.until(ended);
    }
    const { code, error } = await closeOf(caller);
    assert.equal(code, 1011);
    assert.equal(error, "the language model failed");
    const call = await own.endedCall();
    assert.equal(call.status, "failed");
    assert.equal(call.transcript.length, 6);
  });

  test("a call in which every reply failed before the caller hung up is listed as needing attention", async (context) => {
    const own = await OwnVendors.of(server, context, {
      faults: { openai: { fault: "serverError" } },
    });
    const caller = await own.call();
    await caller.say("one");
    await caller.until(ended);
    assert.deepEqual(repliesOf(caller), [APOLOGY]);
    await caller.hangUp();
    const call = await own.endedCall();
    assert.equal(call.metadata["everyReplyFailed"], true);
    assert.deepEqual([call.status, call.metadata["endReason"]], ["failed", "callerLeft"]);
    const reports = new CallReports({ database: server.parley.database, clock: new SystemClock() });
    const page = { skip: 0, limit: 10 };
    const { items } = await reports.list(call.orgId, { ...page, attention: true });
    assert.deepEqual(
      items.map(({ id }) => id),
      [call.id],
    );
  });

  for (const llm of VENDORS) {
    for (const fault of PASSING) {
      test(`${llm}: ${fault} once is retried, and the caller hears the reply`, async (context) => {
        const own = await OwnVendors.of(server, context, { llm });
        const caller = await own.call();
        own.faults[llm] = { fault, times: 1 };
        await caller.say("say ok");
        await caller.until(ended);
        assert.deepEqual(repliesOf(caller), ["ok"]);
        assert.equal(own.faults[llm].fault, undefined, "the fault struck");
        await caller.hangUp();
        const call = await own.endedCall();
        assert.equal(call.status, "completed");
        assert.deepEqual(lastWords(call), ["say ok", "ok"]);
      });
    }

    for (const fault of llm === "openai" ? LASTING : LASTING.slice(0, 1)) {
      test(`${llm}: ${fault} ends the call after a spoken apology`, async (context) => {
        const own = await OwnVendors.of(server, context, { llm, faults: { [llm]: { fault } } });
        const caller = await own.call();
        // One word has no pause in which a busy machine could end the turn.
        await caller.say("hello");
        const close = await closeOf(caller);
        assert.deepEqual(repliesOf(caller), [APOLOGY]);
        const reason = "the language model failed";
        assert.deepEqual(close, { code: 1011, reason, error: reason });
        const call = await own.endedCall();
        assert.equal(call.status, "failed");
        assert.equal(call.metadata["endReason"], "languageModelFailed");
        assert.deepEqual(lastWords(call), ["hello", APOLOGY]);
      });
    }

    test(`${llm}: a reply of 10,000 words is stopped when the caller interrupts`, async (context) => {
      const own = await OwnVendors.of(server, context, {
        llm,
        faults: { [llm]: { fault: "longReply" } },
      });
      const caller = await own.call();
      await caller.say("talk");
      await caller.until(spoke);
      await caller.play("a second of listening", Buffer.alloc(32_000));
      await caller.hangUp();
      const call = await own.endedCall();
      assert.equal(call.status, "completed");
      const [question, answer] = call.transcript.map(({ text }) => text);
      assert.equal(question, "talk");
      assert.match(answer ?? "", /^Sentence1 word2/);
      assert.ok((answer ?? "").length < 100, "only what was heard is kept");
      assert.ok(call.metrics.ttsChars < 1_000, `${call.metrics.ttsChars} characters were spoken`);
    });
  }

  test("a response that stays empty becomes an apology, and the call continues", async (context) => {
    const own = await OwnVendors.of(server, context, {
      faults: { openai: { fault: "emptyReply" } },
    });
    const caller = await own.call();
    await caller.say("say ok");
    await caller.until(ended);
    own.faults.openai = {};
    await caller.say("say yes");
    await caller.until(ended);
    assert.deepEqual(repliesOf(caller), [APOLOGY, "yes"]);
    await caller.hangUp();
    const call = await own.endedCall();
    assert.equal(call.status, "completed");
    const turns = call.metadata["turns"];
    assert.ok(Array.isArray(turns));
    assert.deepEqual(
      turns.map(({ kind, outcome }) => `${kind} ${outcome}`),
      ["reply failed", "apology played", "reply played"],
    );
  });

  test("a reply whose stream breaks after its first sentence ends there, and the caller gets an apology", async (context) => {
    const own = await OwnVendors.of(server, context, {
      faults: { openai: { fault: "disconnectMidStream", tokenIntervalMs: 150 } },
    });
    const caller = await own.call();
    await caller.say("say Absolutely. There is more to tell.");
    await caller.until(ended);
    assert.deepEqual(repliesOf(caller), ["Absolutely."]);
    await caller.until(({ type }) => type === "error");
    const error = caller.events.find((event) => event.type === "error");
    assert.equal(error?.payload.message, "the reply was cut short");
    await caller.hangUp();
    const call = await own.endedCall();
    assert.equal(call.status, "completed");
    assert.equal(call.transcript.at(-1)?.text, "Absolutely.");
  });
});
