import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AGENT_HUNG_UP,
  CALLER_LEFT,
  CALLER_SILENT,
  CALLER_TOO_FAST,
  END_REASONS,
  isBreak,
  isRevocable,
  LANGUAGE_MODEL_FAILED,
  LISTENING_FAILED,
  ORGANIZATION_ENDED,
  SPEECH_FAILED,
  transferredByOrganization,
} from "../../../engine/conversation/call-end.js";
import { stockPhrases } from "../../../engine/conversation/lexicon.js";
import { isClosing } from "../../../engine/conversation/playback-end.js";
import { newConversation } from "../../../engine/conversation/state.js";
import { providerFailureEnd } from "../../../engine/conversation/transfer.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

/** When a call with this limit is told that its time is up; undefined for never. */
function timeUpAfterMs(durationMaxMs: number): number | undefined {
  const phrases = stockPhrases("en");
  const call = new RecordedCall({ ...PLAIN_SETTINGS, phrases, durationMaxMs });
  call.send({ type: "opened", resumed: true });
  return call.actor.state.deadlines.timeUp;
}

test("a caller who already hears a goodbye gets no time-limit announcement", () => {
  const phrases = stockPhrases("en");
  const settings = { ...PLAIN_SETTINGS, phrases, durationMaxMs: 60_000 };
  const call = new RecordedCall(settings);
  call.send({ type: "opened", resumed: true });
  call.send({ type: "endRequested", ending: ORGANIZATION_ENDED });
  const goodbye = structuredClone(call.turn);
  assert.deepEqual(goodbye?.ending, ORGANIZATION_ENDED);
  call.reach("timeUp");
  assert.deepEqual(call.turn, goodbye);
});

test("a call with a limit of half a minute or more has an announcement six seconds before its end", () => {
  assert.equal(timeUpAfterMs(29_999), undefined);
  assert.equal(timeUpAfterMs(30_000), 24_000);
  assert.equal(timeUpAfterMs(1_800_000), 1_794_000);
});

test("a client gets an audio stop before the last words only if it was sent audio", () => {
  for (const isSpeaking of [true, false]) {
    const call = new RecordedCall(PLAIN_SETTINGS);
    call.send({ type: "opened", resumed: true });
    call.send({ type: "written", text: "what time is it" });
    call.send({ type: "replyToken", turnId: 1, text: "It is ten." });
    call.send({ type: "replyDone", turnId: 1, tokens: 5 });
    if (isSpeaking) {
      const audio = { turnId: 1, index: 0, durationMs: 900, firstByteAtMs: 0 };
      call.send({ type: "sentenceWhole", ...audio });
    }
    call.send({ type: "endRequested", ending: ORGANIZATION_ENDED });
    const lines = call.takeLines();
    assert.equal(lines.includes("send audioStop"), isSpeaking);
  }
});

const HANGUP = { kind: "hangup", name: "hangup" } as const;
const TRANSFER = { kind: "transfer", name: "transfer", to: "+15550001111" } as const;

/** The agent is saying its goodbye, with which it hangs up or hands the call on. */
function callInGoodbye(name: "hangup" | "transfer"): RecordedCall {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, tools: [HANGUP, TRANSFER] });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "that is all" });
  call.send({ type: "replyToken", turnId: 1, text: "Goodbye then." });
  const toolCalls = [{ id: "a", name, argumentsJson: "{}" }];
  call.send({ type: "replyDone", turnId: 1, tokens: 5, toolCalls });
  call.send({ type: "sentenceWhole", turnId: 1, index: 0, durationMs: 2_000, firstByteAtMs: 0 });
  call.clock.advance(500);
  return call;
}

test("a call whose recognizer fails in the agent's goodbye is completed, or handed on as it was to be", () => {
  const hungUp = callInGoodbye("hangup");
  hungUp.send({ type: "sttFailed" });
  const { reason, status, transferTo } = hungUp.turn?.ending ?? {};
  assert.deepEqual(
    { reason, status, transferTo },
    {
      reason: "sttFailed",
      status: "completed",
      transferTo: undefined,
    },
  );
  const handedOn = callInGoodbye("transfer");
  handedOn.send({ type: "sttFailed" });
  const ending = handedOn.turn?.ending;
  assert.deepEqual(
    [ending?.reason, ending?.status, ending?.transferTo],
    ["sttFailed", "failed", "+15550001111"],
  );
});

test("a caller who never heard the agent gets the apology about STT; one who has, and whose agent has no words for it, does not", () => {
  const before = new RecordedCall(PLAIN_SETTINGS);
  before.send({ type: "opened", resumed: true });
  before.send({ type: "sttFailed" });
  assert.deepEqual(
    before.turn?.sentences.map(({ text }) => text),
    [PLAIN_SETTINGS.apology],
  );
  const after = new RecordedCall(PLAIN_SETTINGS);
  after.send({ type: "opened", resumed: false });
  after.send({ type: "sttFailed" });
  assert.equal(after.actor.state.phase, "ended");
});

test("nothing is said before the call has begun", () => {
  const deaf = new RecordedCall(PLAIN_SETTINGS);
  deaf.send({ type: "sttFailed" });
  const ended = new RecordedCall(PLAIN_SETTINGS);
  ended.send({ type: "endRequested", ending: ORGANIZATION_ENDED });
  for (const call of [deaf, ended]) {
    assert.equal(call.actor.state.phase, "ended");
    assert.ok(!call.effects.some(({ type }) => type === "synthesize"));
  }
});

test("forced last words stand, whatever else ends the call meanwhile", () => {
  const settings = { ...PLAIN_SETTINGS, phrases: stockPhrases("en"), durationMaxMs: 60_000 };
  const call = new RecordedCall(settings);
  call.send({ type: "opened", resumed: true });
  call.clock.advance(54_000);
  const turn = structuredClone(call.turn);
  assert.equal(turn?.ending?.reason, "durationLimit");
  call.send({ type: "endRequested", ending: ORGANIZATION_ENDED });
  call.send({ type: "sttFailed" });
  assert.deepEqual(call.turn, turn);
});

const GOODBYE = "Goodbye then, and see you soon.";

/** A call whose agent says goodbye from 0 on; this much of its audio has arrived. */
function callThatHangsUp(
  sound: "sentenceGrew" | "sentenceWhole",
  durationMs: number,
  isPaced: boolean,
) {
  const tools = [{ kind: "hangup", name: "hangup" }] as const;
  const call = new RecordedCall({ ...PLAIN_SETTINGS, isPaced, isStreamed: true, tools });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "that is all" });
  const turnId = call.turn?.id ?? 0;
  call.send({ type: "replyToken", turnId, text: GOODBYE });
  const toolCalls = [{ id: "a", name: "hangup", argumentsJson: "{}" }];
  call.send({ type: "replyDone", turnId, tokens: 5, toolCalls });
  call.send({ type: sound, turnId, index: 0, durationMs, firstByteAtMs: 0 });
  return { call, turnId };
}

function thank(call: RecordedCall): void {
  const heard = { isFinal: true, speechFinal: true, lastWordEndMs: undefined, endedAgoMs: 100 };
  call.send({ type: "transcript", text: "thank you", ...heard });
}

const isOver = (call: RecordedCall) => call.actor.state.phase === "ended";

test("thanks into a hole in the goodbye do not end it in the middle", () => {
  const { call, turnId } = callThatHangsUp("sentenceGrew", 500, false);
  call.clock.advance(600);
  thank(call);
  assert.equal(isOver(call), false);
  call.send({ type: "sentenceWhole", turnId, index: 0, durationMs: 2_000, firstByteAtMs: 0 });
  call.clock.advance(10_000);
  assert.equal(isOver(call), true);
  assert.ok(call.takeLines().includes(`send assistant final "${GOODBYE}"`));
});

test("thanks at the very end of the goodbye end the call, and a moment earlier do not", () => {
  for (const [atMs, isEnd] of [
    [999, false],
    [1_000, true],
  ] as const) {
    const { call } = callThatHangsUp("sentenceWhole", 1_000, false);
    call.clock.advance(900);
    call.send({ type: "speechStarted", voiceAgoMs: undefined });
    call.clock.advance(atMs - 900);
    thank(call);
    assert.equal(isOver(call), isEnd, `at ${atMs} ms`);
  }
});

test("a telephone call waits for the telephone's word that the goodbye was heard", () => {
  const { call, turnId } = callThatHangsUp("sentenceWhole", 1_000, true);
  call.clock.advance(1_100);
  thank(call);
  assert.equal(isOver(call), false);
  call.send({ type: "sentencePlayed", turnId, index: 0 });
  assert.equal(isOver(call), true);
});

test("a call that one side ended is completed, and one that could not continue has failed", () => {
  const endings = [
    AGENT_HUNG_UP,
    CALLER_LEFT,
    CALLER_SILENT,
    ORGANIZATION_ENDED,
    CALLER_TOO_FAST,
    LANGUAGE_MODEL_FAILED,
    LISTENING_FAILED,
    SPEECH_FAILED,
  ];
  assert.deepEqual(
    endings.map(({ reason, status }) => `${reason}: ${status}`),
    [
      "agentHungUp: completed",
      "callerLeft: completed",
      "callerIdle: completed",
      "organizationEnded: completed",
      "callerTooFast: failed",
      "languageModelFailed: failed",
      "sttFailed: failed",
      "speechFailed: failed",
    ],
  );
});

test("a caller can take back what the agent chose, and nothing else", () => {
  const revocable = END_REASONS.filter((reason) =>
    isRevocable({ reason, status: "completed", message: "" }),
  );
  assert.deepEqual(revocable, ["agentHungUp", "transferred", "callerIdle"]);
});

test("a call broke off where its caller may still be there", () => {
  assert.deepEqual(
    END_REASONS.filter((reason) => isBreak({ reason })),
    ["callerLeft", "serverStopping", "overloaded", "internalError"],
  );
});

const FAREWELLS: Readonly<Record<string, readonly string[]>> = {
  en: [
    "Bye.",
    "okay thanks bye",
    "Thank you so much, you too!",
    "No, that's all. Thanks.",
    "alright, have a good one",
    "okay great, thank you so much for your help, bye now",
    "that's all I needed, thank you",
    "I really appreciate it, you have a great day",
    "no, nothing else",
  ],
  de: [
    "Tschüss!",
    "okay danke, schönen Tag noch",
    "Vielen Dank, Ihnen auch",
    "nein das war's danke",
    "vielen Dank und auf Wiederhören",
    "das wäre alles, danke für die Hilfe",
    "schönes Wochenende, tschüss dann",
  ],
  es: [
    "Adiós.",
    "muchas gracias, hasta luego",
    "no, eso es todo, gracias",
    "muy amable, que le vaya bien",
  ],
  fr: [
    "Au revoir.",
    "merci beaucoup, bonne journée",
    "d'accord merci, vous aussi",
    "non, rien d'autre, merci, bonne fin de journée",
  ],
  it: [
    "Ciao ciao",
    "grazie mille, buona giornata",
    "va bene, arrivederci",
    "no, nient'altro, grazie di tutto",
  ],
  pt: ["Tchau, obrigado", "está bem, até logo", "é só isso, obrigado pela ajuda"],
  nl: ["Dank u wel, fijne dag", "oké doei", "nee, dat is alles, bedankt voor de hulp"],
  pl: ["dziękuję, do widzenia", "dobrze, miłego dnia", "dziękuję za pomoc, miłego weekendu"],
  tr: ["teşekkürler, iyi günler", "tamam görüşürüz", "hayır, başka bir şey yok, iyi günler"],
  hi: ["धन्यवाद", "ठीक है, बाय", "नहीं, और कुछ नहीं, धन्यवाद"],
  ja: [
    "ありがとうございました。",
    "はい、失礼します。",
    "いいえ、大丈夫です。どうもありがとうございました。",
  ],
  zh: ["谢谢，再见。", "好的，拜拜", "没有别的了，谢谢，那就这样吧"],
};
const REQUESTS: Readonly<Record<string, readonly string[]>> = {
  en: [
    "wait",
    "No!",
    "one more thing",
    "thanks, but when do you open",
    "okay and the price",
    "bye? no wait",
  ],
  de: ["Moment", "ach ja, noch eine Frage", "danke, und wann", "nein"],
  es: ["espere", "gracias, pero otra cosa"],
  fr: ["attendez", "merci, et demain"],
  it: ["un momento", "grazie, però"],
  pt: ["espera", "obrigado, mas"],
  nl: ["wacht", "bedankt, nog iets"],
  pl: ["chwileczkę", "dziękuję, ale"],
  tr: ["bir dakika", "teşekkürler ama"],
  hi: ["रुकिए", "धन्यवाद, एक और बात"],
  ja: ["ちょっと待って", "ありがとう、あと一つ"],
  zh: ["等一下", "谢谢，还有一个问题"],
};

for (const [language, farewells] of Object.entries(FAREWELLS)) {
  test(`words that let a goodbye finish are distinguished from those that ask for more (${language})`, () => {
    for (const words of farewells) assert.ok(isClosing(words, language), words);
    for (const words of REQUESTS[language] ?? []) assert.ok(!isClosing(words, language), words);
  });
}

const TO = "+15550001111";
const tools = [{ kind: "transfer", name: "transfer", to: TO }] as const;

/** The vendor was just asked to transfer the call, as the end of the first turn. */
function transferringCall(settings: Partial<typeof PLAIN_SETTINGS> = {}): RecordedCall {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, tools, ...settings });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "a human please" });
  const toolCalls = [{ id: "a", name: "transfer", argumentsJson: "{}" }];
  call.send({ type: "replyDone", turnId: 1, tokens: 5, toolCalls });
  call.clock.advance(0);
  assert.equal(call.actor.state.transfer?.turnId, 1);
  call.takeLines();
  return call;
}

const saying = (call: RecordedCall) => call.turn?.kind;
const refuse = (call: RecordedCall, turnId: number) =>
  call.send({ type: "transferRefused", turnId });

test("a refusal of another transfer, or of none, changes nothing", () => {
  const call = transferringCall();
  const { state } = call.actor;
  refuse(call, 0);
  assert.deepEqual(call.takeLines(), []);
  assert.equal(call.actor.state, state);
  const none = new RecordedCall(PLAIN_SETTINGS);
  none.send({ type: "opened", resumed: true });
  none.takeLines();
  refuse(none, 0);
  none.send({ type: "transferTaken", turnId: 0 });
  assert.deepEqual(none.takeLines(), []);
  assert.deepEqual(none.crashes, []);
});

test("a caller who hears why the call ends is not told of a transfer that was refused meanwhile", () => {
  const call = transferringCall();
  call.send({ type: "endRequested", ending: ORGANIZATION_ENDED });
  assert.equal(saying(call), "farewell");
  refuse(call, 1);
  assert.equal(saying(call), "farewell");
  assert.deepEqual(call.turn?.ending, ORGANIZATION_ENDED);
});

test("a call without vendors is transferred if the agent's settings ask for it and there is a target", () => {
  const transferTo = (
    onProviderFailure: "end" | "transfer",
    given: (typeof PLAIN_SETTINGS)["tools"],
  ) => {
    const state = newConversation({ ...PLAIN_SETTINGS, onProviderFailure, tools: given }, []);
    return [LANGUAGE_MODEL_FAILED, SPEECH_FAILED, LISTENING_FAILED].map((ending) => {
      const lost = providerFailureEnd(state, ending);
      assert.equal(lost.reason, ending.reason);
      return lost.transferTo;
    });
  };
  assert.deepEqual(transferTo("end", tools), [undefined, undefined, undefined]);
  assert.deepEqual(transferTo("transfer", tools), [TO, TO, TO]);
  assert.deepEqual(transferTo("transfer", []), [undefined, undefined, undefined]);
});

const ORDERED = transferredByOrganization(TO);
const order = (call: RecordedCall) => call.send({ type: "endRequested", ending: ORDERED });

/** The greeting was heard. */
function liveCall(): RecordedCall {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: true });
  call.takeLines();
  return call;
}

test("a transfer that the organization orders is announced, and made once that was heard", () => {
  const call = liveCall();
  order(call);
  assert.equal(saying(call), "farewell");
  assert.deepEqual(call.turn?.ending, ORDERED);
  const sentences = call.effects.filter(({ type }) => type === "synthesize");
  assert.match(JSON.stringify(sentences), /I will put you through\./);
  assert.equal(call.actor.state.phase, "live", "the call has not ended");
  order(call);
  assert.deepEqual(call.turn?.ending, ORDERED, "a second order changes nothing");
});

test("an ordered transfer does not stop a goodbye, and is none before the call is open", () => {
  const leaving = liveCall();
  leaving.send({ type: "endRequested", ending: ORGANIZATION_ENDED });
  order(leaving);
  assert.deepEqual(leaving.turn?.ending, ORGANIZATION_ENDED);
  const opening = new RecordedCall(PLAIN_SETTINGS);
  order(opening);
  assert.equal(opening.actor.state.phase, "opening");
});
