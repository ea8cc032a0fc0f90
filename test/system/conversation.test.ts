import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Caller } from "../../engine/sandbox/caller.js";
import type { Received } from "../../engine/sandbox/caller-events.js";
import { decodeMp3 } from "../../engine/sandbox/sound/mp3-decoder.js";
import { VERSION } from "../../engine/version.js";
import type { CallRecord } from "../../storage/records.js";
import { ended, spoke, stopped } from "./events.js";
import { type Customer, TestServer } from "./test-server.js";

let server: TestServer;
before(async () => {
  server = await TestServer.start();
});
after(() => server.close());

const SILENT_SECOND = Buffer.alloc(32_000);

describe("a conversation of three turns with an interruption", () => {
  let customer: Customer;
  let caller: Caller;
  let call: CallRecord;

  before(async () => {
    customer = await server.customer();
    await server.agent(customer, { persona: { greeting: "Hello there." } });
    caller = await server.call(customer);
    await caller.until(ended);
    await caller.say("say thank you");
    await caller.until(ended);
    await caller.say("count to 20");
    await caller.until(spoke);
    await caller.play("a second of listening", SILENT_SECOND);
    const stop = caller.until(stopped);
    await caller.say("say bye");
    await stop;
    await caller.until(ended);
    await caller.hangUp();
    call = await server.summarizedCall(customer);
  });

  test("its events arrive in the order that clients rely on", () => {
    const story = caller.events.map(word).filter((each, n, all) => each !== all[n - 1]);
    const sounds = "audio assistant… ".repeat(caller.events.filter(spoke).length - 3);
    assert.equal(
      story.join(" "),
      [
        "connected audio assistant… assistant audioEnd",
        "user… user audio assistant… assistant audioEnd",
        `user… user ${sounds}audioStop assistant`,
        "user… user audio assistant… assistant audioEnd",
        "closed",
      ].join(" "),
    );
  });

  test("every sentence is one complete MP3 at 24 kHz that says the text of its transcript", async () => {
    const sounds = caller.events.filter((event) => event.type === "audio");
    for (const { sound } of sounds) {
      const { sampleRateHz } = await decodeMp3(sound);
      assert.equal(sampleRateHz, 24_000);
    }
    const spoken = (await caller.playedReplies()).map(({ text }) => text);
    assert.deepEqual(spoken.slice(0, 2), ["Hello there.", "thank you"]);
    const counted = spoken
      .slice(2, -1)
      .join(" ")
      .split(/ (?=Number)/);
    assert.ok(counted.length > 1);
    assert.deepEqual(
      counted,
      counted.map((_, n) => `Number ${n + 1}.`),
    );
    assert.equal(spoken.at(-1), "bye");
  });

  test("the stored transcript contains what was said and heard, and nothing else", async () => {
    const heard = (await caller.playedReplies()).map(({ playedText }) => playedText);
    const written = call.transcript.map(({ role, text }) => `${role}: ${text}`);
    const cut = call.transcript[4]?.text ?? "";
    assert.deepEqual(written, [
      "assistant: Hello there.",
      "user: say thank you",
      "assistant: thank you",
      "user: count to 20",
      `assistant: ${cut}`,
      "user: say bye",
      "assistant: bye",
    ]);
    const played = heard.slice(2, -1).join(" ").trim().split(" ");
    const kept = cut.split(" ");
    assert.ok(kept.length > 1, cut);
    // How many words they differ by depends on timing; the simulated calls test that.
    assert.deepEqual(kept.slice(0, played.length), played.slice(0, kept.length));
    assert.doesNotMatch(cut, /Number 20/);
  });

  test("the client received the transcript that was stored", () => {
    const told = caller.events.flatMap((event) =>
      event.type === "transcript" && event.payload.isFinal
        ? [`${event.payload.role}: ${event.payload.text}`]
        : [],
    );
    assert.deepEqual(
      told.toSorted(),
      call.transcript.map(({ role, text }) => `${role}: ${text}`).toSorted(),
    );
  });

  test("metrics and the stages of every turn are stored", () => {
    assert.equal(call.status, "completed");
    assert.equal(call.channel, "web");
    const { metrics, metadata } = call;
    assert.equal(metrics.turnCount, 3);
    assert.equal(metrics.interruptions, 1);
    assert.ok(metrics.ttfbMs > 100, String(metrics.ttfbMs));
    assert.ok(metrics.avgLatencyMs > 100);
    assert.ok(metrics.totalTokens > 100);
    assert.ok(metrics.ttsChars >= "Hello there.thank youNumber 1.Number 2.bye".length);
    assert.equal(metadata["endReason"], "callerLeft");
    const turns = metadata["turns"];
    assert.ok(Array.isArray(turns));
    assert.deepEqual(
      turns.map(({ kind, outcome }) => `${kind} ${outcome}`),
      ["greeting played", "reply played", "reply interrupted", "reply played"],
    );
    for (const turn of turns.slice(1)) {
      const { sttMs, llmFirstTokenMs, llmSentenceMs, ttsFirstByteMs, ttsRestMs, totalMs } = turn;
      const sum = sttMs + llmFirstTokenMs + llmSentenceMs + ttsFirstByteMs + ttsRestMs;
      assert.ok(Math.abs(sum - totalMs) < 0.11, `${sum} is not ${totalMs}`);
    }
    const totalsMs = turns.slice(1).map(({ totalMs }) => Number(totalMs));
    const averageMs = totalsMs.reduce((one, other) => one + other, 0) / totalsMs.length;
    assert.ok(Math.abs(metrics.ttfbMs - (totalsMs[0] ?? 0)) < 1);
    assert.ok(Math.abs(metrics.avgLatencyMs - averageMs) < 1);
  });

  test("the stored times match the call", () => {
    const { startedAtMs, endedAtMs, durationSec, transcript } = call;
    assert.ok(endedAtMs !== null && durationSec !== null);
    assert.ok(Math.abs((endedAtMs - startedAtMs) / 1_000 - durationSec) <= 0.05);
    const times = transcript.map(({ timestamp }) => timestamp);
    assert.deepEqual(
      times,
      times.toSorted((one, other) => one - other),
    );
    assert.ok(times.every((time) => time >= startedAtMs && time <= endedAtMs));
  });

  test("a summary and the caller's sentiment are stored after the call", () => {
    assert.match(call.summary ?? "", /thank you/);
    assert.equal(call.sentiment, "positive");
  });

  test("the call is added to the day's usage", async () => {
    const orgId = customer.tenant.organization.id;
    const date = new Date(call.endedAtMs ?? 0).toISOString().slice(0, 10);
    const [usage] = await server.database.usage.list(orgId, date, date);
    assert.ok(usage);
    assert.equal(usage.calls, 1);
    assert.ok(Math.abs(usage.minutes - (call.durationSec ?? 0) / 60) < 0.001);
    assert.equal(usage.ttsChars, call.metrics.ttsChars);
    assert.ok(usage.llmTokens > call.metrics.totalTokens, "the summary of the call counts too");
    // At least the second that was played; on a busy machine a caller sends less audio than time passes.
    assert.ok(usage.sttSeconds > 1 && usage.sttSeconds < (call.durationSec ?? 0) + 0.5);
  });

  test("/metrics reports calls, turns, stages and waiting requests", async () => {
    const page = await (await fetch(`${server.url}/metrics`)).text();
    assert.match(page, /^parley_calls_active 0$/m);
    assert.match(page, /^parley_calls_total\{channel="web",reason="callerLeft"\} 1$/m);
    assert.match(page, /^parley_turns_total\{kind="reply",outcome="played"\} 2$/m);
    assert.match(page, /^parley_turns_total\{kind="reply",outcome="interrupted"\} 1$/m);
    assert.match(page, /^parley_interruptions_total 1$/m);
    for (const stage of ["stt", "llmFirstToken", "ttsFirstByte", "total"]) {
      assert.match(page, new RegExp(`parley_turn_stage_seconds_count\\{stage="${stage}"\\} 3`));
    }
    assert.match(page, /^parley_call_setup_seconds_count 1$/m);
    assert.match(page, /^parley_storage_requests_waiting \d+$/m);
    assert.match(page, /^nodejs_eventloop_lag_p99_seconds /m);
    const build = `parley_build_info{version="${VERSION}",node="${process.version}"} 1`;
    assert.ok(page.split("\n").includes(build));
  });
});

function word(event: Received): string {
  if (event.type !== "transcript") return event.type;
  return `${event.payload.role}${event.payload.isFinal ? "" : "…"}`;
}
