import * as v from "valibot";
import type { ChatMessage } from "./chat-message.js";
import { quoted } from "./quotation.js";
import { sumIn } from "./simple-arithmetic.js";
import { aboutToolResults } from "./simulated-tool-use.js";

const COUNT_MAX = 2000;

/**
 * What the sandbox's language model says: a few rules over the conversation that was sent, and no canned answers. So a
 * reply shows that the caller's words and the history really reached the model.
 */
export function replyTo(messages: readonly ChatMessage[]): string {
  const system = messages.filter(({ role }) => role === "system" || role === "developer");
  const wantsSummary = system.some(
    ({ content }) => /json/i.test(content) && /sentiment/i.test(content),
  );
  if (wantsSummary) return summarize(messages);
  if (system.some(({ content }) => /^you keep the notes of a conversation/i.test(content))) {
    return notesOf(messages);
  }
  const rest = restOfReply(messages);
  if (rest !== undefined) return rest;
  const results = aboutToolResults(messages);
  if (results !== undefined) return results;
  const said = messages.filter(({ role }) => role === "user").map(({ content }) => content.trim());
  const last = said.at(-1);
  if (last === undefined || last === "") return "Hello from the sandbox. What can I do for you?";
  return (
    repeatAfter(last) ??
    aboutHumanSpeech(last) ??
    aboutName(last, [...system.map(({ content }) => earlierNotes(content)), ...said]) ??
    countTo(last) ??
    arithmetic(last) ??
    aboutEarlier(last, said) ??
    quote(last, said.length)
  );
}

/** A reply that broke off goes on with its last word, as it was asked to; one that it would not have given begins anew. */
function restOfReply(messages: readonly ChatMessage[]): string | undefined {
  const [begun, request] = messages.slice(-2);
  if (begun?.role !== "assistant" || request?.role !== "user") return undefined;
  if (!/^\[[^\]]*broke off[^\]]*\bgo on\b/i.test(request.content)) return undefined;
  const whole = replyTo(messages.slice(0, -2));
  const said = begun.content.trimEnd();
  if (!whole.startsWith(said)) return whole;
  return whole.slice(said.lastIndexOf(" ") + 1);
}

function repeatAfter(text: string): string | undefined {
  return /^(?:please )?(?:repeat after me|say)\b[:,]?\s+(.+)$/is.exec(text)?.[1]?.trim();
}

function aboutHumanSpeech(text: string): string | undefined {
  const length = /^\[speech, ([\d.]+) s\]$/.exec(text)?.[1];
  if (length === undefined) return undefined;
  return `I heard a voice for ${length} seconds. The sandbox cannot understand human speech. Give the server a speech vendor's key to talk for real.`;
}

function aboutName(text: string, said: readonly string[]): string | undefined {
  const own = nameIn(text);
  if (own !== undefined) return `Nice to meet you, ${own}. How can I help you in this sandbox?`;
  if (!/\bwhat(?:'s| is) my name\b|\bwho am i\b/i.test(text)) return undefined;
  const earlier = said.map(nameIn).findLast((name) => name !== undefined);
  if (earlier === undefined)
    return "You have not told me your name yet. This is the sandbox, so just say it.";
  return `Your name is ${earlier}. You told me so earlier in this call.`;
}

function nameIn(text: string): string | undefined {
  return /\b(?:my name is|call me)\s+([\p{L}][\p{L}'-]*)/iu.exec(text)?.[1];
}

function countTo(text: string): string | undefined {
  const limit = Number(/\bcount (?:up )?to (\d+)/i.exec(text)?.[1]);
  if (!(limit >= 1)) return undefined;
  const length = Math.min(limit, COUNT_MAX);
  return Array.from({ length }, (_, n) => `Number ${n + 1}.`).join(" ");
}

function arithmetic(text: string): string | undefined {
  const sum = sumIn(text);
  if (sum === undefined) return undefined;
  return `${sum.words} is ${sum.result}. The sandbox can count that far.`;
}

function aboutEarlier(text: string, said: readonly string[]): string | undefined {
  if (!/\bwhat did i (?:just )?say\b/i.test(text)) return undefined;
  const before = said.at(-2);
  if (before === undefined)
    return "You have not said anything before this. The call has just begun.";
  return `Before this you said: ${quoted(before)}. That is what the sandbox remembers.`;
}

function quote(text: string, turn: number): string {
  return `You said: ${quoted(text)}. This is the sandbox, and it was message number ${turn}. What else would you like to try?`;
}

/** The part of a system message that tells of what the other messages no longer hold. */
function earlierNotes(content: string): string {
  return /^Earlier in this conversation[^\n]*\n([\s\S]*)$/m.exec(content)?.[1] ?? "";
}

const NotesLine = v.pipe(v.string(), v.parseJson(), v.object({ notes: v.string() }));
/** Names, numbers and decisions are told in such sentences. */
const FACT = /\b(?:my|call me|i want|i will|please|we agree)\b|\d/i;

/** Goes on with the notes: of the caller's new lines those that tell a fact. */
function notesOf(messages: readonly ChatMessage[]): string {
  const text = messages.findLast(({ role }) => role === "user")?.content ?? "";
  const known = text.split("\n").flatMap((line) => {
    const parsed = v.safeParse(NotesLine, line);
    return parsed.success ? [parsed.output.notes] : [];
  });
  const facts = callerLines(text).filter((line) => FACT.test(line));
  return [...known, ...facts.map((line) => `The caller said: ${quoted(line)}.`)].join(" ").trim();
}

const PLEASANT =
  /\b(?:thanks?|thank you|great|good|perfect|love|wonderful|excellent|happy|nice)\b/gi;
const UNPLEASANT =
  /\b(?:bad|terrible|angry|awful|hate|broken|wrong|worst|useless|complain(?:t)?|unhappy)\b/gi;
const SPEAKER = /^\s*[-*]?\s*\[?"?(?:user|caller|customer)"?\]?\s*[:>]\s*(.*)$/gim;

const UtteranceLine = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ speaker: v.string(), text: v.string() }),
);

/** Counts pleasant and unpleasant words of the caller's lines (`user: …`), or of all that was sent. */
function summarize(messages: readonly ChatMessage[]): string {
  const text = messages
    .filter(({ role }) => role === "user")
    .map(({ content }) => content)
    .join("\n");
  const lines = callerLines(text);
  const caller = lines.length > 0 ? lines : [text];
  const words = caller.join(" ");
  const balance = (words.match(PLEASANT)?.length ?? 0) - (words.match(UNPLEASANT)?.length ?? 0);
  const sentiment = balance > 0 ? "positive" : balance < 0 ? "negative" : "neutral";
  const first = quoted(caller.find((line) => line.trim() !== "") ?? "nothing");
  const times = lines.length === 1 ? "once" : `${lines.length} times`;
  const summary = `The caller spoke ${times} and began with: ${first}.`;
  return JSON.stringify({ summary, sentiment });
}

/** The caller's part of a transcript in JSON lines (`{"speaker":"caller","text":…}`) or in lines like `caller: …`. */
function callerLines(text: string): string[] {
  const utterances = text.split("\n").map((line) => v.safeParse(UtteranceLine, line));
  const parsed = utterances.flatMap((line) => (line.success ? [line.output] : []));
  if (parsed.length === 0) return Array.from(text.matchAll(SPEAKER), (match) => match[1] ?? "");
  return parsed.filter(({ speaker }) => speaker === "caller").map((utterance) => utterance.text);
}
