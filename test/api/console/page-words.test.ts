import assert from "node:assert/strict";
import { test } from "node:test";
import { filtersOf } from "../../../api/console/model/call-filters.js";
import { eventOf, serverEvents } from "../../../api/console/model/server-events.js";
import { spanOf } from "../../../api/console/model/spans.js";
import { callsCsv, sharesCsv, usageCsv, vendorsCsv } from "../../../api/console/model/usage-csv.js";
import { auditSentence } from "../../../api/console/words/audit-words.js";
import {
  attentionWords,
  callerWords,
  endingWords,
  otherEndWords,
} from "../../../api/console/words/call-words.js";
import { keptFaultWords, providerState } from "../../../api/console/words/provider-words.js";

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
  assert.equal(otherEndWords({ ...ended, metadata: { from: "+15550100" } }), "+15550100");
  assert.equal(otherEndWords({ ...ended, channel: "phone", metadata: {} }), "a telephone");
});

test("how it stands with a provider is told by what calls have found", () => {
  const stateOf = (told: Partial<Parameters<typeof providerState>[0]>) =>
    providerState({ active: true, breaker: "closed", recentFailures: 0, ...told });
  assert.deepEqual(stateOf({}), { tone: "good", text: "active" });
  assert.deepEqual(stateOf({ recentFailures: 1 }), {
    tone: "warn",
    text: "active, failed once lately",
  });
  assert.deepEqual(stateOf({ recentFailures: 2 }).text, "active, failed 2 times lately");
  assert.equal(stateOf({ breaker: "halfOpen", recentFailures: 9 }).tone, "warn");
  assert.equal(stateOf({ breaker: "open" }).tone, "fault");
  assert.equal(stateOf({ active: false, breaker: "open" }).text, "switched off");
});

test("a change is a sentence, and who reads it knows their own", () => {
  const entry = { action: "agent.update", targetName: "Reception", changes: ["persona"] };
  const actor = { type: "user", id: "me" } as const;
  const reader = { userId: "me", nameById: new Map([["her", "Ada"]]) };
  const byOther = (id: string) =>
    auditSentence({ ...entry, actor: { type: "user", id } }, reader).split(" changed")[0];
  assert.deepEqual([byOther("her"), byOther("gone")], ["Ada", "A member"]);
  assert.equal(
    auditSentence({ ...entry, actor }, reader),
    "You changed the agent “Reception” (persona).",
  );
  assert.equal(
    auditSentence(
      { ...entry, changes: [], actor: { type: "administrator", id: "platform" } },
      reader,
    ),
    "The platform changed the agent “Reception”.",
  );
});

test("the address bar filters, and what it cannot mean is left out", () => {
  const filters = filtersOf(new URLSearchParams("agent=a&status=failed&waited=1000&longer=-1"));
  assert.deepEqual(filters, { agentId: "a", status: "failed", waitedMoreThanMs: 1_000 });
  assert.deepEqual(filtersOf(new URLSearchParams("status=odd&channel=&attention=yes")), {});
});

test("days of the address bar are days of the reader, the last one included", () => {
  const { startedAfter, startedBefore } = filtersOf(
    new URLSearchParams("since=2026-03-28&until=2026-03-29"),
  );
  assert.equal(startedAfter, new Date(2026, 2, 28).toISOString());
  assert.equal(startedBefore, new Date(2026, 2, 30).toISOString());
  assert.deepEqual(filtersOf(new URLSearchParams("since=2026-13-41&until=today")), {});
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

test("a name in a table is a text, whatever it begins with", () => {
  const share = { calls: 1, failed: 0, failures: [], minutes: 2.5, llmTokens: 3, ttsChars: 4 };
  const csv = sharesCsv([
    { ...share, name: 'Front "desk", 2nd floor' },
    { ...share, name: "=HYPERLINK(1)", failed: 1, failures: [{ endReason: "busy", calls: 1 }] },
  ]);
  assert.deepEqual(csv.split("\r\n").slice(1, 3), [
    '"Front ""desk"", 2nd floor",1,0,2.5,3,4,',
    `"'=HYPERLINK(1)",1,1,2.5,3,4,"busy 1"`,
  ]);
});

test("the table of vendors leaves a fault out that never was", () => {
  const groq = { vendor: "groq", category: "llm", answered: 3, failed: 0, lastFault: null };
  const faults = [
    { fault: "timeout", model: "fast", turns: 2 },
    { fault: "refused", model: null, turns: 1 },
  ];
  const csv = vendorsCsv([
    { ...groq, wastedMs: 0, faults: [] },
    { ...groq, failed: 3, lastFault: "timeout", wastedMs: 900, faults },
  ]);
  assert.deepEqual(csv.split("\r\n").slice(1, 3), [
    '"groq",llm,3,0,,0,',
    '"groq",llm,3,3,timeout,900,"timeout of fast 2; refused 1"',
  ]);
  assert.equal(keptFaultWords("timeout"), "timed out");
  assert.equal(keptFaultWords("newFault"), "newFault");
});

test("the reason why a call needs attention is told in a few words", () => {
  const metrics = { interruptions: 0, avgLatencyMs: 2_600 };
  const call = { status: "completed", channel: "web", metrics } as const;
  assert.equal(attentionWords(call), "waited 2.6 s on average");
  assert.equal(
    attentionWords({ ...call, metadata: { longSttOutage: true, sttOutageMs: 8_240 } }),
    "STT outage of 8.2 s",
  );
  const failed = { everyReplyFailed: true, endReason: "callerLeft" };
  assert.equal(attentionWords({ ...call, metadata: failed }), "every reply failed");
  assert.equal(endingWords({ ...call, status: "failed", metadata: failed }), "every reply failed");
  assert.equal(
    attentionWords({ ...call, metadata: { waitedForLong: true, longestWaitMs: 9_040 } }),
    "waited 9.0 s for one answer",
  );
  assert.equal(
    attentionWords({ ...call, metadata: { endReason: "callerIdle" } }),
    "the caller was silent",
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

test("calls are written line by line, and no cell is taken for a formula", () => {
  const call = {
    _id: "c1",
    agentId: "a1",
    channel: "phone",
    status: "completed",
    startedAt: "2026-11-27T06:00:00.000Z",
    durationSec: 12,
    metrics: { turnCount: 2, avgLatencyMs: 640 },
    metadata: { direction: "inbound", from: "+15550100", to: "+15550199" },
    analysis: { success: true, data: { topic: "=refund", items: [1, 2], none: null } },
  };
  const other = { ...call, analysis: { success: null, data: { topic: "order" } } };
  const lines = callsCsv([call, other, { ...call, analysis: undefined }], () => '=1+1 "x"');
  const [head, line, second, third] = lines.split("\r\n");
  assert.match(
    head ?? "",
    /,avgLatencyMs,success,"analysis.items","analysis.none","analysis.topic"$/,
  );
  assert.match(second ?? "", /,640,,,,"order"$/);
  assert.match(third ?? "", /,640,,,,$/);
  const cells = [call.startedAt, '"c1"', `"'=1+1 ""x"""`, '"inbound"', `"'+15550100"`];
  const rest = [`"'+15550199"`, "phone", "completed", "", 12, 2, 640, true];
  const found = [`"[1,2]"`, "", `"'=refund"`];
  assert.equal(line, [...cells, ...rest, ...found].join(","));
});
