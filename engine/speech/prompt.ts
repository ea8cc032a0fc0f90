import type { Persona } from "../../storage/records.js";
import type { ChatMessage } from "../vendors/contracts.js";

/** The agent's words are played by a speech synthesizer, whatever its owner wrote. */
const VOICE_RULES = [
  "Everything you write is spoken aloud, so write the way people talk.",
  "Use plain sentences: no markdown, no lists, no headings, no emoji, no links, no stage directions.",
  "Write numbers, dates, prices and abbreviations the way they are said.",
  "Ask at most one question at a time.",
  "What the caller says comes from speech recognition: when a word does not fit, guess what was meant, or ask.",
  "If the caller interrupted you, they did not hear the rest of your last answer.",
].join(" ");

const languageNames = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" });

/** The first message of every request to the language model. Empty fields of the persona leave no trace in it. */
export function systemMessage(persona: Persona): ChatMessage {
  const parts = [
    persona.systemPrompt.trim(),
    labelled("Your manner", persona.personality),
    languageRule(persona.language),
    VOICE_RULES,
    labelled("Rules that you always keep", persona.guardrails),
  ];
  return { role: "system", content: parts.filter((part) => part !== "").join("\n\n") };
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

/** The English name of a BCP-47 tag; undefined when it names no language that is known. */
function languageName(tag: string): string | undefined {
  try {
    return languageNames.of(tag);
  } catch {
    // It is not written as a tag is.
    return undefined;
  }
}
