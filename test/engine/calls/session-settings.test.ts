import assert from "node:assert/strict";
import { test } from "node:test";
import { outboundSettings, sessionSettings } from "../../../engine/calls/call-opener.js";
import { stockPhrases } from "../../../engine/conversation/lexicon.js";
import type { AgentRecord, OutboundSpeech, StockPhrases } from "../../../storage/records.js";
import { agentRecord, planRecord } from "../../storage/sample-records.js";

const WEB = { promptChars: 120, isPaced: false, isStreamed: true, wasBroken: false };
const PLAN = planRecord();

function settingsOf(thresholds: Partial<AgentRecord["thresholds"]> = {}, changes = {}) {
  const agent = agentRecord();
  const given = { ...agent.thresholds, maxCallDurationSec: 100, ...thresholds };
  return sessionSettings({ ...agent, thresholds: given }, PLAN, { ...WEB, ...changes });
}

test("a call behaves as its agent's author has said", () => {
  const thresholds = {
    silenceTimeoutMs: 650,
    interruptionSensitivity: "high",
    backchannels: "reply",
    backchannelPhrases: [],
    interruptionPhrases: [],
    preemptiveGeneration: true,
    onProviderFailure: "transfer",
    maxEndpointingDelayMs: 1_234,
    dtmfDigits: 5,
    fillerAfterMs: 2_345,
    idleTimeoutMs: 3_456,
  } as const;
  const { phrases, ...settings } = settingsOf(thresholds);
  const { interruptionSensitivity: sensitivity, ...same } = thresholds;
  assert.ok(phrases);
  assert.deepEqual(settings, {
    ...same,
    sensitivity,
    greeting: agentRecord().persona.greeting,
    apology: phrases.apology,
    cannotTransfer: phrases.cannotTransfer,
    suspended: phrases.suspended,
    transferring: phrases.transferring,
    callEndedByOrganization: phrases.callEndedByOrganization,
    repeatRequest: "",
    language: "en",
    languageTag: "en-US",
    languages: [],
    durationMaxMs: 100_000,
    isPaced: false,
    isStreamed: true,
    tools: settings.tools,
    systemPromptChars: 120,
  });
});

test("each of the agent's languages has the author's texts for it, and Parley's for the rest", () => {
  const { persona } = agentRecord();
  const languageTexts = [
    { language: "de-DE", greeting: "Guten Tag.", stockPhrases: { apology: "Oh je." } },
    { language: "es-ES", greeting: null, stockPhrases: {} },
  ];
  const languages = ["de-DE", "es-ES", "fr-FR"];
  const own = { apology: "Dear me." };
  const agent = agentRecord({
    persona: { ...persona, languages, languageTexts, stockPhrases: own },
  });
  const settingsIn = (language?: string) =>
    sessionSettings(agent, PLAN, {
      promptChars: 0,
      isPaced: true,
      isStreamed: true,
      wasBroken: false,
      language,
    });
  const first = settingsIn();
  assert.deepEqual(
    first.languages.map(({ languageTag, apology }) => [languageTag, apology]),
    [
      ["en-US", "Dear me."],
      ["de-DE", "Oh je."],
      ["es-ES", stockPhrases("es").apology],
      ["fr-FR", stockPhrases("fr").apology],
    ],
  );
  assert.equal(first.languages[1]?.phrases?.stillThere, stockPhrases("de").stillThere);
  assert.equal(first.greeting, persona.greeting);
  assert.deepEqual(
    [settingsIn("de-DE").greeting, settingsIn("de-DE").apology],
    ["Guten Tag.", "Oh je."],
  );
  assert.equal(settingsIn("es-ES").greeting, persona.greeting);
});

test("a placed call greets at once unless its author or its values speak against it, and has words for machines", () => {
  const { persona, name } = agentRecord();
  const settingsWith = (
    outbound: Partial<OutboundSpeech>,
    about: Partial<Parameters<typeof outboundSettings>[1]> = {},
  ) =>
    outboundSettings(
      { name, persona: { ...persona, outbound: { ...persona.outbound, ...outbound } } },
      {
        organization: "Acme",
        detection: "hangUp",
        isBeepReported: false,
        isGreetingPrivate: false,
        ...about,
      },
    );
  assert.deepEqual(settingsWith({}), {
    awaitsVerdict: true,
    greetsPersonOnly: false,
    voicemailMessage: "",
    isBeepReported: false,
    screeningAnswer: `This is ${name}, calling from Acme. Could you put me through, please?`,
  });
  assert.equal(settingsWith({ whileDetecting: "wait" }).greetsPersonOnly, true);
  assert.equal(settingsWith({}, { isGreetingPrivate: true }).greetsPersonOnly, true);
  assert.equal(settingsWith({}, { detection: "none" }).awaitsVerdict, false);
  const given = { voicemailMessage: "Bye.", screeningAnswer: "Me." };
  const { voicemailMessage, screeningAnswer } = settingsWith(given, { detection: "leaveMessage" });
  assert.deepEqual({ voicemailMessage, screeningAnswer }, given);
});

test("the author's phrases stand in place of the language's, which is the region's where it has one", () => {
  const { persona } = agentRecord();
  const settingsWith = (language: string, stockPhrases: Partial<StockPhrases>) =>
    sessionSettings(agentRecord({ persona: { ...persona, language, stockPhrases } }), PLAN, {
      promptChars: 0,
      isPaced: true,
      isStreamed: false,
      wasBroken: true,
    });
  const own = settingsWith("pt-BR", {
    interrupted: "Back again?",
    waiting: ["Hm."],
    apology: "Oh.",
  });
  assert.equal(own.greeting, "Back again?");
  assert.equal(own.apology, "Oh.");
  assert.deepEqual(own.phrases?.waiting, ["Hm."]);
  assert.equal(own.phrases?.stillThere, "Você ainda está aí?");
  assert.equal(own.language, "pt");
  assert.equal(settingsWith("pt-PT", {}).phrases?.stillThere, "Ainda está aí?");
});

test("a call lasts as long as agent and plan both allow", () => {
  const lasting = (maxCallDurationSec: number) => settingsOf({ maxCallDurationSec }).durationMaxMs;
  const planMs = PLAN.limits.maxCallDurationSec * 1_000;
  assert.deepEqual([lasting(1), lasting(1_000_000)], [1_000, planMs]);
});

test("a silent caller gets a reminder after ten seconds on the telephone, on the web only if configured", () => {
  const silence = (idleTimeoutMs: number | null, isPaced: boolean) =>
    settingsOf({ idleTimeoutMs }, { isPaced }).idleTimeoutMs;
  assert.deepEqual([silence(null, true), silence(null, false)], [10_000, 0]);
  assert.deepEqual([silence(5_000, true), silence(5_000, false)], [5_000, 5_000]);
  assert.deepEqual([silence(0, true), silence(0, false)], [0, 0]);
});

test("a caller is asked to repeat unrecognized speech on the telephone, on the web only if configured", () => {
  const request = (onUnrecognizedSpeech: "ask" | "ignore" | null, isPaced: boolean) =>
    settingsOf({ onUnrecognizedSpeech }, { isPaced }).repeatRequest;
  const words = "Sorry, I did not catch that.";
  assert.deepEqual([request(null, true), request(null, false)], [words, ""]);
  assert.deepEqual([request("ask", true), request("ask", false)], [words, words]);
  assert.deepEqual([request("ignore", true), request("ignore", false)], ["", ""]);
  const silent = { fillerAfterMs: 0, idleTimeoutMs: 0 };
  assert.equal(settingsOf(silent, { isPaced: true }).repeatRequest, "");
  assert.equal(settingsOf({ ...silent, onUnrecognizedSpeech: "ask" }).repeatRequest, words);
});

test("an agent says nothing by itself where its author wants neither word nor question", () => {
  const says = (fillerAfterMs: number, idleTimeoutMs: number) =>
    settingsOf({ fillerAfterMs, idleTimeoutMs }).phrases !== undefined;
  assert.deepEqual([says(0, 0), says(1, 0), says(0, 1)], [false, true, true]);
});

test("a caller who was cut off gets an apology instead of the greeting, in the agent's language", () => {
  const agent = agentRecord();
  const persona = { ...agent.persona, language: "DE-at" };
  const german = sessionSettings({ ...agent, persona }, PLAN, { ...WEB, wasBroken: true });
  assert.equal(german.language, "de");
  assert.match(german.greeting, /Verbindung/);
  assert.match(settingsOf({}, { wasBroken: true }).greeting, /the line was interrupted/);
});

test("tools say in each language what the author has written for it, and nothing in another's", () => {
  const { persona } = agentRecord();
  const tool = {
    type: "client",
    name: "look",
    description: "Looks it up.",
    parameters: {},
    timeoutMs: 1_000,
    onStart: "One moment.",
    onFailure: "It failed.",
  } as const;
  const look = { onStart: "Moment.", onDelay: "Es dauert." };
  const german = { language: "de-DE", greeting: null, stockPhrases: {}, toolSentences: { look } };
  const languages = ["de-DE", "es-ES"];
  const agent = agentRecord({
    tools: [tool],
    persona: { ...persona, languages, languageTexts: [german] },
  });
  const circumstances = { promptChars: 0, isPaced: true, isStreamed: true, wasBroken: false };
  const named = { kind: "client", name: "look" };
  const settings = sessionSettings(agent, PLAN, circumstances);
  const [english, ...others] = [
    [{ ...named, onStart: "One moment.", onFailure: "It failed." }],
    [{ ...named, onStart: "Moment.", onDelay: { text: "Es dauert.", afterMs: 3_000 } }],
    [named],
  ];
  assert.deepEqual(settings.tools, english);
  assert.deepEqual(
    settings.languages.map(({ tools }) => tools),
    [english, ...others],
  );
  const inGerman = sessionSettings(agent, PLAN, { ...circumstances, language: "de-DE" });
  assert.deepEqual(inGerman.tools, others[0]);
});
