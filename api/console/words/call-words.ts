import { waitWords } from "./durations.js";

/** What is needed of a call to say how it went. */
export interface CallView {
  readonly status: "active" | "completed" | "failed";
  readonly channel: "web" | "phone";
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

const ENDINGS: Readonly<Record<string, string>> = {
  callerLeft: "the caller hung up",
  agentHungUp: "the agent ended it",
  transferred: "transferred to a person",
  transferFailed: "not transferred: no one was reached",
  durationLimit: "it reached its maximum length",
  organizationEnded: "ended from the console",
  suspended: "the organization was suspended",
  callerIdle: "the caller was silent",
  callerTooSlow: "the caller's connection was too slow",
  callerTooFast: "the caller's client sent audio faster than real time",
  callerProtocol: "the caller's client broke the protocol",
  languageModelFailed: "the LLM failed",
  speechFailed: "TTS failed",
  sttFailed: "STT failed",
  serverStopping: "the server was stopped",
  overloaded: "the server was overloaded",
  internalError: "a server error",
  busy: "the line was busy",
  noAnswer: "nobody answered",
  vendorFailed: "the telephony vendor failed",
  notConnected: "answered, and over before it reached the agent",
  outcomeUnknown: "the telephony vendor did not report what became of it",
  machine: "an answering machine",
  notPutThrough: "a call screener put it through to nobody",
  everyReplyFailed: "every reply failed",
  unsupportedAudio: "the telephony vendor sent audio that cannot be decoded",
};

const ANALYSIS_ERRORS: Readonly<Record<string, string>> = {
  llmFailed: "the LLM and its fallbacks failed",
  invalidAnswer: "the LLM's output did not fit the schema",
  noLlm: "no provider of the agent can be used",
  analysisRemoved: "the agent no longer has an analysis",
};

/** Why an analysis failed, in a few words. */
export function analysisErrorWords(error: string | null): string {
  return ANALYSIS_ERRORS[error ?? ""] ?? error ?? "the reason is not known";
}

/** Why calls ended, in a few words; the reason itself where this console does not know it. */
export function endReasonWords(reason: string): string {
  return ENDINGS[reason] ?? reason;
}

/** How it ended, in a few words. */
export function endingWords({ status, metadata }: CallView): string {
  if (status === "active") return "in progress";
  if (metadata?.["everyReplyFailed"] === true) return ENDINGS["everyReplyFailed"] ?? "";
  const reason = metadata?.["endReason"];
  const known = typeof reason === "string" ? ENDINGS[reason] : undefined;
  if (known !== undefined) return known;
  const message = metadata?.["endMessage"];
  if (typeof message === "string") return message;
  return status === "failed" ? "it failed" : "it ended";
}

interface MeasuredCall extends CallView {
  readonly metrics: { readonly interruptions: number; readonly avgLatencyMs: number };
}

/** As often as the API counts as a reason to look at a call. */
const INTERRUPTIONS_MANY = 4;

/** Why somebody should look at it. */
export function attentionWords(call: MeasuredCall): string {
  const { interruptions, avgLatencyMs } = call.metrics;
  if (call.status === "failed" || call.metadata?.["everyReplyFailed"] === true) {
    return endingWords(call);
  }
  if (call.metadata?.["longSttOutage"] === true) {
    return `STT outage of ${waitWords(Number(call.metadata["sttOutageMs"]))}`;
  }
  if (call.metadata?.["waitedForLong"] === true) {
    return `waited ${waitWords(Number(call.metadata["longestWaitMs"]))} for one answer`;
  }
  if (interruptions >= INTERRUPTIONS_MANY) return `interrupted ${interruptions} times`;
  if (call.metadata?.["endReason"] === "callerIdle") return endingWords(call);
  return `waited ${waitWords(avgLatencyMs)} on average`;
}

/** Who was on the other end, as far as it is known, for the cell of a table. */
export function callerWords(call: CallView): string {
  return numberOf(call) ?? (call.channel === "phone" ? "Telephone" : "Browser");
}

/** The same within a sentence. */
export function otherEndWords(call: CallView): string {
  return numberOf(call) ?? (call.channel === "phone" ? "a telephone" : "a browser");
}

function numberOf({ metadata }: CallView): string | undefined {
  const isOutbound = metadata?.["direction"] === "outbound";
  const [own, other] = isOutbound ? ["to", "from"] : ["from", "to"];
  const number = metadata?.[own] ?? metadata?.[other] ?? metadata?.["callerNumber"];
  return typeof number === "string" && number !== "" ? number : undefined;
}

/** Who placed the call; undefined for a telephone call of a release that did not keep it. */
export function directionWords({ channel, metadata }: CallView): string | undefined {
  if (channel === "web") return "from a browser";
  if (metadata?.["direction"] === "inbound") return "inbound";
  return metadata?.["direction"] === "outbound" ? "outbound" : undefined;
}

/** What is known of the two ends of a telephone call, each with its label. */
export function numberFacts(call: CallView): readonly (readonly [string, string])[] {
  const facts: readonly (readonly [string, unknown])[] = [
    ["Direction", call.channel === "web" ? undefined : directionWords(call)],
    ["From", call.metadata?.["from"]],
    ["To", call.metadata?.["to"]],
    ["Caller’s name", call.metadata?.["callerName"]],
  ];
  return facts.flatMap(([label, value]) =>
    typeof value === "string" && value !== "" ? [[label, value] as const] : [],
  );
}
