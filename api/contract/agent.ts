import * as v from "valibot";
import { agentTextFaults } from "../../engine/calls/agent-texts.js";
import {
  KEYTERM_CHARACTERS_MAX,
  PRONOUNCED_CHARACTERS_MAX,
} from "../../engine/calls/call-variables.js";
import { isTimeZone } from "../../engine/calls/prompt.js";
import { TOOL_SCHEMA_RULES } from "../../engine/tools/tool-schema.js";
import {
  AgentTool,
  secretHeadersField,
  sentenceFields,
  shownSentences,
  TOOL_NAME_CHARACTERS_MAX,
  TOOLS_MAX,
  toolSchemaCheck,
  toolsField,
  webAddressField,
} from "./agent-tool.js";
import { originField } from "./client-token.js";
import {
  Category,
  choiceField,
  FreeForm,
  flagField,
  Id,
  idField,
  knownObjectField,
  nameField,
  numberField,
  objectField,
  renamed,
  requestObject,
  Timestamp,
  textField,
  wholeNumberField,
  worded,
} from "./fields.js";
import { documentIdsField } from "./knowledge.js";
import { languageTag } from "./language-tag.js";
import { AgentMcpServer, mcpServersField, SERVERS_MAX } from "./mcp-server.js";
import { modelNoticeFields } from "./provider.js";

/** About 8,000 tokens: more would be sent to the vendor at every turn, and the caller would wait for it. */
const PROMPT_CHARACTERS_MAX = 32_000;
const GREETING_CHARACTERS_MAX = 2_000;
const TIME_ZONE_CHARACTERS_MAX = 64;
const IDLE_TIMEOUT_MAX_MS = 600_000;

const STOCK_PHRASE_CHARACTERS_MAX = 300;
const FILLER_PHRASES_MAX = 10;

const stockPhrase = (subject: string) => nameField(subject, STOCK_PHRASE_CHARACTERS_MAX);

const stockPhraseFields = {
  apology: v.exactOptional(stockPhrase("said when no reply could be generated")),
  waiting: v.exactOptional(
    worded(
      v.pipe(
        v.array(stockPhrase("a filler phrase")),
        v.minLength(1),
        v.maxLength(FILLER_PHRASES_MAX),
        v.description(
          `filler phrases, said one after the other while a reply is late, a list of 1 to ${FILLER_PHRASES_MAX} texts of 1 to ${STOCK_PHRASE_CHARACTERS_MAX} characters`,
        ),
      ),
    ),
  ),
  stillThere: v.exactOptional(stockPhrase("said when the caller says nothing")),
  callerIdleGoodbye: v.exactOptional(stockPhrase("said before the call of a silent caller ends")),
  notRecognized: v.exactOptional(stockPhrase("said when the STT returned no words")),
  timeIsUp: v.exactOptional(stockPhrase("said when the call reaches its maximum length")),
  sttFailedApology: v.exactOptional(stockPhrase("said when the STT fails in the call")),
  cannotHearAtAll: v.exactOptional(stockPhrase("said when the STT never worked in the call")),
  interrupted: v.exactOptional(
    stockPhrase("said when a caller reconnects after a lost connection"),
  ),
  transferring: v.exactOptional(stockPhrase("said before a transfer that a colleague ordered")),
  cannotTransfer: v.exactOptional(stockPhrase("said when a transfer failed")),
  lineBusy: v.exactOptional(stockPhrase("said when the transfer's target was busy")),
  noAnswer: v.exactOptional(stockPhrase("said when the transfer's target did not answer")),
  suspended: v.exactOptional(stockPhrase("said when the operator suspends the organization")),
  callEndedByOrganization: v.exactOptional(stockPhrase("said when the organization ends the call")),
  briefingGreeting: v.exactOptional(
    stockPhrase("said first to the person whom a warm transfer calls"),
  ),
  briefingQuestion: v.exactOptional(
    stockPhrase("asks that person to press 1 or say yes, or to press 2"),
  ),
};

/** What AssemblyAI takes, and what Deepgram recommends. */
const KEYTERMS_MAX = 100;
const PRONUNCIATIONS_MAX = 100;

const keytermsField = worded(
  v.pipe(
    v.array(nameField("a name or term", KEYTERM_CHARACTERS_MAX)),
    v.maxLength(KEYTERMS_MAX),
    v.description(
      `names and terms that callers say, for an STT model that takes them, a list of at most ${KEYTERMS_MAX} texts of 1 to ${KEYTERM_CHARACTERS_MAX} characters`,
    ),
  ),
);

const pronunciationsField = worded(
  v.pipe(
    v.array(
      requestObject({
        word: nameField("what is written", PRONOUNCED_CHARACTERS_MAX),
        say: nameField("how the voice says it", PRONOUNCED_CHARACTERS_MAX),
      }),
    ),
    v.maxLength(PRONUNCIATIONS_MAX),
    v.description(
      `how the voice says certain words; the transcript keeps them as they are written, a list of at most ${PRONUNCIATIONS_MAX} objects with word and say`,
    ),
  ),
);

const LANGUAGES_MAX = 10;

/** Tools of the agent and its MCP servers together. */
const SPEAKING_TOOLS_MAX = TOOLS_MAX + SERVERS_MAX;

const BRIEFING_LANGUAGE =
  "what the persons of warm transfers hear, persona.language or one of persona.languages, or null for what the caller speaks";
const briefingTag = languageTag(BRIEFING_LANGUAGE);
const briefingLanguageField = v.pipe(
  v.nullable(briefingTag),
  v.description(v.getDescription(briefingTag) ?? BRIEFING_LANGUAGE),
);

const languagesField = worded(
  v.pipe(
    v.array(languageTag("another language of the agent")),
    v.maxLength(LANGUAGES_MAX),
    v.examples([["de-DE", "es-ES"]]),
    v.description(
      `languages that the agent changes to when the caller speaks them, besides language, for an STT model that tells them apart, a list of at most ${LANGUAGES_MAX} tags such as de-DE`,
    ),
  ),
);

const stockPhrasesField = knownObjectField(
  "phrases that the agent says by itself in place of those of its language, all of them at once",
  stockPhraseFields,
);

const TOOL_SENTENCES =
  "what the agent says in that language while its tools run, by the names of tools and MCP servers; tools that are not named say nothing in it";

const toolSentencesField = worded(
  v.pipe(
    v.record(
      v.pipe(v.string(), v.maxLength(TOOL_NAME_CHARACTERS_MAX)),
      knownObjectField("the sentences of a tool", sentenceFields),
    ),
    v.maxEntries(SPEAKING_TOOLS_MAX),
    v.examples([{ findOrder: { onStart: "Ich sehe nach." } }]),
    v.description(
      `${TOOL_SENTENCES}, an object of at most ${SPEAKING_TOOLS_MAX} objects with onStart, onDelay and onFailure`,
    ),
  ),
);

const languageTextsField = worded(
  v.pipe(
    v.array(
      requestObject({
        language: languageTag("one of persona.languages"),
        greeting: v.optional(
          worded(
            v.pipe(
              v.nullable(v.pipe(v.string(), v.maxLength(GREETING_CHARACTERS_MAX))),
              v.description(
                `the first sentence of a call that begins in that language, a text of at most ${GREETING_CHARACTERS_MAX} characters, or null for the agent's own`,
              ),
            ),
          ),
          null,
        ),
        stockPhrases: v.optional(
          knownObjectField(
            "phrases that the agent says by itself in place of those of the language",
            stockPhraseFields,
          ),
          {},
        ),
        toolSentences: v.exactOptional(toolSentencesField),
      }),
    ),
    v.maxLength(LANGUAGES_MAX),
    v.description(
      `what the agent says by itself in persona.languages, in place of their phrases, a list of at most ${LANGUAGES_MAX} objects with language, greeting, stockPhrases and toolSentences`,
    ),
  ),
);

const VOICEMAIL_CHARACTERS_MAX = 1_000;

const spokenOrNull = (subject: string, charactersMax: number) => {
  const spoken = nameField(subject, charactersMax);
  return v.pipe(v.nullable(spoken), v.description(v.getDescription(spoken) ?? subject));
};

const outboundFields = {
  voicemailMessage: v.optional(
    spokenOrNull(
      "what the agent leaves on an answering machine after its beep, or null to hang up on machines",
      VOICEMAIL_CHARACTERS_MAX,
    ),
    null,
  ),
  screeningAnswer: v.optional(
    spokenOrNull(
      "what the agent says to a machine that asks for name and reason before it puts a call through, or null for the names of agent and organization",
      STOCK_PHRASE_CHARACTERS_MAX,
    ),
    null,
  ),
  whileDetecting: v.optional(
    choiceField(
      "what the agent does until the telephony vendor has said whether a person has answered: `greet` (the default), or `wait` in silence",
      ["greet", "wait"],
    ),
    "greet",
  ),
};

const personaFields = {
  outbound: v.optional(
    knownObjectField(
      "what the agent says to machines that answer calls that it places, replaced as a whole",
      outboundFields,
    ),
  ),
  languages: v.optional(languagesField),
  languageTexts: v.optional(languageTextsField),
  briefingLanguage: v.optional(briefingLanguageField),
  keyterms: v.optional(keytermsField),
  pronunciations: v.optional(pronunciationsField),
  systemPrompt: v.optional(textField("the instructions", PROMPT_CHARACTERS_MAX)),
  greeting: v.optional(textField("the first sentence", GREETING_CHARACTERS_MAX)),
  personality: v.optional(textField("the manner of speaking", GREETING_CHARACTERS_MAX)),
  language: v.optional(languageTag("the agent's language")),
  guardrails: v.optional(textField("the rules of every answer", PROMPT_CHARACTERS_MAX)),
  timeZone: v.optional(
    worded(
      v.pipe(
        v.string(),
        v.maxLength(TIME_ZONE_CHARACTERS_MAX),
        v.check(isTimeZone),
        v.examples(["Europe/Berlin"]),
        v.description(
          "the IANA time zone of the date and time in the prompt, such as Europe/Berlin; UTC unless given",
        ),
      ),
    ),
  ),
  stockPhrases: v.optional(stockPhrasesField),
};

const TEMPERATURE_MAX = 2;

const llmConfigFields = {
  temperature: v.optional(
    worded(
      v.pipe(
        v.union([v.null(), v.pipe(v.number(), v.minValue(0), v.maxValue(TEMPERATURE_MAX))]),
        v.description(
          "the sampling temperature, a number from 0 to 2, 0.4 unless given, or null to send none: some models refuse any",
        ),
      ),
    ),
  ),
  maxTokens: v.optional(wholeNumberField("the length of a reply in tokens", 1, 32_768)),
};

const VOICE_ID = /^[\x20-\x7e]{1,200}$/;

/** A vendor's voice; null for the one in the provider's settings. */
export function voiceField(subject: string) {
  return v.optional(voiceChoice(subject));
}

function voiceChoice(subject: string) {
  return worded(
    v.pipe(
      v.union([
        v.null(),
        v.pipe(v.string(), v.regex(VOICE_ID), v.examples(["21m00Tcm4TlvDq8ikWAM"])),
      ]),
      v.description(
        `${subject}, 1 to 200 printable ASCII characters, or null for the provider's own`,
      ),
    ),
  );
}

const languageVoicesField = worded(
  v.pipe(
    v.array(
      requestObject({
        language: languageTag("one of persona.languages"),
        providerId: idField("the id of a tts provider"),
        modelId: idField("a model of that tts provider"),
        voice: v.optional(voiceChoice("the vendor's id of a voice"), null),
      }),
    ),
    v.maxLength(LANGUAGES_MAX),
    v.description(
      `the voices for persona.languages, in place of the agent's own, a list of at most ${LANGUAGES_MAX} objects with language, providerId, modelId and voice`,
    ),
  ),
);

const ttsConfigFields = {
  languageVoices: v.optional(languageVoicesField),
  speed: v.optional(numberField("the rate of speech", 0.25, 4)),
  voice: voiceField("the vendor's id of a voice, which another provider sets to null"),
};

const PHRASES_MAX = 50;
const PHRASE_CHARACTERS_MAX = 80;

function phrasesField(subject: string) {
  return worded(
    v.pipe(
      v.array(nameField("a phrase", PHRASE_CHARACTERS_MAX)),
      v.maxLength(PHRASES_MAX),
      v.description(
        `${subject}, a list of at most ${PHRASES_MAX} texts of 1 to ${PHRASE_CHARACTERS_MAX} characters`,
      ),
    ),
  );
}

const thresholdFields = {
  silenceTimeoutMs: v.optional(wholeNumberField("milliseconds of silence", 50, 60_000)),
  maxCallDurationSec: v.optional(wholeNumberField("seconds of a call", 1, 86_400)),
  interruptionSensitivity: v.optional(
    choiceField("how easily the caller interrupts", ["low", "medium", "high"]),
  ),
  backchannels: v.optional(
    choiceField(
      'what the agent does with backchannels ("uh-huh", "okay") said while it speaks: `ignore` them (the default), or `reply` once it has spoken',
      ["ignore", "reply"],
    ),
  ),
  backchannelPhrases: v.optional(
    phrasesField("backchannels beside those of the agent's language, which do not stop it"),
  ),
  interruptionPhrases: v.optional(
    phrasesField(
      "phrases that stop the agent at every sensitivity, also where they are backchannels, beside the stop words of its language",
    ),
  ),
  preemptiveGeneration: v.optional(
    flagField(
      "whether the LLM starts a reply before the end of the caller's turn is certain, off by default: replies start sooner, and some are paid for and discarded",
    ),
  ),
  onProviderFailure: v.optional(
    choiceField(
      "what happens to a call when a provider and all its fallbacks fail: `end` it (the default), or `transfer` it with the agent's first transfer tool, where the line supports transfers",
      ["end", "transfer"],
    ),
  ),
  onUnrecognizedSpeech: v.optional(
    worded(
      v.pipe(
        v.union([v.null(), v.picklist(["ask", "ignore"])]),
        v.description(
          "what the agent does when the caller spoke and the STT returned no words: `ask` the caller to repeat it, `ignore` it, or null for `ask` on the telephone and `ignore` elsewhere",
        ),
      ),
    ),
  ),
  endpointingMs: v.optional(wholeNumberField("milliseconds of silence", 10, 10_000)),
  maxEndpointingDelayMs: v.optional(
    wholeNumberField(
      "the longest pause in milliseconds that does not end the turn of a caller who is dictating or whose sentence is unfinished, 1500 by default",
      0,
      10_000,
    ),
  ),
  dtmfDigits: v.optional(
    wholeNumberField(
      "how many DTMF digits complete an answer, 0 (the default) if that varies",
      0,
      32,
    ),
  ),
  fillerAfterMs: v.optional(
    wholeNumberField(
      "milliseconds without agent audio after which the agent plays a filler phrase, 1500 by default, 0 for never",
      0,
      10_000,
    ),
  ),
  idleTimeoutMs: v.optional(
    worded(
      v.pipe(
        v.union([
          v.null(),
          v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(IDLE_TIMEOUT_MAX_MS)),
        ]),
        v.description(
          "milliseconds of caller silence after which the agent asks whether the caller is still there, a whole number from 0 (never) to 600000, or null for 10000 on the telephone and never elsewhere",
        ),
      ),
    ),
  ),
  ...renamed({
    patienceMs: "maxEndpointingDelayMs",
    agreementWords: "backchannels",
    waitingWordMs: "fillerAfterMs",
    callerSilenceMs: "idleTimeoutMs",
    earlyReply: "preemptiveGeneration",
    keypadDigits: "dtmfDigits",
    onVendorsLost: "onProviderFailure",
  }),
};

const recordingFields = {
  enabled: v.optional(
    flagField("whether calls are recorded, which is off unless it is switched on"),
  ),
  retentionDays: v.optional(
    wholeNumberField("days after which a recording is deleted, 30 unless given", 1, 3_650),
  ),
};

const ALLOWED_ORIGINS_MAX = 20;
const allowedOriginsField = worded(
  v.pipe(
    v.array(originField("a site")),
    v.maxLength(ALLOWED_ORIGINS_MAX),
    v.description(
      `sites whose pages may call the agent without key or token, a list of at most ${ALLOWED_ORIGINS_MAX} origins such as https://shop.example.com`,
    ),
  ),
);

const CRITERIA_CHARACTERS_MAX = 2_000;
const MIN_DURATION_MAX_SEC = 86_400;

const analysisFields = {
  schema: v.exactOptional(
    worded(
      v.pipe(
        FreeForm,
        toolSchemaCheck,
        v.examples([{ type: "object", properties: { topic: { type: "string" } } }]),
        v.description(`the data to extract from the transcript, ${TOOL_SCHEMA_RULES}`),
      ),
    ),
  ),
  successCriteria: v.exactOptional(
    nameField("when a call was a success, in words", CRITERIA_CHARACTERS_MAX),
  ),
  minDurationSec: v.exactOptional(
    numberField("calls of fewer seconds are left out, 0 by default", 0, MIN_DURATION_MAX_SEC),
  ),
  sampleRate: v.exactOptional(numberField("the share of calls, 1 by default for all", 0, 1)),
  llmProviderId: v.exactOptional(
    idField("the id of an llm provider, with llmModelId; the agent's own LLM unless given"),
  ),
  llmModelId: v.exactOptional(idField("a model of that llm provider, with llmProviderId")),
};

const ANALYSIS =
  "what an LLM extracts from calls that have ended, replaced as a whole, or null for nothing";

const analysisObject = v.pipe(
  knownObjectField(ANALYSIS, analysisFields),
  v.check(
    ({ schema, successCriteria }) => schema !== undefined || successCriteria !== undefined,
    "expected a schema, or successCriteria, or both",
  ),
  v.check(
    ({ llmProviderId, llmModelId }) => (llmProviderId === undefined) === (llmModelId === undefined),
    "expected llmProviderId and llmModelId together",
  ),
);

const analysisField = v.pipe(
  v.nullable(analysisObject),
  v.description(v.getDescription(analysisObject) ?? ANALYSIS),
);

const PRE_CALL_TIMEOUT_MIN_MS = 100;
/** Vonage waits 5 s for the answer to a webhook, of which the request is only a part. */
const PRE_CALL_TIMEOUT_MAX_MS = 3_000;
const PRE_CALL_TIMEOUT_PRESET_MS = 2_000;
/** `whsec_` and base64 of 24 to 64 bytes. */
const SIGNING_SECRET = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/;

const PRE_CALL =
  "a request to your service before each call, which answers variables and overrides, or null for none";

const preCallObject = knownObjectField(PRE_CALL, {
  url: webAddressField("the service's http or https address, without user name"),
  timeoutMs: v.optional(
    wholeNumberField(
      `milliseconds after which the call goes on without an answer, ${PRE_CALL_TIMEOUT_PRESET_MS} unless given`,
      PRE_CALL_TIMEOUT_MIN_MS,
      PRE_CALL_TIMEOUT_MAX_MS,
    ),
    PRE_CALL_TIMEOUT_PRESET_MS,
  ),
  headers: v.exactOptional(secretHeadersField),
  secret: v.exactOptional(
    worded(
      v.pipe(
        v.nullable(
          v.pipe(
            v.string(),
            v.regex(SIGNING_SECRET),
            v.examples(["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]),
          ),
        ),
        v.description(
          "the key that signs the requests as Standard Webhooks has it, whsec_ and 24 to 64 bytes in base64, or null for no signature; it is kept secret, and left out it stays as it is",
        ),
      ),
    ),
  ),
});

const preCallField = v.pipe(
  v.nullable(preCallObject),
  v.description(v.getDescription(preCallObject) ?? PRE_CALL),
);

const nested = {
  persona: v.optional(objectField("the agent's persona", personaFields)),
  llmConfig: v.optional(objectField("LLM settings", llmConfigFields)),
  ttsConfig: v.optional(objectField("TTS settings", ttsConfigFields)),
  thresholds: v.optional(objectField("when turns and calls end", thresholdFields)),
  tools: v.optional(toolsField),
  recording: v.optional(
    objectField("whether calls are recorded, and for how long that is kept", recordingFields),
  ),
  allowedOrigins: v.optional(allowedOriginsField),
  analysis: v.optional(analysisField),
  preCall: v.optional(preCallField),
  mcpServers: v.optional(mcpServersField),
  knowledge: v.optional(
    objectField("what the agent can look up, replaced as a whole", {
      documentIds: documentIdsField,
    }),
  ),
  ...renamed({ publicOrigins: "allowedOrigins" }),
};

/** More would be asked only after the caller has hung up. */
const FALLBACKS_MAX = 3;

function fallbackList<Entries extends v.ObjectEntries>(subject: string, entries: Entries) {
  return v.optional(
    worded(
      v.pipe(
        v.array(objectField(subject, entries)),
        v.maxLength(FALLBACKS_MAX),
        v.description(`${subject} each, a list of at most ${FALLBACKS_MAX} in order of preference`),
      ),
    ),
  );
}

const STT_MODEL_CHARACTERS_MAX = 128;

const sttModelField = v.optional(
  worded(
    v.pipe(
      v.union([v.null(), v.pipe(v.string(), v.nonEmpty(), v.maxLength(STT_MODEL_CHARACTERS_MAX))]),
      v.description("a model of the stt provider, or null for its first that the plan allows"),
    ),
  ),
);

const fallbacksField = v.optional(
  objectField("the providers to use when one fails", {
    llm: fallbackList("a fallback LLM", {
      providerId: idField("the id of an llm provider"),
      modelId: idField("a model of the llm provider"),
    }),
    tts: fallbackList("a fallback TTS", {
      providerId: idField("the id of a tts provider"),
      modelId: idField("a model of the tts provider"),
      speed: v.optional(numberField("the rate of speech, the agent's unless given", 0.25, 4)),
    }),
    stt: fallbackList("a fallback STT", {
      providerId: idField("the id of an stt provider"),
      modelId: sttModelField,
    }),
    hedging: v.optional(
      flagField(
        "whether the next LLM is asked too when the first is later than usual, off by default: the first to start replies, and the other's tokens are wasted",
      ),
    ),
  }),
);

const references = {
  name: nameField("the agent's name"),
  llmProviderId: idField("the id of an llm provider"),
  llmModelId: idField("a model of the llm provider"),
  ttsProviderId: idField("the id of a tts provider"),
  ttsModelId: idField("a model of the tts provider"),
  sttProviderId: idField("the id of an stt provider"),
};

const vendorChoice = { sttModelId: sttModelField, fallbacks: fallbacksField };

/** Names each field whose text has braces that no call could fill. */
function checkTexts<Body extends object>({ dataset, addIssue }: v.RawCheckContext<Body>): void {
  if (!dataset.typed) return;
  for (const { path, message } of agentTextFaults(dataset.value)) {
    const keys = path.split(".");
    const [key = "", ...inner] = keys;
    addIssue({
      message,
      path: [pathItem(dataset.value, key), ...inner.map((each) => pathItem({}, each))],
    });
  }
}

function pathItem(input: object, key: string): v.ObjectPathItem {
  return { type: "object", origin: "value", input: { ...input }, key, value: undefined };
}

export const AgentBody = v.pipe(
  requestObject({ ...references, ...vendorChoice, ...nested }),
  v.rawCheck((context) => checkTexts(context)),
);

export const AgentPatchBody = v.pipe(
  requestObject({
    ...v.partial(requestObject(references)).entries,
    ...vendorChoice,
    ...nested,
    active: v.optional(flagField("whether the agent takes calls")),
  }),
  v.rawCheck((context) => checkTexts(context)),
);

const StockPhrasesView = v.object({
  apology: v.exactOptional(v.string()),
  waiting: v.exactOptional(v.array(v.string())),
  stillThere: v.exactOptional(v.string()),
  callerIdleGoodbye: v.exactOptional(v.string()),
  notRecognized: v.exactOptional(v.string()),
  timeIsUp: v.exactOptional(v.string()),
  sttFailedApology: v.exactOptional(v.string()),
  cannotHearAtAll: v.exactOptional(v.string()),
  interrupted: v.exactOptional(v.string()),
  transferring: v.exactOptional(v.string()),
  cannotTransfer: v.exactOptional(v.string()),
  lineBusy: v.exactOptional(v.string()),
  noAnswer: v.exactOptional(v.string()),
  suspended: v.exactOptional(v.string()),
  callEndedByOrganization: v.exactOptional(v.string()),
  briefingGreeting: v.exactOptional(v.string()),
  briefingQuestion: v.exactOptional(v.string()),
});

export const Agent = v.object({
  _id: Id,
  orgId: Id,
  name: v.string(),
  persona: v.object({
    systemPrompt: v.string(),
    greeting: v.string(),
    personality: v.string(),
    language: v.string(),
    guardrails: v.string(),
    timeZone: v.string(),
    stockPhrases: StockPhrasesView,
    keyterms: v.array(v.string()),
    pronunciations: v.array(v.object({ word: v.string(), say: v.string() })),
    languages: v.array(v.string()),
    languageTexts: v.array(
      v.object({
        language: v.string(),
        greeting: v.pipe(v.nullable(v.string()), v.description("null: the agent's first one")),
        stockPhrases: StockPhrasesView,
        toolSentences: v.exactOptional(v.record(v.string(), v.object(shownSentences))),
      }),
    ),
    briefingLanguage: v.pipe(
      v.nullable(v.string()),
      v.description("what the persons of warm transfers hear; null: what the caller speaks"),
    ),
    outbound: v.object({
      voicemailMessage: v.nullable(v.string()),
      screeningAnswer: v.nullable(v.string()),
      whileDetecting: v.picklist(["greet", "wait"]),
    }),
  }),
  llmProviderId: Id,
  llmModelId: v.string(),
  llmConfig: v.object({ temperature: v.nullable(v.number()), maxTokens: v.number() }),
  ttsProviderId: Id,
  ttsModelId: v.string(),
  ttsConfig: v.object({
    speed: v.number(),
    voice: v.pipe(v.nullable(v.string()), v.description("null: the provider's own")),
    languageVoices: v.array(
      v.object({
        language: v.string(),
        providerId: Id,
        modelId: v.string(),
        voice: v.pipe(v.nullable(v.string()), v.description("null: the provider's own")),
      }),
    ),
  }),
  sttProviderId: Id,
  sttModelId: v.pipe(
    v.nullable(v.string()),
    v.description("null: the provider's first that the plan allows"),
  ),
  fallbacks: v.object({
    llm: v.array(v.object({ providerId: Id, modelId: v.string() })),
    tts: v.array(v.object({ providerId: Id, modelId: v.string(), speed: v.number() })),
    stt: v.array(v.object({ providerId: Id, modelId: v.nullable(v.string()) })),
    hedging: v.boolean(),
  }),
  thresholds: v.object({
    silenceTimeoutMs: v.number(),
    maxCallDurationSec: v.number(),
    interruptionSensitivity: v.picklist(["low", "medium", "high"]),
    backchannels: v.picklist(["ignore", "reply"]),
    backchannelPhrases: v.array(v.string()),
    interruptionPhrases: v.array(v.string()),
    preemptiveGeneration: v.boolean(),
    onProviderFailure: v.picklist(["end", "transfer"]),
    onUnrecognizedSpeech: v.nullable(v.picklist(["ask", "ignore"])),
    endpointingMs: v.number(),
    maxEndpointingDelayMs: v.number(),
    dtmfDigits: v.number(),
    fillerAfterMs: v.number(),
    idleTimeoutMs: v.nullable(v.number()),
  }),
  tools: v.array(AgentTool),
  recording: v.object({ enabled: v.boolean(), retentionDays: v.number() }),
  allowedOrigins: v.array(v.string()),
  variables: v.pipe(
    v.array(v.string()),
    v.description("names in its texts and its tools' requests that not every call has"),
  ),
  preCall: v.pipe(
    v.nullable(
      v.object({
        url: v.string(),
        timeoutMs: v.number(),
        headerNames: v.pipe(v.array(v.string()), v.description("their values are never answered")),
        isSigned: v.boolean(),
      }),
    ),
    v.description(PRE_CALL),
  ),
  mcpServers: v.array(AgentMcpServer),
  analysis: v.pipe(
    v.nullable(
      v.object({
        schema: v.nullable(FreeForm),
        successCriteria: v.nullable(v.string()),
        minDurationSec: v.number(),
        sampleRate: v.number(),
        llmProviderId: v.nullable(Id),
        llmModelId: v.nullable(v.string()),
      }),
    ),
    v.description("null: calls are not analyzed"),
  ),
  knowledge: v.object({ documentIds: v.array(Id) }),
  active: v.boolean(),
  status: v.pipe(
    v.picklist(["active", "inactive", "paused_provider", "paused_plan"]),
    v.description("computed whenever the agent is read"),
  ),
  pauseReason: v.pipe(v.nullable(v.string()), v.description("null when the agent is not paused")),
  modelNotices: v.pipe(
    v.array(v.object({ category: Category, modelId: v.string(), ...modelNoticeFields })),
    v.description("models of the agent that their vendor has retired or will retire"),
  ),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
