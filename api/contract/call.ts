import * as v from "valibot";
import { BRIEFING_CHARACTERS_MAX } from "../../engine/conversation/call-end.js";
import {
  CONTEXT_NOTE_CHARS_MAX,
  DTMF_DIGITS,
  DTMF_DIGITS_MAX,
  SAY_CHARS_MAX,
} from "../../engine/conversation/control-command.js";
import { PHONE_VENDOR_NAMES } from "../../engine/telephony/telephony-settings.js";
import { transferCallerId, transferMode, transferTarget } from "./agent-tool.js";
import { overridesField, variablesField } from "./call-values.js";
import {
  Count,
  choiceField,
  FreeForm,
  flagField,
  Id,
  idField,
  momentField,
  nameField,
  optionalWholeNumberParameter,
  requestObject,
  Timestamp,
  textField,
  wholeNumberField,
  wholeNumberParameter,
  worded,
} from "./fields.js";
import { SKIP_MAX } from "./organization.js";

const CALLS_PAGE_MAX = 100;
const WORDS_CHARACTERS_MAX = 100;
const NUMBER_CHARACTERS_MAX = 128;
const ANALYSIS_FIELD_CHARACTERS_MAX = 300;
const RUN_CALLS_PRESET = 1_000;
/** Calls that one run analyzes at most. */
const RUN_CALLS_MAX = 10_000;
const OF_NUMBER = " (searched among the latest 10,000 of that number)";
const AMONG_LATEST = " (searched among the latest 10,000)";

const filters = {
  agentId: v.optional(idField("the id of an agent")),
  status: v.optional(choiceField("the state of a call", ["active", "completed", "failed"])),
  channel: v.optional(choiceField(`where callers came from${AMONG_LATEST}`, ["web", "phone"])),
  from: v.optional(
    textField(
      `the calling number as metadata.from has it, such as %2B15550100${OF_NUMBER}`,
      NUMBER_CHARACTERS_MAX,
      1,
    ),
  ),
  to: v.optional(
    textField(
      `the called number as metadata.to has it, such as %2B15550100${OF_NUMBER}`,
      NUMBER_CHARACTERS_MAX,
      1,
    ),
  ),
  direction: v.optional(
    choiceField(
      `who placed the call: the caller, an agent (or the organization), or a browser${AMONG_LATEST}`,
      ["inbound", "outbound", "web"],
    ),
  ),
  startedAfter: v.optional(momentField("when the first of the calls began")),
  startedBefore: v.optional(momentField("before when the last of the calls began")),
  longerThanSec: optionalWholeNumberParameter(`only calls of more seconds${AMONG_LATEST}`, {
    min: 0,
    max: 86_400,
  }),
  waitedMoreThanMs: optionalWholeNumberParameter(
    `only calls whose replies took more milliseconds on average${AMONG_LATEST}`,
    { min: 0, max: 600_000 },
  ),
  words: v.optional(
    textField(
      "words that either side said, ignoring case (searched among the latest 2,000)",
      WORDS_CHARACTERS_MAX,
      1,
    ),
  ),
  attention: v.optional(
    choiceField(
      `only calls that failed, got no reply because LLM or TTS failed each time, were interrupted often, had long waits, a long STT outage or no speech${AMONG_LATEST}`,
      ["true", "false"],
    ),
  ),
  analysisStatus: v.optional(
    choiceField(`the result of the analysis of calls${AMONG_LATEST}`, ["completed", "failed"]),
  ),
  analysisSuccess: v.optional(
    choiceField(`whether calls met the agent's success criteria${AMONG_LATEST}`, ["true", "false"]),
  ),
  analysisField: v.optional(
    worded(
      v.pipe(
        v.string(),
        v.maxLength(ANALYSIS_FIELD_CHARACTERS_MAX),
        v.regex(/^[^:]+:/),
        v.examples(["topic:refund"]),
        v.description(
          `a text, number or boolean at the top of the analysis' data and its value, such as topic:refund, of at most ${ANALYSIS_FIELD_CHARACTERS_MAX} characters${AMONG_LATEST}`,
        ),
      ),
    ),
  ),
};

export const CallCountQuery = requestObject(filters);

export const CallsQuery = requestObject({
  ...filters,
  skip: wholeNumberParameter("how many to skip", { min: 0, max: SKIP_MAX, preset: 0 }),
  limit: wholeNumberParameter("how many to return", { min: 1, max: CALLS_PAGE_MAX, preset: 20 }),
});

export const WaitsQuery = requestObject({
  days: wholeNumberParameter("how many days up to today", { min: 1, max: 90, preset: 14 }),
});

const Milliseconds = v.pipe(v.number(), v.minValue(0));

const WaitParts = v.object({
  sttMs: Milliseconds,
  llmFirstTokenMs: Milliseconds,
  llmSentenceMs: Milliseconds,
  ttsFirstByteMs: Milliseconds,
  ttsRestMs: Milliseconds,
});

export const DailyWaits = v.object({
  date: v.pipe(v.string(), v.isoDate(), v.examples(["2026-01-31"]), v.description("day in UTC")),
  turns: v.pipe(Count, v.description("replies that were measured")),
  p50Ms: v.pipe(
    v.nullable(Milliseconds),
    v.description("from the end of the caller's turn to the first audio; null without replies"),
  ),
  p95Ms: v.nullable(Milliseconds),
  parts: v.pipe(v.nullable(WaitParts), v.description("the median of each part")),
  p95Parts: v.pipe(v.nullable(WaitParts), v.description("the 95th percentile of each part")),
});

export const UsageQuery = requestObject({
  days: wholeNumberParameter("how many days up to today", { min: 1, max: 365, preset: 30 }),
});

const E164 = /^\+[1-9]\d{6,14}$/;

export function numberToCall(subject: string) {
  return worded(
    v.pipe(
      v.string(),
      v.regex(E164),
      v.examples(["+15550100"]),
      v.description(`${subject}, an E.164 number such as +15550100`),
    ),
  );
}

export const PlaceCallBody = requestObject({
  agentId: idField("the id of an agent"),
  to: numberToCall("who is called"),
  from: numberToCall("a number that the platform has allowed the organization to call from"),
  vendor: v.optional(
    choiceField(
      "the telephony vendor that places the call; left out, the first whose account is configured",
      PHONE_VENDOR_NAMES,
    ),
  ),
  detectMachine: v.optional(
    flagField(
      "whether answering machines are told from people: the agent leaves them its persona.outbound.voicemailMessage, or hangs up; the call's metadata.answeredBy says who answered",
    ),
    true,
  ),
  variables: v.optional(variablesField()),
  overrides: v.optional(overridesField),
  person: v.optional(
    worded(
      v.pipe(
        v.picklist(["scripted", "typed"]),
        v.description(
          "who answers in the sandbox: scripted, a simulated person with a few sentences, or typed, one whose words you send; on real telephones only scripted, which changes nothing",
        ),
      ),
    ),
    "scripted",
  ),
});

/** More than anybody types at once. */
const PERSON_TEXT_CHARACTERS_MAX = 1_000;

export const PersonWordsBody = requestObject({
  text: worded(
    v.pipe(
      v.string(),
      v.trim(),
      v.minLength(1),
      v.maxLength(PERSON_TEXT_CHARACTERS_MAX),
      v.examples(["Yes, that suits me."]),
      v.description(
        `what the person says, a text of 1 to ${PERSON_TEXT_CHARACTERS_MAX} characters`,
      ),
    ),
  ),
});

export const SayBody = requestObject({
  text: nameField("what the agent says when neither it nor the caller is speaking", SAY_CHARS_MAX),
  interrupt: v.optional(flagField("whether the agent stops and says it at once"), false),
});

export const CallContextBody = requestObject({
  text: nameField(
    "a note that the LLM reads from its next request on; the caller does not hear it",
    CONTEXT_NOTE_CHARS_MAX,
  ),
});

export const DtmfBody = requestObject({
  digits: worded(
    v.pipe(
      v.string(),
      v.maxLength(DTMF_DIGITS_MAX),
      v.regex(DTMF_DIGITS),
      v.examples(["1234#"]),
      v.description(`the keys in their order, 1 to ${DTMF_DIGITS_MAX} of 0 to 9, *, # and A to D`),
    ),
  ),
});

export const ListenAddress = v.object({
  path: v.pipe(v.string(), v.description("of the WebSocket, below the address of this server")),
  expiresAt: Timestamp,
});

export const TransferCallBody = requestObject({
  to: transferTarget(),
  mode: v.exactOptional(transferMode()),
  callerId: v.exactOptional(transferCallerId()),
  summary: v.exactOptional(
    textField(
      "what the person of a warm transfer hears about the call; left out, the agent's LLM writes it",
      BRIEFING_CHARACTERS_MAX,
      1,
    ),
  ),
});

const ANSWERING_AGENT = "the id of the agent that answers, or null (the first active one)";

export const UpdatePhoneNumberBody = requestObject({
  agentId: worded(v.pipe(v.nullable(idField(ANSWERING_AGENT)), v.description(ANSWERING_AGENT))),
  accountId: v.nullish(
    idField(
      "the id of the telephony account that carries its calls, or null (the platform's): only signed-in admins send it",
    ),
  ),
});

/** A number or SIP address of the organization. */
export const InboundNumber = v.object({
  number: v.pipe(v.string(), v.description("in E.164, or a SIP address; its id in paths")),
  vendor: v.pipe(
    v.nullable(v.string()),
    v.description("the telephony vendor whose webhooks may name it, or null: any"),
  ),
  agentId: v.pipe(v.nullable(Id), v.description("who answers, or null: the first active agent")),
  accountId: v.pipe(
    v.nullable(Id),
    v.description("the organization's own account that carries its calls, or null: the platform's"),
  ),
  isImported: v.pipe(
    v.boolean(),
    v.description("it came from that account, and can be released; else the operator assigned it"),
  ),
});

export const OutboundNumbers = v.object({
  configured: v.pipe(v.boolean(), v.description("a telephony account is set up to place calls")),
  simulated: v.pipe(
    v.boolean(),
    v.description("a simulated person answers, and any numbers may be used"),
  ),
  numbers: v.pipe(v.array(v.string()), v.description("from which agents may call")),
  targets: v.pipe(
    v.array(v.string()),
    v.description("whom agents may call: number prefixes and SIP addresses"),
  ),
  inbound: v.pipe(
    v.array(InboundNumber),
    v.description("where the organization is called, and who answers"),
  ),
});

export const QueuedCall = v.object({
  id: v.pipe(
    v.string(),
    v.description("of the call record (`_id`), there once the call is answered or has failed"),
  ),
  status: v.literal("queued"),
  agentId: Id,
});

export const AnalysisRunBody = requestObject({
  from: momentField("when the first call began"),
  to: momentField("when the last call began"),
  limit: v.optional(
    wholeNumberField(
      `how many calls, the newest, ${RUN_CALLS_PRESET} unless given`,
      1,
      RUN_CALLS_MAX,
    ),
    RUN_CALLS_PRESET,
  ),
});

export const AnalysisRunView = v.object({
  id: Id,
  agentId: Id,
  state: v.pipe(
    v.picklist(["running", "completed"]),
    v.description("completed when each call has its analysis, or a failed one, or was left out"),
  ),
  from: Timestamp,
  to: Timestamp,
  limit: Count,
  calls: v.pipe(Count, v.description("how many were found; it grows at first")),
  completed: Count,
  failed: Count,
  skipped: v.pipe(Count, v.description("too short, or without words of the caller")),
  createdAt: Timestamp,
});

export const CallAnalysisView = v.object({
  status: v.picklist(["completed", "failed"]),
  success: v.pipe(v.nullable(v.boolean()), v.description("null without success criteria")),
  reason: v.pipe(v.nullable(v.string()), v.description("in the LLM's words")),
  data: v.pipe(v.nullable(FreeForm), v.description("as the agent's schema has it")),
  error: v.pipe(
    v.nullable(v.picklist(["llmFailed", "invalidAnswer", "noLlm", "analysisRemoved"])),
    v.description("null of a completed one"),
  ),
  model: v.pipe(v.nullable(v.string()), v.description("which has answered")),
  promptTokens: Count,
  completionTokens: Count,
  durationMs: v.number(),
  analyzedAt: Timestamp,
});

export const CallSummary = v.object({
  _id: Id,
  orgId: Id,
  agentId: Id,
  sessionId: v.string(),
  channel: v.picklist(["web", "phone"]),
  status: v.picklist(["active", "completed", "failed"]),
  startedAt: Timestamp,
  endedAt: v.optional(Timestamp),
  durationSec: v.optional(v.number()),
  metrics: v.object({
    ttfbMs: v.pipe(v.number(), v.description("from the end of the first turn to the first audio")),
    avgLatencyMs: v.pipe(v.number(), v.description("mean of that over all turns")),
    totalTokens: v.number(),
    ttsChars: v.number(),
    interruptions: v.number(),
    turnCount: v.number(),
  }),
  summary: v.optional(v.string()),
  sentiment: v.optional(v.picklist(["positive", "neutral", "negative"])),
  analysis: v.optional(CallAnalysisView),
  metadata: v.pipe(
    v.optional(FreeForm),
    v.description(
      "among others direction (inbound, outbound or web), and of a telephone call, where the vendor gives them, from, to, callerName, phoneVendor and phoneCallId",
    ),
  ),
  createdAt: Timestamp,
});

export const Call = v.object({
  ...CallSummary.entries,
  transcript: v.array(
    v.object({
      role: v.picklist(["user", "assistant"]),
      text: v.string(),
      timestamp: v.pipe(v.number(), v.description("epoch milliseconds at which it began")),
    }),
  ),
});

export const Calls = v.object({
  items: v.array(CallSummary),
  total: Count,
  skip: Count,
  limit: Count,
});

export const CallCount = v.object({ count: Count });

export const DailyUsage = v.object({
  orgId: Id,
  date: v.pipe(v.string(), v.isoDate(), v.examples(["2026-01-31"]), v.description("day in UTC")),
  calls: v.number(),
  minutes: v.number(),
  ttsChars: v.number(),
  llmTokens: v.number(),
  sttSeconds: v.number(),
});
