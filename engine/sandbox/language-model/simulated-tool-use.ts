import * as v from "valibot";
import type { ChatMessage } from "./chat-message.js";
import { quoted } from "./quotation.js";
import type { OfferedTool } from "./tool-offer.js";

export interface WantedTool {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface ToolUse {
  /** Said along with the calls. */
  readonly words: string;
  readonly calls: readonly WantedTool[];
}

const JsonObjectText = v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.unknown()));

/** What the server tells of a request that a tool has made, or of what the caller's page has done. */
const ToolResult = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    ok: v.boolean(),
    status: v.optional(v.number()),
    body: v.optional(v.unknown()),
    result: v.optional(v.unknown()),
    error: v.optional(v.string()),
  }),
);

const DIGIT_WORDS = [
  "zero",
  "one",
  "two",
  "three",
  "four",
  "five",
  "six",
  "seven",
  "eight",
  "nine",
];
const KEY = `(?:[0-9*#]+|${DIGIT_WORDS.join("|")}|star|pound|hash)`;
const PRESS = new RegExp(`\\bpress (${KEY}(?:[ ,]+(?:and )?${KEY})*)`, "i");

/**
 * The tool that the caller's last words ask for, by rule; undefined when they ask for none. Rules know "hang up",
 * "goodbye", "transfer me", "press 1 2 3", and any other tool by its name, as in `use look_up with {"order":"12"}`.
 */
export function toolUse(
  messages: readonly ChatMessage[],
  offered: readonly OfferedTool[],
): ToolUse | undefined {
  const last = messages.at(-1);
  if (last?.role !== "user" || offered.length === 0) return undefined;
  const isOffered = (name: string) => offered.some((tool) => tool.name === name);
  const text = last.content;
  const named = namedTools(text, offered);
  if (named.length > 0) return { words: "", calls: named };
  if (isOffered("transfer") && /\b(?:transfer|put) me\b/i.test(text)) {
    const words = "One moment please, I will transfer you.";
    return { words, calls: [{ name: "transfer", arguments: {} }] };
  }
  const keys = PRESS.exec(text)?.[1];
  if (isOffered("sendDigits") && keys !== undefined) {
    return { words: "", calls: [{ name: "sendDigits", arguments: { digits: digitsOf(keys) } }] };
  }
  if (isOffered("hangup") && /\bhang up\b|\bgood ?bye\b/i.test(text)) {
    return { words: "Thank you for calling, goodbye.", calls: [{ name: "hangup", arguments: {} }] };
  }
  return undefined;
}

/** What the tools of the last round have said; undefined when the last message is of somebody else. */
export function aboutToolResults(messages: readonly ChatMessage[]): string | undefined {
  const others = messages.findLastIndex(({ role }) => role !== "tool");
  const results = messages.slice(others + 1).map(({ content }) => content);
  return results.length === 0 ? undefined : results.map(aboutResult).join(" ");
}

function aboutResult(content: string): string {
  const result = v.safeParse(ToolResult, content);
  if (!result.success) return `The tool says: ${quoted(content)}.`;
  const { ok, status, body, error } = result.output;
  const said = body ?? result.output.result ?? "";
  if (!ok) return `The tool failed: ${quoted(error ?? `status ${status ?? "unknown"}`)}.`;
  return `The tool says: ${quoted(typeof said === "string" ? said : JSON.stringify(said))}.`;
}

/** In the order in which they are named. */
function namedTools(text: string, offered: readonly OfferedTool[]): readonly WantedTool[] {
  return offered
    .filter(({ name }) => !["hangup", "transfer", "sendDigits"].includes(name))
    .map((tool) => ({ tool, at: placeOf(tool.name, text) }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at - b.at)
    .map(({ tool, at }) => {
      const given = jsonAfter(text.slice(at + tool.name.length));
      return { name: tool.name, arguments: given ?? guessed(tool, text) };
    });
}

/** As a word of its own, also as it would be spoken: without the lines in it. */
function placeOf(name: string, text: string): number {
  const spoken = name.replaceAll(/[_-]/g, "[_ -]");
  return text.search(new RegExp(`(?<![\\w-])${spoken}(?![\\w-])`, "i"));
}

/** The object of `… with {"a":1} …`: up to the first brace at which it is whole. */
function jsonAfter(text: string): Readonly<Record<string, unknown>> | undefined {
  const start = /^ with (?=\{)/i.exec(text)?.[0].length;
  if (start === undefined) return undefined;
  for (let end = text.indexOf("}", start); end >= 0; end = text.indexOf("}", end + 1)) {
    // What does not parse ended at a brace inside the object.
    const given = v.safeParse(JsonObjectText, text.slice(start, end + 1));
    if (given.success) return given.output;
  }
  return undefined;
}

/** Something of the right kind for every argument that has to be there. */
function guessed({ parameters }: OfferedTool, text: string): Readonly<Record<string, unknown>> {
  const required = parameters?.required ?? [];
  return Object.fromEntries(
    required.map((name) => {
      const { type, enum: choices } = parameters?.properties[name] ?? {};
      if (choices !== undefined) return [name, choices[0]];
      if (type === "number" || type === "integer") {
        return [name, Number(/\d+/.exec(text)?.[0] ?? 0)];
      }
      return [name, type === "boolean" ? true : text];
    }),
  );
}

function digitsOf(keys: string): string {
  const words = keys.toLowerCase().split(/[ ,]+/);
  return words
    .map((word) => {
      if (word === "and") return "";
      if (word === "star") return "*";
      if (word === "pound" || word === "hash") return "#";
      const digit = DIGIT_WORDS.indexOf(word);
      return digit >= 0 ? String(digit) : word;
    })
    .join("");
}
