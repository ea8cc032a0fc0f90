import assert from "node:assert/strict";
import { test } from "node:test";
import { filtersOf } from "../../../api/console/model/call-filters.js";
import { eventOf, serverEvents } from "../../../api/console/model/server-events.js";
import { spanOf } from "../../../api/console/model/spans.js";
import { usageCsv } from "../../../api/console/model/usage-csv.js";
import { auditSentence } from "../../../api/console/words/audit-words.js";
import { attentionWords, callerWords, endingWords } from "../../../api/console/words/call-words.js";

test("an ending is told in words, also one that this console does not know yet", () => {
  const ended = { status: "completed", channel: "web" } as const;
  assert.equal(
    endingWords({ ...ended, metadata: { endReason: "callerLeft" } }),
    "the caller hung up",
  );
  assert.equal(
    endingWords({ ...ended, metadata: { endReason: "newReason", endMessage: "it was late" } }),
    "it was late",
  );
  assert.equal(endingWords({ status: "failed", channel: "web" }), "it failed");
  assert.equal(endingWords({ status: "active", channel: "web" }), "in progress");
  assert.equal(callerWords({ ...ended, metadata: { from: "+15550100" } }), "+15550100");
});

test("a change is a sentence, and who reads it knows their own", () => {
  const entry = { action: "agent.update", targetName: "Reception", changes: ["persona"] };
  const actor = { type: "user", id: "me" } as const;
  assert.equal(
    auditSentence({ ...entry, actor }, "me"),
    "You changed the agent “Reception” (persona).",
  );
  assert.equal(
    auditSentence(
      { ...entry, changes: [], actor: { type: "administrator", id: "platform" } },
      "me",
    ),
    "The platform changed the agent “Reception”.",
  );
});

test("the address bar filters, and what it cannot mean is left out", () => {
  const filters = filtersOf(new URLSearchParams("agent=a&status=failed&waited=1000&longer=-1"));
  assert.deepEqual(filters, { agentId: "a", status: "failed", waitedMoreThanMs: 1_000 });
  assert.deepEqual(filtersOf(new URLSearchParams("status=odd&channel=&attention=yes")), {});
});

test("today is compared with the days before it that had replies", () => {
  const day = (p50Ms: number | null) => ({ p50Ms, p95Ms: p50Ms === null ? null : p50Ms * 2 });
  assert.deepEqual(spanOf([day(null), day(700), day(900), day(500)]), {
    today: { p50Ms: 500, p95Ms: 1_000 },
    before: { p50Ms: 700, p95Ms: 1_400 },
  });
  assert.deepEqual(spanOf([day(null)]), { today: undefined, before: undefined });
});

test("the table of usage has a line a day, with nothing where nothing is known", () => {
  const usage = { calls: 2, minutes: 1.5, sttSeconds: 80, llmTokens: 9, ttsChars: 7 };
  const csv = usageCsv([{ date: "2026-01-31", ...usage }], []);
  assert.equal(
    csv,
    "date,calls,minutes,sttSeconds,llmTokens,ttsChars,replies,waitP50Ms,waitP95Ms\r\n2026-01-31,2,1.5,80,9,7,,,\r\n",
  );
});

test("events of a stream are read however they are cut", async () => {
  const bytes = new TextEncoder().encode(
    'event: token\ndata: {"text":"ä"}\n\n: open\n\ndata: x\n\n',
  );
  const cut = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
  const events = [];
  for await (const event of serverEvents(cut)) events.push(event);
  assert.deepEqual(events, [
    { name: "token", data: '{"text":"ä"}' },
    { name: "message", data: "x" },
  ]);
  assert.equal(eventOf(": nothing"), undefined);
});

test("the reason why a call needs attention is told in a few words", () => {
  const metrics = { interruptions: 0, avgLatencyMs: 2_600 };
  const call = { status: "completed", channel: "web", metrics } as const;
  assert.equal(attentionWords(call), "waited 2.6 s on average");
  assert.equal(
    attentionWords({ ...call, metadata: { deafForLong: true, deafMs: 8_240 } }),
    "the agent heard nothing for 8.2 s",
  );
  assert.equal(
    attentionWords({ ...call, metadata: { endReason: "callerIdle" } }),
    "the caller said nothing",
  );
  const often = { ...metrics, interruptions: 5 };
  assert.equal(attentionWords({ ...call, metrics: often }), "interrupted 5 times");
});

test("words of the address are cut to what the API takes, and nothing is no filter", () => {
  assert.deepEqual(filtersOf(new URLSearchParams({ words: "  " })), {});
  assert.deepEqual(filtersOf(new URLSearchParams({ words: " hello " })), { words: "hello" });
  const long = filtersOf(new URLSearchParams({ words: "x".repeat(200) }));
  assert.equal(long.words?.length, 100);
});
