import type { Persona } from "../../storage/records.js";
import { languageName } from "../conversation/lexicon.js";
import type { ChatMessage } from "../vendors/contracts.js";

/** TTS speaks the agent's words, whatever its owner wrote. */
const VOICE_RULES = [
  "Everything you write is spoken aloud, so write the way people talk.",
  "Use plain sentences: no markdown, no lists, no headings, no emoji, no links, no stage directions.",
  "Write numbers, dates, prices and abbreviations the way they are said.",
  "Ask at most one question at a time.",
  "What the caller says comes from speech recognition: when a word does not fit, guess what was meant, or ask.",
  "If the caller interrupted you, they did not hear the rest of your last answer.",
].join(" ");

export interface PromptNotes {
  /** Facts about the telephone call. */
  readonly callNote?: string;
  /** The agent's small documents. */
  readonly documents?: string;
}

/**
 * The first message of every request to the LLM. Empty persona fields are left out. Vendors answer sooner, and charge
 * less, where a prompt begins like an earlier one. So the documents come first: variables may make the persona's texts
 * differ between calls. The time is that of the conversation's start, and is near the end, before the telephone call's
 * data.
 */
export function systemMessage(
  persona: Omit<
    Persona,
    | "stockPhrases"
    | "keyterms"
    | "pronunciations"
    | "languages"
    | "languageTexts"
    | "briefingLanguage"
    | "outbound"
  >,
  beganAtMs: number,
  { callNote = "", documents = "" }: PromptNotes = {},
): ChatMessage {
  const parts = [
    documents,
    persona.systemPrompt.trim(),
    labelled("Your manner", persona.personality),
    languageRule(persona.language),
    VOICE_RULES,
    labelled("Rules that you always keep", persona.guardrails),
    timeNote(persona.timeZone, beganAtMs),
    callNote,
  ];
  return { role: "system", content: parts.filter((part) => part !== "").join("\n\n") };
}

/**
 * Whether dates can be formatted in this zone. Offsets such as +02:00 are not zones: they have no daylight saving
 * time.
 */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en-GB", { timeZone: name }).format(0) !== "";
  } catch {
    return false;
  }
}

function timeNote(timeZone: string, atMs: number): string {
  // A zone that this build of Node no longer knows.
  const zone = isTimeZone(timeZone) ? timeZone : "UTC";
  const parts = new Intl.DateTimeFormat("en-GB", {
    weekday: "long",
    day: "numeric",
    month: "long",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZone: zone,
  }).formatToParts(atMs);
  const of = (type: Intl.DateTimeFormatPartTypes) =>
    parts.find((part) => part.type === type)?.value ?? "";
  const date = `${of("weekday")}, ${of("day")} ${of("month")} ${of("year")}`;
  return `The conversation began on ${date}, at ${of("hour")}:${of("minute")} (${zone} time).`;
}

function labelled(label: string, text: string): string {
  const value = text.trim();
  return value === "" ? "" : `${label}: ${value}`;
}

function languageRule(tag: string): string {
  const name = languageName(tag.trim());
  return name === undefined
    ? ""
    : `Speak ${name}, unless the caller clearly speaks or asks for another language.`;
}
