import assert from "node:assert/strict";
import { test } from "node:test";
import { CALLER_LEFT } from "../../../engine/conversation/call-end.js";
import type { ConversationEffect, TurnSave } from "../../../engine/conversation/effects.js";
import { EMPTY_TOOLBOX } from "../../../engine/conversation/toolbox.js";
import { speak } from "../../../engine/sandbox/sound/simulated-voice.js";
import { VendorError } from "../../../engine/vendors/contracts.js";
import { NO_METRICS } from "../../storage/sample-records.js";
import { EffectTrial } from "./effect-trial.js";

const NOTHING: TurnSave = { messages: [], metrics: NO_METRICS, report: undefined, added: [] };
const MP3 = { codec: "mp3", sampleRateHz: 24_000 } as const;

test("the LLM gets the system prompt, and its words return under their turn", async () => {
  const trial = new EffectTrial();
  trial.ask(3);
  assert.deepEqual(trial.model.requests[0]?.messages, [
    { role: "system", content: "Be brief." },
    { role: "user", content: "hi" },
  ]);
  trial.clock.advance(40);
  trial.model.say("Hello");
  assert.deepEqual(trial.events, [{ type: "replyToken", turnId: 3, text: "Hello", atMs: 40 }]);
  const done = trial.next();
  trial.model.finish({ finishReason: "stop", promptTokens: 7, completionTokens: 3 });
  const { type, atMs } = await done;
  assert.deepEqual({ type, atMs }, { type: "replyDone", atMs: 40 });
});

test("after a change of language the next turn has the other voice, a turn under way keeps its own, and the LLM is told", () => {
  const trial = new EffectTrial();
  trial.perform({ type: "synthesize", turnId: 1, index: 0, text: "One." });
  trial.perform({ type: "switchLanguage", language: "de-DE" });
  trial.perform({ type: "synthesize", turnId: 1, index: 1, text: "Two." });
  trial.perform({ type: "synthesize", turnId: 2, index: 0, text: "Drei." });
  trial.perform({ type: "switchLanguage", language: "en-US" });
  trial.perform({ type: "synthesize", turnId: 3, index: 0, text: "Four." });
  assert.deepEqual(
    trial.client.syntheses.map(({ request }) => [request.text, request.language, request.modelId]),
    [
      ["One.", "en-US", "aria"],
      ["Two.", "en-US", "aria"],
      ["Drei.", "de-DE", "katja"],
      ["Four.", "en-US", "aria"],
    ],
  );
  const history = [{ role: "user", content: "hallo" } as const];
  const asked = { turnId: 4, history, toolMessages: [], language: "de-DE" };
  trial.perform({ type: "requestReply", ...asked });
  assert.equal(
    trial.model.requests[0]?.messages[0]?.content,
    "Be brief.\n\nThe caller speaks German (Germany) now: answer in German (Germany).",
  );
  assert.deepEqual(trial.languages, ["de-DE", "en-US"], "each change is recorded at once");
});

test("phrases that are prepared after a change of language are said by the other voice", async () => {
  const trial = new EffectTrial();
  trial.perform({ type: "preparePhrases", texts: ["Sorry."] });
  trial.perform({ type: "switchLanguage", language: "de-DE" });
  trial.perform({ type: "preparePhrases", texts: ["Entschuldigung."] });
  trial.clock.advance(300);
  const said = trial.client.syntheses.map(({ request }) => [request.text, request.modelId]);
  assert.deepEqual(said, [["Entschuldigung.", "katja"]]);
});

test("a phrase that the earlier voice has said is said anew by the other one", async () => {
  const trial = new EffectTrial();
  trial.perform({ type: "preparePhrases", texts: ["OK."] });
  trial.clock.advance(300);
  const ready = trial.next();
  trial.client.syntheses[0]?.give(await speak("OK.", MP3));
  trial.client.syntheses[0]?.finish();
  assert.equal((await ready).type, "phraseReady");
  trial.perform({ type: "switchLanguage", language: "de-DE" });
  trial.perform({ type: "synthesize", turnId: 1, index: 0, text: "OK." });
  const said = trial.client.syntheses.map(({ request }) => [request.text, request.modelId]);
  assert.deepEqual(said.at(-1), ["OK.", "katja"]);
});

test("a vendor that hung has failed, though its answer is no longer awaited", () => {
  const trial = new EffectTrial();
  trial.ask(1);
  trial.perform({ type: "abortTurn", turnId: 1, hung: "llm" });
  trial.perform({ type: "abortTurn", turnId: 2 });
  assert.equal(trial.model.signals[0]?.aborted, true);
  assert.deepEqual(trial.failures, ["llm timeout"]);
});

test("a reply is begun early while the organization has wasted little, and is stopped when it is dropped", () => {
  const trial = new EffectTrial();
  const history = [{ role: "user", content: "hi" } as const];
  trial.perform({ type: "startPreemptiveReply", turnId: 1, history });
  assert.equal(trial.model.requests.length, 1);
  trial.perform({ type: "dropPreemptiveReply", turnId: 1, tokens: 100 });
  assert.equal(trial.model.signals[0]?.aborted, true);
  trial.perform({ type: "startPreemptiveReply", turnId: 2, history });
  assert.equal(trial.model.requests.length, 1);
  assert.deepEqual(trial.events, [{ type: "preemptiveRefused", turnId: 2, atMs: 0 }]);
});

test("the length of the passages that a request has is reported before its first words", () => {
  for (const [note, events] of [
    ["Two passages.", [{ type: "passagesAdded", turnId: 1, chars: 13, atMs: 0 }]],
    ["", []],
  ] as const) {
    const trial = new EffectTrial(EMPTY_TOOLBOX, { noteFor: () => note });
    trial.ask(1);
    assert.equal(trial.model.requests.length, 1);
    assert.deepEqual(trial.events, events);
  }
});

test("a model that fails is noted, with whether another try may help", async () => {
  const trial = new EffectTrial();
  trial.ask(1);
  const failed = trial.next();
  trial.model.fail(new VendorError("scripted", "unauthorized", "no"));
  assert.deepEqual(await failed, { type: "replyFailed", turnId: 1, retryable: false, atMs: 0 });
  assert.deepEqual(trial.failures, ["llm unauthorized"]);
});

test("a vendor's client that throws anything else is a bug, logged, and not tried again", async () => {
  const trial = new EffectTrial();
  trial.ask(1);
  const failed = trial.next();
  trial.model.fail(new TypeError("oops"));
  assert.deepEqual(await failed, { type: "replyFailed", turnId: 1, retryable: false, atMs: 0 });
  assert.equal(trial.log.ofLevel("error").length, 1);
  assert.deepEqual(trial.failures, []);
});

test("a voice that fails is noted, with whether another try may help", async () => {
  const trial = new EffectTrial();
  trial.perform({ type: "synthesize", turnId: 1, index: 0, text: "ok" });
  const failed = trial.next();
  trial.client.syntheses[0]?.fail(new VendorError("scripted", "unauthorized", "no"));
  const told = { type: "sentenceFailed", turnId: 1, index: 0, retryable: false, atMs: 0 };
  assert.deepEqual(await failed, told);
  assert.deepEqual(trial.failures, ["tts unauthorized"]);
});

test("a sentence is spoken, kept until it is played, and played once", async () => {
  const trial = new EffectTrial();
  trial.perform({ type: "synthesize", turnId: 1, index: 0, text: "ok" });
  const spoken = trial.next();
  trial.client.syntheses[0]?.give(await speak("ok", MP3));
  trial.client.syntheses[0]?.finish();
  assert.equal((await spoken).type, "sentenceWhole");
  assert.deepEqual(trial.caller.sounds, []);
  const play: ConversationEffect = { type: "play", turnId: 1, index: 0 };
  trial.perform(play);
  assert.equal(trial.caller.sounds.length, 1);
  assert.throws(() => trial.perform(play), /no audio/);
});

test("how long a voice takes for a character is learnt from what it has said whole, for all calls", async () => {
  const trial = new EffectTrial();
  const text = "Good morning, everybody.";
  const durationsMs: number[] = [];
  for (const index of [0, 1]) {
    trial.perform({ type: "synthesize", turnId: 1, index, text });
    const spoken = trial.next();
    trial.client.syntheses[index]?.give(await speak(text, MP3));
    trial.client.syntheses[index]?.finish();
    const whole = await spoken;
    assert.ok(whole.type === "sentenceWhole");
    durationsMs.push(whole.durationMs);
  }
  assert.equal(trial.paces.of("voice"), Math.round((durationsMs[0] ?? 0) / text.length));
});

test("a phrase that was said beforehand is ready with the times of its words, and plays with them", async () => {
  const trial = new EffectTrial();
  const words = [{ text: "ok", startMs: 0, endMs: 60 }];
  trial.perform({ type: "preparePhrases", texts: ["ok"] });
  trial.clock.advance(300);
  const [synthesis] = trial.client.syntheses;
  const prepared = trial.next();
  synthesis?.give(await speak("ok", MP3));
  synthesis?.request.onWords?.(words);
  synthesis?.finish();
  const ready = await prepared;
  assert.ok(ready.type === "phraseReady");
  assert.deepEqual(ready.words, words);
  trial.perform({ type: "preparePhrases", texts: ["ok"] });
  assert.equal(trial.events.filter(({ type }) => type === "phraseReady").length, 2);
  trial.perform({ type: "synthesize", turnId: 1, index: 0, text: "ok" });
  const spoken = trial.events.find((event) => event.type === "sentenceWhole");
  assert.deepEqual(spoken?.words, words);
  assert.equal(trial.client.syntheses.length, 1);
});

test("an aborted turn is aborted at every vendor, and nothing of it comes back", async () => {
  const trial = new EffectTrial();
  trial.ask(1);
  trial.perform(
    { type: "synthesize", turnId: 1, index: 0, text: "one" },
    { type: "synthesize", turnId: 1, index: 1, text: "two" },
    { type: "abortTurn", turnId: 1 },
    { type: "abortTurn", turnId: 1 },
  );
  assert.ok(trial.client.syntheses.every(({ signal }) => signal.aborted));
  await new Promise(setImmediate);
  assert.deepEqual(trial.events, []);
  assert.deepEqual(trial.failures, []);
  assert.deepEqual(trial.log.lines, []);
});

test("stopping the model leaves the sentences that are being spoken", () => {
  const trial = new EffectTrial();
  trial.ask(1);
  trial.perform(
    { type: "synthesize", turnId: 1, index: 0, text: "one" },
    { type: "stopModel", turnId: 1 },
  );
  assert.equal(trial.client.syntheses[0]?.signal.aborted, false);
});

test("work for a new turn lets go of the old one", () => {
  const trial = new EffectTrial();
  trial.perform({ type: "synthesize", turnId: 1, index: 0, text: "one" });
  trial.perform({ type: "synthesize", turnId: 2, index: 0, text: "two" });
  assert.deepEqual(
    trial.client.syntheses.map(({ signal }) => signal.aborted),
    [true, false],
  );
});

test("a deadline that is moved is reported once, and one that is cleared never", () => {
  const trial = new EffectTrial();
  trial.runner.wakeAt(100);
  trial.clock.advance(60);
  trial.runner.wakeAt(160);
  trial.runner.wakeAt(160);
  assert.equal(trial.clock.pendingTimerCount, 1);
  trial.clock.advance(60);
  assert.deepEqual(trial.events, []);
  trial.clock.advance(40);
  const reached = { type: "deadlineReached", voiceAgoMs: undefined, ttsAudioAgoMs: undefined };
  assert.deepEqual(trial.events, [{ ...reached, atMs: 160 }]);
  trial.runner.wakeAt(200);
  trial.runner.wakeAt(undefined);
  assert.equal(trial.clock.pendingTimerCount, 0);
});

test("the end stops the timer and vendors, ends the leg, then writes the call down", () => {
  const trial = new EffectTrial();
  trial.runner.wakeAt(100);
  trial.perform(
    { type: "synthesize", turnId: 1, index: 0, text: "one" },
    { type: "end", ending: CALLER_LEFT, save: NOTHING },
  );
  assert.equal(trial.clock.pendingTimerCount, 0);
  assert.equal(trial.client.syntheses[0]?.signal.aborted, true);
  assert.deepEqual(trial.caller.endings, [CALLER_LEFT]);
  assert.deepEqual(trial.endings, [CALLER_LEFT]);
});

test("messages and saved turns are handed on", () => {
  const trial = new EffectTrial();
  trial.perform(
    { type: "send", message: { type: "audioStop" } },
    { type: "saveTurn", save: NOTHING },
  );
  assert.deepEqual(trial.caller.messages, [{ type: "audioStop" }]);
  assert.deepEqual(trial.saves, [NOTHING]);
});

test("a tool is run for its turn, and what it says comes back under its call; one that breaks its contract has failed", async () => {
  const call = { id: "a", name: "book", argumentsJson: "{}" };
  const outcomes = [
    Promise.resolve({ content: "booked", spoken: "It is booked." }),
    Promise.reject(new TypeError("oops")),
  ];
  const trial = new EffectTrial({
    definitions: [],
    run: () => outcomes.shift() ?? Promise.resolve({ content: "" }),
  });
  const runTool: ConversationEffect = { type: "runTool", turnId: 1, call, until: "done" };
  const told = trial.next();
  trial.perform(runTool);
  const done = { type: "toolDone", turnId: 1, callId: "a", atMs: 0 };
  assert.deepEqual(await told, { ...done, content: "booked", spoken: "It is booked." });
  const failed = trial.next();
  trial.perform(runTool);
  const failure = { isFailed: true, voiceAgoMs: undefined };
  assert.deepEqual(await failed, { ...done, content: "The tool failed.", ...failure });
  assert.equal(trial.log.ofLevel("error").length, 1);
});

test("a tool that is stopped while it runs reports nothing, and is no fault", async () => {
  const trial = new EffectTrial({
    definitions: [],
    run: (_call, _caller, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("aborted")));
      }),
  });
  const call = { id: "a", name: "book", argumentsJson: "{}" };
  const runTool = { type: "runTool", turnId: 1, call } as const;
  trial.perform({ ...runTool, until: "turnEnds" }, { type: "abortTurn", turnId: 1 });
  trial.perform({ ...runTool, until: "callEnds" });
  trial.runner.dispose();
  await new Promise(setImmediate);
  assert.deepEqual(trial.events, []);
  assert.deepEqual(trial.log.lines, []);
});

test("what a service has begun ends there, whatever becomes of the turn and of the call; the page's tools end with the call", async () => {
  const stopped: string[] = [];
  const answers: (() => void)[] = [];
  const trial = new EffectTrial({
    definitions: [],
    run: ({ name }, _caller, signal) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => stopped.push(name));
        answers.push(() => resolve({ content: name }));
      }),
  });
  for (const [name, until] of [
    ["keys", "turnEnds"],
    ["page", "callEnds"],
    ["service", "done"],
  ] as const) {
    const call = { id: name, name, argumentsJson: "{}" };
    trial.perform({ type: "runTool", turnId: 1, call, until });
  }
  trial.perform({ type: "abortTurn", turnId: 1 });
  assert.deepEqual(stopped, ["keys"]);
  const told = trial.next();
  answers[2]?.();
  assert.deepEqual(await told, {
    type: "toolDone",
    turnId: 1,
    callId: "service",
    content: "service",
    spoken: undefined,
    atMs: 0,
  });
  trial.runner.dispose();
  assert.deepEqual(stopped, ["keys", "page"]);
});

test("at most sixteen tools run at once; further calls get an error", async () => {
  const trial = new EffectTrial({ definitions: [], run: () => new Promise(() => undefined) });
  const call = { id: "a", name: "book", argumentsJson: "{}" };
  for (let n = 0; n < 16; n += 1) {
    trial.perform({ type: "runTool", turnId: n, call, until: "done" });
  }
  assert.equal(trial.events.length, 0);
  trial.perform({ type: "runTool", turnId: 16, call, until: "done" });
  const [event] = trial.events;
  assert.ok(event?.type === "toolDone" && event.content.includes("too many tools"));
});

test("an LLM gets tools if there are some, and no empty list", () => {
  const definition = { name: "book", description: "Books.", parameters: {} };
  const run = () => Promise.resolve({ content: "" });
  for (const definitions of [[], [definition]]) {
    const trial = new EffectTrial({ definitions, run });
    trial.ask(1);
    assert.deepEqual(
      trial.model.requests[0]?.tools,
      definitions.length > 0 ? definitions : undefined,
    );
  }
});

test("audio pauses and resumes, a call is transferred, and the vendor's answer is delivered", async () => {
  const trial = new EffectTrial();
  trial.perform({ type: "pauseOutput" });
  assert.equal(trial.caller.isHeld, true);
  trial.perform({ type: "resumeAudio" });
  assert.equal(trial.caller.isHeld, false);
  for (const [turnId, isTaken] of [true, false].entries()) {
    trial.caller.takesTransfers = isTaken;
    const answered = trial.next();
    trial.perform({ type: "transfer", turnId, transfer: { to: "+4930123456" } });
    const type = isTaken ? "transferTaken" : "transferRefused";
    assert.deepEqual(await answered, { type, turnId, atMs: 0 });
  }
  assert.deepEqual(trial.caller.transfers, ["+4930123456", "+4930123456"]);
});
