import { waitWords } from "./durations.js";

/** What the caller's speech did to the agent's, by action. */
export const ACTION_WORDS: Readonly<Record<string, string>> = {
  interrupt: "Stopped",
  pause: "Paused",
  resume: "Went on",
  ignore: "Went on",
  wait: "Waited",
};

/** Why the agent stopped, paused, went on or waited. */
export const BARGE_IN_WORDS: Readonly<Record<string, string>> = {
  words: "the caller spoke",
  interruptionPhrase: "the caller said a stop phrase",
  dtmf: "the caller pressed a key",
  message: "the caller wrote",
  turnContinued: "the caller continued before the reply",
  voice: "a voice",
  voiceEnded: "the voice was over",
  onlyWordsInterrupt: "speech without words",
  nothingPlaying: "nothing was playing",
  falseInterruption: "no words followed",
  echo: "the agent’s own echo",
  possibleEcho: "suspected echo",
  backchannel: "backchannel",
  questionNotOver: "an answer before the question was over",
  nextWordPending: "waiting for the next word",
  tooFewWords: "too few words",
  answeredAfterSpeech: "answered afterwards",
  farewell: "the caller said goodbye",
  sendingDtmf: "the agent was sending DTMF",
  callIsEnding: "the call had to end",
};

/** Why the caller's turn was over. */
export const END_OF_TURN_WORDS: Readonly<Record<string, string>> = {
  vendor: "STT detected the end",
  vendorTimeout: "STT detected no end in time",
  endpointing: "STT reported a silence",
  utteranceEnd: "STT heard no more words",
  silenceTimeout: "no new words",
  maxEndpointingDelay: "nothing more came",
  interimTimeout: "STT did not finalize the words",
  dtmfDigits: "all digits were pressed",
  poundKey: "the pound key",
  dtmfTimeout: "no more keys",
  message: "the caller wrote",
};

/** Why more words were expected. */
export const CONTINUATION_WORDS: Readonly<Record<string, string>> = {
  dictating: "after a dictation",
  openEnded: "after an open sentence",
  missingPunctuation: "after words without punctuation",
};

type Fields = Readonly<Record<string, unknown>>;

/**
 * Why the caller's turn ended, and why the agent stopped or continued; each once. A reason that this console does not
 * know is shown as it is.
 */
export function decisionsOf(record: Fields | undefined): readonly string[] {
  const bargeIns: unknown = record?.["bargeIns"];
  const decisions = (Array.isArray(bargeIns) ? bargeIns : []).filter(isFields).map((bargeIn) => {
    const action = textOf(bargeIn, "action");
    const reason = textOf(bargeIn, "reason");
    return `${ACTION_WORDS[action] ?? action}: ${BARGE_IN_WORDS[reason] ?? reason}`;
  });
  return [...new Set([...endOf(record?.["endOfTurn"]), ...decisions])];
}

function endOf(endOfTurn: unknown): readonly string[] {
  if (!isFields(endOfTurn)) return [];
  const reason = textOf(endOfTurn, "reason");
  const waitedFor = textOf(endOfTurn, "waitedFor");
  const open = waitedFor === "" ? "" : ` ${CONTINUATION_WORDS[waitedFor] ?? waitedFor}`;
  const waited = waitWords(Number(endOfTurn["waitedMs"] ?? 0));
  const end = `Caller’s turn over: ${END_OF_TURN_WORDS[reason] ?? reason}${open}, ${waited}`;
  return [end, ...languageWords(textOf(endOfTurn, "language"), textOf(endOfTurn, "switchedFrom"))];
}

function languageWords(language: string, before: string): readonly string[] {
  if (language === "") return [];
  if (before === "") return [`Caller spoke ${languageName(language)}`];
  return [`Language changed from ${languageName(before)} to ${languageName(language)}`];
}

const languageNames = new Intl.DisplayNames(["en"], { type: "language" });

/** The tag itself where it has no name. */
function languageName(tag: string): string {
  try {
    return languageNames.of(tag) ?? tag;
  } catch {
    return tag;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === "string" ? value : "";
}
