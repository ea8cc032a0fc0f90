import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallEvent } from "../../../engine/calls/call-events.js";
import {
  eventMessages,
  readEvents,
  readWatches,
  watchMessages,
} from "../../../engine/cluster/node-events.js";
import { NO_METRICS } from "../../../engine/conversation/effects.js";

const MAIL_BYTES_MAX = 7_900;
const WORDS = { type: "words", callId: "a", role: "user", text: "Hi.", isFinal: true } as const;

function assertAllFit(messages: readonly string[]): void {
  for (const message of messages) assert.ok(Buffer.byteLength(message) <= MAIL_BYTES_MAX);
}

test("what is written is read again, in order, in as few messages as hold it", () => {
  const all: readonly CallEvent[] = [
    { type: "began", callId: "a", agentId: "b", channel: "phone", startedAtMs: 12 },
    WORDS,
    {
      type: "present",
      callId: "a",
      words: [{ role: "assistant", text: "Good day.", isFinal: false }],
      isMuted: false,
    },
    { type: "muted", callId: "a", isMuted: true },
    { type: "bargeIn", callId: "a", turn: 2, action: "ignore", reason: "backchannel", atMs: 1.5 },
    { type: "endOfTurn", callId: "a", turn: 3, reason: "vendor", waitedMs: 250 },
    {
      type: "endOfTurn",
      callId: "a",
      turn: 4,
      reason: "maxEndpointingDelay",
      waitedMs: 1_500,
      waitedFor: "dictating",
    },
    { type: "turn", callId: "a", metrics: NO_METRICS },
    { type: "ended", callId: "a", status: "failed", endReason: "speechFailed" },
  ];
  const [message = "", ...others] = eventMessages("org", all);
  assert.deepEqual(others, []);
  assert.deepEqual(
    readEvents(message),
    all.map((event) => ({ topic: "org", event })),
  );
  const many = Array.from({ length: 60 }, () => all).flat();
  const messages = eventMessages("org", many);
  assertAllFit(messages);
  assert.ok(messages.length > 1 && messages.length < 10, `${messages.length} messages`);
  assert.deepEqual(
    messages.flatMap((each) => readEvents(each) ?? []).map(({ event }) => event),
    many,
  );
  assert.deepEqual(eventMessages("org", []), []);
});

test("the maximum number of topics is requested in messages that fit the database", () => {
  const topics = Array.from({ length: 1_000 }, (_, index) => `${index}/${"x".repeat(70)}`);
  const messages = watchMessages("node", topics);
  assertAllFit(messages);
  const read = messages.map((message) => readWatches(message));
  assert.deepEqual(
    read.flatMap((each) => each?.topics ?? []),
    topics,
  );
  assert.equal(read[0]?.from, "node");
});

test("words that are too long for a message are cut to their end, however JSON escapes them", () => {
  for (const word of ["word", 'a"b\\', "\u0001\u0002", "😀😀", "日本"]) {
    const text = `first ${`${word} `.repeat(20_000 / word.length)}last.`;
    const messages = eventMessages("org", [{ ...WORDS, text }, WORDS]);
    assertAllFit(messages);
    const [cut, whole] = messages.flatMap((message) => readEvents(message) ?? []);
    assert.deepEqual(whole?.event, WORDS);
    const told = cut?.event.type === "words" ? cut.event.text : "";
    assert.match(told, / last\.$/);
    assert.ok(told.startsWith(`… ${word} `), told.slice(0, 20));
    assert.ok(Buffer.byteLength(JSON.stringify(told)) > MAIL_BYTES_MAX / 2);
  }
  const unbroken = eventMessages("org", [{ ...WORDS, text: "😀".repeat(10_000) }]);
  assertAllFit(unbroken);
  assert.equal(unbroken.length, 1);
});

test("words go whole where one byte is left for what follows them, and by their end where none is", () => {
  const around = JSON.stringify({ topic: "org", events: [{ ...WORDS, text: "" }] }).length;
  const textOf = (left: number) => `first ${"x".repeat(MAIL_BYTES_MAX - around - left - 6)}`;
  const toldOf = (text: string) =>
    eventMessages("org", [{ ...WORDS, text }]).flatMap((message) => readEvents(message) ?? []);
  assert.deepEqual(toldOf(textOf(1)), [{ topic: "org", event: { ...WORDS, text: textOf(1) } }]);
  const [cut] = toldOf(textOf(0));
  assert.match(cut?.event.type === "words" ? cut.event.text : "", /^… x+$/);
});

test("other news of that size are left out, and what is no message is not read", () => {
  const endReason = "x".repeat(MAIL_BYTES_MAX);
  assert.deepEqual(
    eventMessages("org", [{ type: "ended", callId: "a", status: "failed", endReason }]),
    [],
  );
  for (const text of ["", "{", "{}", '{"topic":"org","news":[{"type":"sung"}]}', "[]"]) {
    assert.equal(readEvents(text), undefined);
    assert.equal(readWatches(text), undefined);
  }
});
