import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  type PhoneCaller,
  type PhoneCallerOptions,
  phoneFrames,
} from "../../engine/sandbox/telephone/phone-caller.js";
import type { CallRecord } from "../../storage/records.js";
import { cleared, closeOfPhone, closeServer, heard, PacerWatch, ring } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";

const clock = new PacerWatch();
let server: TestServer;
before(async () => {
  server = await TestServer.start({ clock });
});
after(() => closeServer(server, clock));

async function customerWithAgent(): Promise<Customer> {
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Hello there." } });
  return customer;
}

/** A call with faults of the vendor, and its stored record. */
async function spoilt(
  options: PhoneCallerOptions,
  go: (caller: PhoneCaller) => Promise<void>,
): Promise<{ caller: PhoneCaller; call: CallRecord }> {
  const customer = await customerWithAgent();
  const caller = await ring(server, customer, options);
  await go(caller);
  await caller.hangUp();
  return { caller, call: await server.endedCall(customer) };
}

const lines = ({ transcript }: CallRecord) =>
  transcript.map(({ role, text }) => `${role}: ${text}`);
const CHAT = ["assistant: Hello there.", "user: say thank you", "assistant: thank you"];

async function chat(caller: PhoneCaller): Promise<void> {
  await heard(caller, "Hello there.");
  await caller.say("say thank you");
  await heard(caller, "thank you");
}

const media = (caller: PhoneCaller, payload: string) =>
  JSON.stringify({
    event: "media",
    streamSid: caller.streamSid,
    media: { track: "inbound", payload },
  });

describe("a call continues", { concurrency: true }, () => {
  test("when audio comes before the start", async () => {
    const { call } = await spoilt({ faults: { mediaBeforeStart: 50 } }, chat);
    assert.deepEqual(lines(call), CHAT);
  });

  test("when frames are lost and sequence numbers jump", async () => {
    const { call } = await spoilt({ faults: { sequenceGapEvery: 40 } }, async (caller) => {
      await heard(caller, "Hello there.");
      // A lost frame destroys the word that it belongs to; at most one of 38 frames is lost.
      await caller.say("hello hello hello");
      await heard(caller, "message number 1");
    });
    assert.equal(call.status, "completed");
    assert.equal(call.transcript[1]?.role, "user");
  });

  test("when sequence numbers repeat, go back, or are invalid", async () => {
    const { call } = await spoilt({}, async (caller) => {
      await heard(caller, "Hello there.");
      for (const chunk of ["7", "7", "3", "-1", "x", "99999999999999999999", ""]) {
        const payload = Buffer.alloc(160, 0xff).toString("base64");
        const place = { track: "inbound", chunk, timestamp: chunk };
        const message = { event: "media", sequenceNumber: chunk, media: { ...place, payload } };
        caller.send(JSON.stringify(message));
      }
      await chat(caller);
    });
    assert.deepEqual(lines(call), CHAT);
  });

  test("when frames have unusual sizes: empty, one byte, a second", async () => {
    const { call } = await spoilt({}, async (caller) => {
      await heard(caller, "Hello there.");
      for (const size of [0, 1, 7, 161, 8000, 40_000]) {
        caller.send(media(caller, Buffer.alloc(size, 0xff).toString("base64")));
      }
      await chat(caller);
    });
    assert.deepEqual(lines(call), CHAT);
  });

  test("when audio is not base64 and messages are unknown", async () => {
    const { call } = await spoilt({}, async (caller) => {
      await heard(caller, "Hello there.");
      for (const payload of ["!!!!", "a", "////=/", "\u0000", "{}", "é"]) {
        caller.send(media(caller, payload));
      }
      for (const text of [
        "",
        "{",
        "null",
        "[]",
        '{"event":1}',
        '{"event":"media"}',
        "x".repeat(70_000),
      ]) {
        caller.send(text);
      }
      caller.send(Buffer.alloc(160, 0xff));
      caller.send('{"event":"dtmf","dtmf":{"digit":"banana"}}');
      caller.send('{"event":"mark","mark":{"name":"../.."}}');
      await chat(caller);
    });
    assert.deepEqual(lines(call), CHAT);
  });

  test("when a second start arrives, with another token and another stream", async () => {
    const { caller, call } = await spoilt({}, async (phone) => {
      await heard(phone, "Hello there.");
      const start = { streamSid: "MZother", callSid: "CAother", customParameters: { token: "00" } };
      phone.send(JSON.stringify({ event: "start", streamSid: "MZother", start }));
      await chat(phone);
    });
    assert.deepEqual(lines(call), CHAT);
    assert.deepEqual(
      caller.events.filter(({ type }) => type === "dropped"),
      [],
    );
  });

  test("when marks never return: a turn ends by the clock, and the next one works", async () => {
    const customer = await customerWithAgent();
    const caller = await ring(server, customer, { faults: { marksNeverReturn: true } });
    const spoken = (name: string) =>
      caller.until((event) => "name" in event && event.name === name);
    await spoken("1.0");
    await caller.say("say thank you");
    await spoken("2.0");
    await caller.say("say bye");
    await spoken("3.0");
    await caller.hangUp();
    const call = await server.endedCall(customer);
    assert.equal(lines(call)[1], "user: say thank you");
    assert.equal(lines(call).filter((line) => line.startsWith("user")).length, 2);
  });

  test("when the network stalled and two seconds arrive at once", async () => {
    const { call } = await spoilt({}, async (caller) => {
      await heard(caller, "Hello there.");
      caller.burst("say two seconds of speech in one piece are well");
      await heard(caller, "two seconds of speech in one piece are well");
    });
    assert.equal(lines(call)[1], "user: say two seconds of speech in one piece are well");
  });

  for (const seconds of [3, 5, 10]) {
    test(`when a vendor floods it with ${seconds} s at once`, async () => {
      const { call } = await spoilt({}, async (caller) => {
        await heard(caller, "Hello there.");
        const silence = Buffer.alloc(160, 0xff).toString("base64");
        const speech = phoneFrames("say flooded");
        for (const payload of [...speech, ...Array.from({ length: seconds * 50 }, () => silence)]) {
          caller.send(media(caller, payload));
        }
        await heard(caller, "flooded");
      });
      assert.equal(lines(call)[1], "user: say flooded");
    });
  }

  test("when a vendor floods it with pound keys, which become a few turns, not one each", async () => {
    const { call } = await spoilt({}, async (caller) => {
      await heard(caller, "Hello there.");
      for (let key = 0; key < 2_000; key += 1) caller.press("#");
      await caller.say("say still here");
      await heard(caller, "still here");
    });
    const said = lines(call).filter((line) => line.startsWith("user: "));
    assert.equal(said[0], "user: [keypad] #");
    assert.ok(said.length < 20, `${said.length} turns`);
  });
});

describe("a vendor's stop ends the call", { concurrency: true }, () => {
  const MOMENTS: Readonly<Record<string, (caller: PhoneCaller) => Promise<unknown>>> = {
    "right after the start": () => Promise.resolve(),
    "while the agent greets": (caller) => caller.until(({ type }) => type === "audio"),
    "while the agent listens": (caller) => heard(caller, "Hello there."),
    "while the caller speaks": async (caller) => {
      await heard(caller, "Hello there.");
      caller.say("this is never said to its end").catch(() => undefined);
      await new Promise(setImmediate);
    },
    "while the agent speaks": async (caller) => {
      await heard(caller, "Hello there.");
      await caller.say("count to 20");
      await heard(caller, "Number 1.");
    },
    "after an interruption": async (caller) => {
      await heard(caller, "Hello there.");
      await caller.say("count to 20");
      await heard(caller, "Number 1.");
      caller.say("wait a moment").catch(() => undefined);
      await caller.until(cleared);
    },
  };
  const WAYS: Readonly<Record<string, PhoneCallerOptions["faults"]>> = {
    "with a stop": {},
    "with a stop and an open socket": { stopWithoutClose: true },
    "with only a close": { closeWithoutStop: true },
  };
  for (const [when, reach] of Object.entries(MOMENTS)) {
    for (const [how, faults] of Object.entries(WAYS)) {
      test(`${when}, ${how}`, async () => {
        const customer = await customerWithAgent();
        const caller = await ring(server, customer, faults === undefined ? {} : { faults });
        await reach(caller);
        await caller.hangUp();
        await closeOfPhone(caller);
        const [call] = await server.calls(customer);
        if (call === undefined) return assert.equal(when, "right after the start");
        const { status, metadata } = await server.endedCall(customer);
        assert.equal(status, "completed");
        assert.equal(metadata["endReason"], "callerLeft");
      });
    }
  }

  test("a connection that breaks ends the call, too", async () => {
    const customer = await customerWithAgent();
    const caller = await ring(server, customer);
    await heard(caller, "Hello there.");
    caller.drop();
    const { status } = await server.endedCall(customer);
    assert.equal(status, "completed");
  });
});
