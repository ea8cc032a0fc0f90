import * as v from "valibot";
import { AgentTool, toolsField } from "./agent-tool.js";
import {
  choiceField,
  flagField,
  Id,
  idField,
  nameField,
  numberField,
  objectField,
  requestObject,
  Timestamp,
  textField,
  wholeNumberField,
} from "./fields.js";

/** About 8,000 tokens: more would be sent to the vendor at every turn, and the caller would wait for it. */
const PROMPT_CHARACTERS_MAX = 32_000;
const GREETING_CHARACTERS_MAX = 2_000;
const LANGUAGE_CHARACTERS_MAX = 35;

const personaFields = {
  systemPrompt: v.optional(textField("the instructions", PROMPT_CHARACTERS_MAX)),
  greeting: v.optional(textField("the first sentence", GREETING_CHARACTERS_MAX)),
  personality: v.optional(textField("the manner of speaking", GREETING_CHARACTERS_MAX)),
  language: v.optional(textField("a language tag such as en-US", LANGUAGE_CHARACTERS_MAX)),
  guardrails: v.optional(textField("the rules of every answer", PROMPT_CHARACTERS_MAX)),
};

const llmConfigFields = {
  temperature: v.optional(numberField("the sampling temperature", 0, 2)),
  maxTokens: v.optional(wholeNumberField("the length of a reply in tokens", 1, 32_768)),
};

const ttsConfigFields = {
  speed: v.optional(numberField("the rate of speech", 0.25, 4)),
};

const thresholdFields = {
  silenceTimeoutMs: v.optional(wholeNumberField("milliseconds of silence", 50, 60_000)),
  maxCallDurationSec: v.optional(wholeNumberField("seconds of a call", 1, 86_400)),
  interruptionSensitivity: v.optional(
    choiceField("how easily the caller interrupts", ["low", "medium", "high"]),
  ),
  endpointingMs: v.optional(wholeNumberField("milliseconds of silence", 10, 10_000)),
};

const recordingFields = {
  enabled: v.optional(
    flagField("whether calls are recorded, which is off unless it is switched on"),
  ),
  retentionDays: v.optional(
    wholeNumberField("days after which a recording is deleted, 30 unless given", 1, 3_650),
  ),
};

const nested = {
  persona: v.optional(objectField("who the agent is", personaFields)),
  llmConfig: v.optional(objectField("settings of the language model", llmConfigFields)),
  ttsConfig: v.optional(objectField("settings of the voice", ttsConfigFields)),
  thresholds: v.optional(objectField("when turns and calls end", thresholdFields)),
  tools: v.optional(toolsField),
  recording: v.optional(
    objectField("whether calls are recorded, and for how long that is kept", recordingFields),
  ),
};

const references = {
  name: nameField("the agent's name"),
  llmProviderId: idField("the id of an llm provider"),
  llmModelId: idField("a model of the llm provider"),
  ttsProviderId: idField("the id of a tts provider"),
  ttsModelId: idField("a model of the tts provider"),
  sttProviderId: idField("the id of an stt provider"),
};

export const AgentBody = requestObject({ ...references, ...nested });

export const AgentPatchBody = requestObject({
  ...v.partial(requestObject(references)).entries,
  ...nested,
  active: v.optional(flagField("whether the agent takes calls")),
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
  }),
  llmProviderId: Id,
  llmModelId: v.string(),
  llmConfig: v.object({ temperature: v.number(), maxTokens: v.number() }),
  ttsProviderId: Id,
  ttsModelId: v.string(),
  ttsConfig: v.object({ speed: v.number() }),
  sttProviderId: Id,
  thresholds: v.object({
    silenceTimeoutMs: v.number(),
    maxCallDurationSec: v.number(),
    interruptionSensitivity: v.picklist(["low", "medium", "high"]),
    endpointingMs: v.number(),
  }),
  tools: v.array(AgentTool),
  recording: v.object({ enabled: v.boolean(), retentionDays: v.number() }),
  active: v.boolean(),
  status: v.pipe(
    v.picklist(["active", "inactive", "paused_provider", "paused_plan"]),
    v.description("worked out whenever the agent is read"),
  ),
  pauseReason: v.pipe(v.nullable(v.string()), v.description("null when the agent is not paused")),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
