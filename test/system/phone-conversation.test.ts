import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { PhoneCaller } from "../../engine/sandbox/telephone/phone-caller.js";
import type { CallRecord } from "../../storage/records.js";
import { cleared, closeServer, heard, PacerWatch, ring } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";

const CALLERS = 20;

const clock = new PacerWatch();
let server: TestServer;
before(async () => {
  server = await TestServer.start({ clock });
});
after(() => closeServer(server, clock));

async function converse(customer: Customer): Promise<PhoneCaller> {
  const caller = await ring(server, customer);
  await heard(caller, "Hello there.");
  await caller.say("say thank you");
  await heard(caller, "thank you");
  await caller.say("count to 9");
  await heard(caller, "1.");
  const clear = caller.until(cleared);
  await caller.say("say bye");
  await clear;
  await heard(caller, "bye");
  await caller.hangUp();
  return caller;
}

const lines = (call: CallRecord) => call.transcript.map(({ role, text }) => `${role}: ${text}`);

function assertConversation(caller: PhoneCaller, call: CallRecord): void {
  const cut = call.transcript[4]?.text ?? "";
  assert.deepEqual(lines(call), [
    "assistant: Hello there.",
    "user: say thank you",
    "assistant: thank you",
    "user: count to 9",
    `assistant: ${cut}`,
    "user: say bye",
    "assistant: bye",
  ]);
  const played = caller
    .playedText()
    .split(" ")
    .slice("Hello there. thank you".split(" ").length, -1);
  const kept = cut.split(" ");
  assert.ok(kept.length > 1, cut);
  assert.deepEqual(kept.slice(0, played.length), played.slice(0, kept.length));
  const difference = Math.abs(kept.length - played.length);
  assert.ok(difference <= 1, `"${cut}" was kept of "${played.join(" ")}"`);
}

describe("a telephone call of three turns with an interruption", () => {
  let caller: PhoneCaller;
  let call: CallRecord;

  before(async () => {
    const customer = await server.customer();
    await server.agent(customer, { persona: { greeting: "Hello there." } });
    caller = await converse(customer);
    call = await server.endedCall(customer);
  });

  test("is stored with both sides' words as spoken, without the part that was not heard", () => {
    assertConversation(caller, call);
    assert.equal(call.channel, "phone");
    assert.equal(call.status, "completed");
    assert.equal(call.metadata["endReason"], "callerLeft");
    assert.equal(call.metrics.interruptions, 1);
    assert.equal(call.metrics.turnCount, 3);
  });

  test("has a mark after every sentence, and no message that the vendor would ignore", () => {
    const names = caller.events.flatMap((event) => (event.type === "mark" ? [event.name] : []));
    assert.equal(new Set(names).size, names.length);
    const turns = names.map((name) => name.split(".").map(Number));
    const inOrder = turns.toSorted(([t = 0, s = 0], [u = 0, r = 0]) => t - u || s - r);
    assert.deepEqual(turns, inOrder);
    assert.ok(names.length >= 4, names.join(" "));
    assert.deepEqual(
      caller.events.filter(({ type }) => type === "dropped"),
      [],
    );
  });

  test("sends one clear, and little of the interrupted audio had been sent ahead", () => {
    assert.equal(caller.events.filter(cleared).length, 1);
    const unheard = caller.said().length - caller.playedText().length;
    // 160 ms are four characters; the clear itself takes some time.
    assert.ok(unheard < 20, `${unheard} characters were sent and not heard`);
  });

  test("/metrics counts it as a telephone call", async () => {
    const page = await (await fetch(`${server.url}/metrics`)).text();
    assert.match(page, /^parley_calls_total\{channel="phone",reason="callerLeft"\} 1$/m);
  });
});

test("marks that a clear returns, and marks that were never sent, do not count as heard", async () => {
  const customer = await server.customer();
  await server.agent(customer);
  const caller = await ring(server, customer);
  await caller.say("count to 9");
  await heard(caller, "1.");
  const clear = caller.until(cleared);
  await caller.say("say ok");
  await clear;
  for (const turn of [1, 2]) {
    for (let index = 0; index < 9; index += 1) {
      const mark = {
        event: "mark",
        streamSid: caller.streamSid,
        mark: { name: `${turn}.${index}` },
      };
      caller.send(JSON.stringify(mark));
    }
  }
  await heard(caller, "ok");
  await caller.hangUp();
  const call = await server.endedCall(customer);
  const cut = call.transcript[1]?.text.split(" ") ?? [];
  const played = caller.playedText().replace(/ ?ok$/, "").split(" ");
  assert.ok(Math.abs(cut.length - played.length) <= 1, `${cut.join(" ")} / ${played.join(" ")}`);
  assert.equal(call.transcript.at(-1)?.text, "ok");
});

test(`${CALLERS} concurrent calls are each understood in both directions`, async () => {
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Hello there." } });
  const callers = await Promise.all(Array.from({ length: CALLERS }, () => converse(customer)));
  const calls = await server.endedCalls(customer, CALLERS);
  assert.equal(calls.length, CALLERS);
  for (const call of calls) {
    assert.equal(call.channel, "phone");
    assert.equal(call.status, "completed");
    const cut = call.transcript[4]?.text ?? "";
    const expected = ["Hello there.", "say thank you", "thank you", "count to 9", cut, "say bye"];
    assert.deepEqual(
      call.transcript.map(({ text }) => text),
      [...expected, "bye"],
    );
  }
  for (const caller of callers) {
    const said = caller.said().replace(/^Hello there\. thank you /, "");
    const numbers = said.match(/\d/g)?.map(Number) ?? [];
    // On a busy machine a sentence may take two attempts, which may say a word twice.
    const isInOrder = numbers.every((number, at) =>
      [0, 1].includes(number - (numbers[at - 1] ?? 0)),
    );
    assert.ok(numbers.length > 0 && isInOrder, caller.said());
  }
});
