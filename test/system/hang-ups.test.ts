import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Caller } from "../../engine/sandbox/caller.js";
import type { JournalEntry } from "../../engine/sandbox/journal.js";
import { SeededRandom } from "../simulation/seeded-random.js";
import { closeOf, ended, spoke, stopped, understood } from "./events.js";
import { OWN_VENDORS_ALLOWED, OwnVendors } from "./own-vendors.js";
import { TestServer } from "./test-server.js";

const LONG_ANSWER = "count to 30";
const CALLERS = 50;
const SEED = 7;
const CONCURRENT_MAX = 5;

let server: TestServer;
before(async () => {
  server = await TestServer.start({ environment: OWN_VENDORS_ALLOWED });
});
after(() => server.close());

/** The point that a call reaches before the caller hangs up. */
const MOMENTS: Readonly<Record<string, (caller: Caller) => Promise<unknown>>> = {
  "while it is greeted": (caller) => caller.until(spoke),
  "while the server listens": async (caller) => {
    await caller.until(ended);
  },
  "in mid-sentence": async (caller) => {
    await caller.until(ended);
    const words = caller.say("what I meant to say is");
    words.catch(() => undefined);
    await caller.until((event) => event.type === "transcript" && !understood(event));
  },
  "while the model thinks": async (caller) => {
    await caller.until(ended);
    await caller.say("think");
    await caller.until(understood);
  },
  "while the assistant speaks": async (caller) => {
    await caller.until(ended);
    await caller.say(LONG_ANSWER);
    await caller.until(spoke);
  },
  "after an interruption": async (caller) => {
    await caller.until(ended);
    await caller.say(LONG_ANSWER);
    await caller.until(spoke);
    caller.say("wait a moment").catch(() => undefined);
    await caller.until(stopped);
  },
};

const GOODBYES: Readonly<Record<string, (caller: Caller) => Promise<void>>> = {
  "hangs up": (caller) => caller.hangUp(),
  "is cut off": async (caller) => {
    caller.drop();
    await closeOf(caller);
  },
};

function isQuestion({ vendor, kind }: JournalEntry): boolean {
  return vendor === "openai" && kind === "request";
}

/** STT costs by the minute: no stream may outlive its call. */
async function assertNobodyListens({
  sandbox,
  changes,
}: Pick<OwnVendors, "sandbox" | "changes">): Promise<void> {
  await changes.until("the recognizer's streams to be closed", () => {
    const entries = sandbox.journal.filter(({ vendor }) => vendor === "deepgram");
    const count = (kind: string) => entries.filter((entry) => entry.kind === kind).length;
    return count("opened") === count("closed") ? true : undefined;
  });
}

describe("a caller who hangs up", { concurrency: CONCURRENT_MAX }, () => {
  for (const [when, reach] of Object.entries(MOMENTS)) {
    for (const [how, leave] of Object.entries(GOODBYES)) {
      test(`${how} ${when}`, async (context) => {
        const own = await OwnVendors.of(server, context, {
          faults: { openai: { firstTokenMs: when.includes("thinks") ? 5_000 : 0 } },
          agent: { persona: { greeting: "Hello there." } },
        });
        const caller = await own.call();
        await reach(caller);
        await leave(caller);
        const call = await own.endedCall();
        assert.equal(call.status, "completed");
        assert.equal(call.metadata["endReason"], "callerLeft");
        assert.ok(call.endedAtMs !== null && call.durationSec !== null);
        await assertNobodyListens(own);
      });
    }
  }

  test("does not pay for an LLM reply that is being generated", async (context) => {
    const own = await OwnVendors.of(server, context, {
      faults: { openai: { firstTokenMs: 60_000 } },
    });
    const caller = await own.call();
    await caller.say("think");
    await caller.until(understood);
    await own.changes.until("the question", () => own.sandbox.journal.find(isQuestion));
    await caller.hangUp();
    await own.changes.until("the end of the request", () =>
      own.sandbox.journal.find(({ kind }) => kind === "aborted"),
    );
    await own.endedCall();
  });

  test("is disconnected while the connection to the STT vendor is being opened", async (context) => {
    const own = await OwnVendors.of(server, context, {
      faults: { deepgram: { fault: "stallHandshake" } },
    });
    const caller = own.dial();
    await server.changes.until("the call to be begun", async () => {
      const [call] = await server.calls(own.customer);
      return call;
    });
    caller.drop();
    const call = await own.endedCall();
    assert.equal(call.status, "completed");
    assert.equal(call.metadata["endReason"], "callerLeft");
  });
});

test("many connections that are dropped immediately leave nothing behind", async () => {
  const limited = await TestServer.start({ environment: { VOICE_CONNECTIONS_PER_MINUTE: "30" } });
  try {
    const customer = await limited.customer();
    await limited.agent(customer);
    const random = new SeededRandom(SEED);
    const storm = Array.from({ length: 60 }, async () => {
      const caller = limited.dial(customer);
      if (random.chance(0.5)) {
        await caller.until(({ type }) => type === "connected" || type === "closed");
      }
      caller.drop();
      return closeOf(caller);
    });
    const closes = await Promise.all(storm);
    assert.ok(closes.some(({ code }) => code === 4029));
    await limited.settled();
    await assertNobodyListens(limited);
    const calls = await limited.calls(customer);
    assert.ok(calls.length <= 30);
    const ends = await limited.endedCalls(customer, calls.length);
    assert.deepEqual([...new Set(ends.map(({ status }) => status))], ["completed"]);
  } finally {
    await limited.stop();
  }
});

test(`${CALLERS} concurrent callers who hang up at any moment leave nothing behind`, async (context) => {
  const own = await OwnVendors.of(server, context, {
    agent: { persona: { greeting: "Hello there." } },
    faults: { openai: { firstTokenMs: 100, tokenIntervalMs: 5 }, deepgram: { latencyMs: 20 } },
  });
  const random = new SeededRandom(SEED);
  const moments = Object.values(MOMENTS);
  const goodbyes = Object.values(GOODBYES);
  const calls = Array.from({ length: CALLERS }, async () => {
    const isHasty = random.chance(0.2);
    const reach = random.pick(moments);
    const leave = random.pick(goodbyes);
    const caller = Caller.dial({ url: server.url, apiKey: own.customer.apiKey });
    if (!isHasty) {
      await caller.until(({ type }) => type === "connected");
      await reach(caller);
    }
    await leave(caller);
  });
  await Promise.all(calls);
  await server.settled();
  await assertNobodyListens(own);
  const begun = await server.calls(own.customer);
  assert.ok(begun.length > CALLERS / 2);
  for (const call of await server.endedCalls(own.customer, begun.length)) {
    assert.equal(call.status, "completed", String(call.metadata["endReason"]));
    assert.ok(call.endedAtMs !== null);
  }
});
