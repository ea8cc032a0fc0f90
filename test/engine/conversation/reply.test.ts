import assert from "node:assert/strict";
import { test } from "node:test";
import {
  carriedOverWaitAfter,
  replyTimeoutAtMs,
  waitedBeforeMs,
} from "../../../engine/conversation/commit-turn.js";
import { stockPhrases } from "../../../engine/conversation/lexicon.js";
import { newSentence } from "../../../engine/conversation/playout.js";
import {
  type ConversationSettings,
  newConversation,
  newTurn,
  type Turn,
  WAITING_SLOT_FIRST,
} from "../../../engine/conversation/state.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";
import { AnsweredCall } from "./answered-call.js";

const HTTP_TOOLS = [
  { kind: "http", name: "weather" },
  { kind: "http", name: "traffic" },
] as const;
const REPLY_CHARS_MAX = 4_000;

function says(call: AnsweredCall, callId: string, content: string, spoken?: string): void {
  const given = { turnId: call.activeTurn.id, callId, content };
  call.send({ type: "toolDone", ...given, ...(spoken === undefined ? {} : { spoken }) });
}

test("a model that writes 4,000 characters is stopped there, with or without a sentence in them", () => {
  for (const text of ["word ", "Word. "]) {
    const call = new AnsweredCall().ask();
    const most = text.repeat(REPLY_CHARS_MAX).slice(0, REPLY_CHARS_MAX - 1);
    // What is one sentence has come by then without an end.
    call.token(text === "word " ? most : `${text}${"word ".repeat(800)}`.slice(0, most.length));
    assert.deepEqual(call.linesOf("stop model"), []);
    call.token("x");
    assert.deepEqual(call.linesOf("stop model"), ["stop model #1"]);
    const { sentences, replyChars } = call.activeTurn;
    call.token("Too late. And more. ").done().fail();
    assert.deepEqual(call.linesOf("ask model"), []);
    assert.equal(call.activeTurn.sentences, sentences);
    assert.equal(call.activeTurn.replyChars, replyChars);
  }
});

test("a reply is over once: what its model says afterwards is not heard, counted or tried again", () => {
  const call = new AnsweredCall().ask().reply("It is ten.");
  const { totalTokens } = call.actor.state.record.metrics;
  call.takeLines();
  call.token("And more. And that. ").done(50).fail().fail(false);
  assert.deepEqual(call.takeLines(), []);
  assert.equal(call.activeTurn.sentences.length, 1);
  assert.equal(call.actor.state.record.metrics.totalTokens, totalTokens);
});

test("a timer that goes off a whole millisecond early finds nothing to give up", () => {
  const silent = new AnsweredCall().ask().token("I").wait(6_998);
  assert.deepEqual(silent.fire("turnStall").linesOf("abort"), []);
  const early = new AnsweredCall().ask().token("I").wait(6_999);
  early.takeLines();
  assert.deepEqual(early.fire("turnStall").takeLines(), ["deadline turnStall in 1"]);
  const late = new AnsweredCall().ask().token("One is here. Two is ");
  late.whole(0, 1_000).wait(7_999).takeLines();
  assert.deepEqual(late.fire("turnStall").takeLines(), ["deadline turnStall in 1"]);
});

test("once all was heard that came, what is missing is waited for seven seconds, from the model's newest word while it writes", () => {
  const written = new AnsweredCall().ask().token("One is here. ").whole(0, 1_000);
  written.wait(5_000).token("Two is there. Three ").takeLines();
  written.wait(6_999);
  assert.deepEqual(written.linesOf("abort"), []);
  written.wait(1);
  assert.deepEqual(written.linesOf("abort"), ["abort turn #1"]);
  const over = new AnsweredCall().ask().token("One is here. ").whole(0, 1_000);
  over.wait(5_000).reply("Two is there.").takeLines();
  over.wait(2_999);
  assert.deepEqual(over.linesOf("abort"), []);
  over.wait(1);
  assert.deepEqual(over.linesOf("abort"), ["abort turn #1"]);
});

test("where no turn is under way, nothing has stalled, come to its end or is to be said", () => {
  const call = new AnsweredCall();
  call.send({ type: "opened", resumed: true });
  call.takeLines();
  const before = structuredClone(call.actor.state);
  for (const name of ["turnStall", "playbackEnd", "underrun", "synthesisAhead"] as const) {
    call.fire(name);
  }
  assert.deepEqual(call.crashes, []);
  assert.deepEqual(call.takeLines(), []);
  assert.deepEqual(call.actor.state, before);
});

for (const [hung, reason] of [
  ["llm", "languageModelFailed"],
  ["tts", "speechFailed"],
] as const) {
  test(`the call ends when a third turn in a row was given up, and says that it was the ${hung}`, () => {
    const call = new AnsweredCall();
    for (let failed = 1; failed <= 3; failed += 1) {
      call.ask();
      // Every turn is tried twice; a voice that hangs is in the second, too.
      for (let tries = 1; tries <= 2; tries += 1) {
        if (hung === "tts") call.reply("It is ten.");
        call.wait(hung === "tts" ? 10_000 : 7_000);
      }
      assert.equal(call.activeTurn.kind, "apology");
      assert.equal(call.activeTurn.ending?.reason, failed === 3 ? reason : undefined);
      call.whole(0, 900).wait(900);
    }
    assert.equal(call.actor.state.phase, "ended");
  });
}

test("the LLM continues when all tools of a round have returned, and waits fifteen seconds for the slowest", () => {
  const call = new AnsweredCall({ tools: HTTP_TOOLS }).ask().useTools("weather", "traffic");
  call.wait(10_000);
  says(call, "weather", "sunny");
  assert.deepEqual(call.linesOf("ask model"), []);
  call.wait(9_999);
  assert.deepEqual(call.linesOf("abort"), []);
  says(call, "traffic", "none");
  assert.equal(call.linesOf("ask model").length, 1);
});

test("an LLM that calls tools a fifth time is stopped: its text so far is heard, or there is an apology, and the call continues", () => {
  for (const said of ["", "Let me look. "]) {
    const call = new AnsweredCall({ tools: HTTP_TOOLS }).ask();
    if (said !== "") call.token(said).whole(0, 900);
    for (let round = 1; round <= 4; round += 1) {
      call.useTools("weather");
      says(call, "weather", "sunny");
    }
    call.takeLines();
    call.useTools("weather");
    const lines = call.takeLines();
    assert.deepEqual(
      lines.filter((line) => /^(?:run tool|ask model)/.test(line)),
      [],
    );
    assert.equal(call.activeTurn.kind, said === "" ? "apology" : "reply");
    assert.equal(call.activeTurn.faulty, said !== "");
    assert.equal(call.activeTurn.generating, false);
    assert.equal(call.activeTurn.ending, undefined);
  }
});

test("only audio that the server holds is resumed for an apology", () => {
  for (const isPaced of [true, false]) {
    const settings = { isPaced, sensitivity: "high", fillerAfterMs: 1_500 } as const;
    const call = new AnsweredCall({ ...settings, phrases: stockPhrases("en") });
    call.send({ type: "opened", resumed: true });
    call.send({ type: "phraseReady", text: "One moment.", durationMs: 800 });
    call.ask().wait(1_600);
    call.send({ type: "speechStarted" });
    assert.equal(call.actor.state.outputPausedAtMs, 1_600);
    call.takeLines();
    call.fail(false);
    assert.deepEqual(call.linesOf("resume"), isPaced ? ["resume audio"] : []);
    assert.ok(!call.pendingDeadlines.includes("outputPause"));
  }
});

const HEARD = { isFinal: true, speechFinal: false, lastWordEndMs: 900, endedAgoMs: 200 };

/** A call with a preemptive LLM request for these words. */
function askedEarly(words: string, settings: Partial<ConversationSettings> = {}): AnsweredCall {
  const call = new AnsweredCall({ ...settings, preemptiveGeneration: true });
  call.send({ type: "opened", resumed: true });
  call.wait(1_000);
  call.send({ type: "transcript", ...HEARD, text: words });
  assert.deepEqual(call.linesOf("ask early"), [`ask early #1: user "${words}"`]);
  return call;
}

test("words that end the turn and are more than the preemptive reply answers get a new reply, and that one is dropped", () => {
  const call = askedEarly("what is my balance");
  const more = { text: "and my limit", lastWordEndMs: 1_900 };
  call.send({ type: "transcript", ...HEARD, ...more, speechFinal: true });
  const lines = call.takeLines();
  assert.equal(lines.filter((line) => line.startsWith("drop early #1")).length, 1);
  assert.ok(lines.includes('ask model #2: user "what is my balance and my limit"'));
});

test("an early reply of which nothing has come is waited for like any: its first word counts, and so does the silence before it", () => {
  const call = askedEarly("what is my balance", {
    fillerAfterMs: 1_500,
    phrases: stockPhrases("en"),
  });
  call.wait(700);
  assert.equal(call.activeTurn.id, 1);
  assert.equal(call.activeTurn.firstTokenAtMs, undefined);
  assert.deepEqual(call.linesOf("deadline filler in"), ["deadline filler in 1500"]);
  call.wait(300).token("It is ten.");
  assert.equal(call.activeTurn.firstTokenAtMs, 2_000);
});

test("a caller who has been answered may get two preemptive replies again", () => {
  const call = askedEarly("what is my balance");
  call.wait(700).reply("It is ten.").whole(0, 900).wait(900);
  assert.equal(call.turn, undefined);
  for (const [text, lastWordEndMs] of [
    ["when do you open", 5_000],
    ["when do you close", 6_000],
  ] as const) {
    call.wait(500);
    call.send({ type: "transcript", ...HEARD, isFinal: false, text, lastWordEndMs });
    call.takeLines();
    call.send({ type: "transcript", ...HEARD, text, lastWordEndMs });
    assert.equal(call.linesOf("ask early").length, 1);
  }
});

function askedCall() {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, tools: [{ kind: "http", name: "book" }] });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "book a room" });
  return call;
}

/** The time before a reply's LLM is checked, in the last second of which the caller has waited too long. */
function stallMsOf(call: RecordedCall): number | undefined {
  const dueMs = call.actor.state.deadlines.turnStall;
  return dueMs === undefined ? undefined : dueMs - call.clock.monotonicMs();
}

test("an LLM that continues after a tool has its full time, though the caller has waited long", () => {
  const call = askedCall();
  const toolCalls = [{ id: "a", name: "book", argumentsJson: "{}" }];
  call.clock.advance(6_900);
  call.send({ type: "replyToken", turnId: 1, text: "One" });
  call.clock.advance(6_900);
  call.send({ type: "replyDone", turnId: 1, tokens: 5, toolCalls });
  call.clock.advance(6_000);
  call.send({ type: "toolDone", turnId: 1, callId: "a", content: "booked" });
  assert.equal(stallMsOf(call), 7_000);
});

/** The TTS requests after each of these tokens, and after the LLM has sent nothing for `stallMs`. */
function asked(tokens: readonly string[], stallMs: number, intervalMs = 20): readonly string[] {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "hello" });
  for (const text of tokens) {
    call.clock.advance(intervalMs);
    call.send({ type: "replyToken", turnId: 1, text });
  }
  call.clock.advance(stallMs);
  assert.deepEqual(call.crashes, []);
  return call.effects.flatMap((each) => (each.type === "synthesize" ? [each.text] : []));
}

const FIRST = "Your table is booked.";

test("after a number or an abbreviation the stall has to be longer", () => {
  for (const second of [" It costs 30.", " We close at 5 p.m.", " It ships from the U.S."]) {
    assert.deepEqual(asked([FIRST, second], 999), [FIRST], second);
    assert.deepEqual(asked([FIRST, second], 1_000), [FIRST, second.trim()], second);
  }
});

function turnWith(fields: Partial<Turn>): Turn {
  const asked = { userText: "hello", callerEndedAtMs: 0, decidedAtMs: 1_000, attempt: 1 };
  return { ...newTurn({ id: 1, kind: "reply", ...asked }), ...fields };
}

test("a turn that was taken the floor from within a second was not waited for, but what was waited before it counts", () => {
  const turn = turnWith({});
  assert.equal(carriedOverWaitAfter(turn, 1_999), undefined);
  assert.deepEqual(carriedOverWaitAfter(turn, 2_000), { waitedMs: 1_000, untilMs: 2_000 });
  const later = turnWith({ waitedBeforeMs: 4_000 });
  assert.deepEqual(carriedOverWaitAfter(later, 1_999), { waitedMs: 4_000, untilMs: 1_999 });
  assert.deepEqual(carriedOverWaitAfter(later, 2_000), { waitedMs: 5_000, untilMs: 2_000 });
});

test("only a reply without output and tools counts as a wait", () => {
  const word = { ...newSentence("One moment.", WAITING_SLOT_FIRST), durationMs: 800 };
  const waited = { waitedMs: 9_000, untilMs: 10_000 };
  assert.deepEqual(carriedOverWaitAfter(turnWith({ sentences: [word] }), 10_000), waited);
  assert.deepEqual(
    carriedOverWaitAfter(turnWith({ sentences: [newSentence("Yes.", 0)] }), 10_000),
    waited,
  );
  const sound = { ...newSentence("Yes.", 0), durationMs: 800 };
  assert.equal(carriedOverWaitAfter(turnWith({ sentences: [sound] }), 10_000), undefined);
  assert.equal(carriedOverWaitAfter(turnWith({ kind: "resumed" }), 10_000), undefined);
  assert.equal(carriedOverWaitAfter(turnWith({ toolRounds: 1 }), 10_000), undefined);
});

test("a reply is given up twenty seconds after the question, and a vendor has two and a half seconds for a last attempt", () => {
  const leftMs = (beforeMs: number) =>
    replyTimeoutAtMs(turnWith({ waitedBeforeMs: beforeMs })) - 1_000;
  const waited = [0, 17_500, 17_501, 19_000, 20_000, 21_000, 22_500, 30_000];
  assert.deepEqual(waited.map(leftMs), [20_000, 2_500, 2_500, 2_500, 2_500, 1_500, 0, 0]);
});

test("the wait continues while the caller speaks, for three seconds", () => {
  const state = newConversation(PLAIN_SETTINGS, []);
  assert.equal(waitedBeforeMs(state, 5_000), 0);
  const carriedOverWait = { waitedMs: 4_000, untilMs: 5_000 };
  const waited = [5_000, 7_000, 8_000, 9_000].map((ms) =>
    waitedBeforeMs({ ...state, carriedOverWait }, ms),
  );
  assert.deepEqual(waited, [4_000, 6_000, 7_000, 7_000]);
});
