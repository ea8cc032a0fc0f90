import * as v from "valibot";

/** A message of an LLM request, as far as the sandbox reads it. */
export interface ChatMessage {
  readonly role: string;
  readonly content: string;
}

/** A quotation identifies the caller's words; it does not repeat long texts. */
const QUOTE_CHARACTERS_MAX = 200;

/** Shortened, and without its final punctuation, so that the sentence around it has one end. */
export function quoted(text: string): string {
  const plain = text.replace(/[\s.!?]+$/u, "");
  const characters = Array.from(plain);
  if (characters.length <= QUOTE_CHARACTERS_MAX) return plain;
  return characters.slice(0, QUOTE_CHARACTERS_MAX).join("");
}

const NUMBER_WORDS = [
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
  "ten",
  "eleven",
  "twelve",
];
const OPERATIONS: readonly (readonly [pattern: string, apply: (a: number, b: number) => number])[] =
  [
    ["plus|\\+", (a, b) => a + b],
    ["minus|-", (a, b) => a - b],
    ["times|multiplied by|\\*|x", (a, b) => a * b],
    ["divided by|\\/", (a, b) => a / b],
  ];
const NUMBER = `-?\\d+(?:\\.\\d+)?|${NUMBER_WORDS.join("|")}`;

/** The first sum of two numbers in a sentence: `what is two plus 3.5`. */
export function sumIn(
  text: string,
): { readonly words: string; readonly result: number } | undefined {
  for (const [pattern, apply] of OPERATIONS) {
    const found = new RegExp(
      `(?<![\\w.])(${NUMBER})\\s*(?:${pattern})\\s*(${NUMBER})(?!\\w)`,
      "i",
    ).exec(text);
    if (found === null) continue;
    const result = apply(numberOf(found[1] ?? ""), numberOf(found[2] ?? ""));
    if (Number.isFinite(result))
      return { words: found[0], result: Math.round(result * 1000) / 1000 };
  }
  return undefined;
}

function numberOf(word: string): number {
  const index = NUMBER_WORDS.indexOf(word.toLowerCase());
  return index >= 0 ? index : Number(word);
}

/** The part of a tool's JSON schema that the simulated LLM reads. */
export const ToolParameters = v.looseObject({
  properties: v.optional(
    v.record(
      v.string(),
      v.looseObject({
        type: v.optional(v.unknown()),
        enum: v.optional(v.array(v.unknown())),
      }),
    ),
    {},
  ),
  required: v.optional(v.array(v.string()), []),
});

/** The `tools` of a request, in the format of all chat vendors. */
export const ToolsOffered = v.array(
  v.looseObject({
    type: v.literal("function"),
    function: v.looseObject({
      name: v.pipe(v.string(), v.regex(/^[a-zA-Z0-9_-]{1,64}$/)),
      description: v.optional(v.string()),
      parameters: v.optional(ToolParameters),
    }),
  }),
);

export type OfferedTool = v.InferOutput<typeof ToolsOffered>[number]["function"];

/** The fields of a chat message that tie tool calls to their results. */
export const toolMessageFields = {
  tool_calls: v.optional(
    v.nullable(
      v.array(
        v.looseObject({
          id: v.string(),
          type: v.literal("function"),
          function: v.looseObject({ name: v.string(), arguments: v.string() }),
        }),
      ),
    ),
  ),
  tool_call_id: v.optional(v.string()),
};

interface ToolMessage {
  readonly role: string;
  readonly tool_calls?: readonly { readonly id: string }[] | null | undefined;
  readonly tool_call_id?: string | undefined;
}

/** What is wrong with a conversation with tools: every call needs its result right after it. */
export function toolConversationFault(messages: readonly ToolMessage[]): string | undefined {
  let waiting = new Set<string>();
  for (const { role, tool_calls, tool_call_id } of messages) {
    if (role === "tool") {
      if (!waiting.delete(tool_call_id ?? "")) {
        return "a message of role 'tool' answers no tool call before it";
      }
    } else if (waiting.size > 0) {
      return `tool calls without a result: ${[...waiting].join(", ")}`;
    } else {
      waiting = new Set(tool_calls?.map(({ id }) => id));
    }
  }
  return waiting.size > 0 ? `tool calls without a result: ${[...waiting].join(", ")}` : undefined;
}

export interface WantedTool {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface ToolUse {
  /** Text along with the calls. */
  readonly words: string;
  readonly calls: readonly WantedTool[];
}

const JsonObjectText = v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.unknown()));

/** The server's report about a tool's request, or about the caller's page. */
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
 * The tool that the caller's last words ask for, by rule; undefined if they ask for none. Rules know "hang up",
 * "goodbye", "transfer me", "press 1 2 3", and any other tool by its name, as in `use look_up with
 * {"order":"12"}`.
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
    const tool = offered.find(({ name }) => name === "transfer");
    const summary = `The caller said: ${quoted(text)}.`;
    const isWarm = tool?.parameters?.required?.includes("summary") === true;
    return { words, calls: [{ name: "transfer", arguments: isWarm ? { summary } : {} }] };
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

/** The results of the last round's tools; undefined if the last message is another one. */
export function aboutToolResults(messages: readonly ChatMessage[]): string | undefined {
  const others = messages.findLastIndex(({ role }) => role !== "tool");
  const results = messages.slice(others + 1).map(({ content }) => content);
  return results.length === 0 ? undefined : results.map(aboutResult).join(" ");
}

/** The result of a tool that runs in the background. */
const ToolStarted = v.pipe(v.string(), v.parseJson(), v.object({ status: v.literal("started") }));

function aboutResult(content: string): string {
  if (v.is(ToolStarted, content)) return "It is under way. What else can I do for you?";
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

/** As a separate word, also as it would be spoken: without its underscores. */
function placeOf(name: string, text: string): number {
  const spoken = name.replaceAll(/[_-]/g, "[_ -]");
  return text.search(new RegExp(`(?<![\\w-])${spoken}(?![\\w-])`, "i"));
}

/** The object of `… with {"a":1} …`: up to the first brace that completes it. */
function jsonAfter(text: string): Readonly<Record<string, unknown>> | undefined {
  const start = /^ with (?=\{)/i.exec(text)?.[0].length;
  if (start === undefined) return undefined;
  for (let end = text.indexOf("}", start); end >= 0; end = text.indexOf("}", end + 1)) {
    // Text that does not parse ended at a brace inside the object.
    const given = v.safeParse(JsonObjectText, text.slice(start, end + 1));
    if (given.success) return given.output;
  }
  return undefined;
}

/** A value of the right type for every required argument. */
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

const COUNT_MAX = 2000;

/**
 * The replies of the sandbox's LLM: a few rules over the conversation in the request, and no canned answers. So a
 * reply shows that the caller's words and the history really reached the LLM.
 */
export function replyTo(request: readonly ChatMessage[]): string {
  const passages = request.filter(({ role }) => role === "user").map(({ content }) => content);
  const messages = request.map((message) => ({ ...message, content: wordsIn(message) }));
  const system = messages.filter(({ role }) => role === "system" || role === "developer");
  const wantsSummary = system.some(
    ({ content }) => /json/i.test(content) && /sentiment/i.test(content),
  );
  const isPassedOn = system.some(({ content }) =>
    /^a phone call is being passed on/i.test(content),
  );
  if (wantsSummary || isPassedOn) return summarize(messages);
  if (system.some(({ content }) => /^you keep the notes of a conversation/i.test(content))) {
    return notesOf(messages);
  }
  const analysis = system.find(({ content }) =>
    /^you analyze a finished phone call/i.test(content),
  );
  if (analysis !== undefined) return analyze(analysis.content, messages);
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
    aboutDocuments(last, [...system.map(({ content }) => content), ...passages.slice(-1)]) ??
    quote(
      last,
      said.length,
      system.map(({ content }) => content),
    )
  );
}

/**
 * A reply that broke off continues with its last word, as requested; a reply that this model would not have given
 * starts again.
 */
function restOfReply(messages: readonly ChatMessage[]): string | undefined {
  const [begun, request] = messages.slice(-2);
  if (begun?.role !== "assistant" || request?.role !== "user") return undefined;
  if (!/^\[[^\]]*broke off[^\]]*\bgo on\b/i.test(request.content)) return undefined;
  const whole = replyTo(messages.slice(0, -2));
  const said = begun.content.trimEnd();
  if (!whole.startsWith(said)) return whole;
  return whole.slice(said.lastIndexOf(" ") + 1);
}

const DocumentLine = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ document: v.string(), text: v.string() }),
);
const SHARED_WORDS_MIN = 2;

/** A caller's words without the passages of documents before them. */
function wordsIn({ role, content }: ChatMessage): string {
  if (role !== "user") return content;
  const label = "\n\nThe caller's words:\n";
  const at = content.lastIndexOf(label);
  return at === -1 ? content : content.slice(at + label.length);
}

/** The sentence of the documents and notes in the prompt that shares most of its longer words with the question. */
function aboutDocuments(question: string, prompts: readonly string[]): string | undefined {
  const wanted = new Set(longWordsOf(question));
  let best: string | undefined;
  let most = SHARED_WORDS_MIN - 1;
  for (const line of prompts.flatMap((prompt) => prompt.split("\n"))) {
    const sentences = sentencesIn(line);
    for (const sentence of sentences) {
      const shared = new Set(longWordsOf(sentence).filter((word) => wanted.has(word))).size;
      if (shared <= most) continue;
      best = sentence;
      most = shared;
    }
  }
  return best;
}

/** The sentences of a document, or of a note that was added during the call. */
function sentencesIn(line: string): readonly string[] {
  if (line.startsWith("- ")) return [line.slice(2)];
  if (!line.startsWith('{"document":')) return [];
  const { success, output } = v.safeParse(DocumentLine, line);
  return success ? output.text.split(/(?<=[.!?])\s+|\n+/) : [];
}

function longWordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? [];
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

function quote(text: string, turn: number, prompts: readonly string[]): string {
  const language = prompts
    .map((prompt) => /^The caller speaks .*: answer in (\w+)/m.exec(prompt)?.[1])
    .findLast((named) => named !== undefined);
  const said = quoted(text);
  if (language === "German") return `Sie sagten: ${said}. Das war Nachricht ${turn}.`;
  if (language === "Spanish") return `Dijo usted: ${said}. Era el mensaje ${turn}.`;
  if (language === "French") return `Vous avez dit : ${said}. C'était le message ${turn}.`;
  return `You said: ${said}. This is the sandbox, and it was message number ${turn}. What else would you like to try?`;
}

/** The part of a system message about what the other messages no longer contain. */
function earlierNotes(content: string): string {
  return /^Earlier in this conversation[^\n]*\n([\s\S]*)$/m.exec(content)?.[1] ?? "";
}

const NotesLine = v.pipe(v.string(), v.parseJson(), v.object({ notes: v.string() }));
/** Names, numbers and decisions occur in such sentences. */
const FACT = /\b(?:my|call me|i want|i will|please|we agree)\b|\d/i;

/** Continues the notes: adds those of the caller's new lines that contain a fact. */
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

/** Counts pleasant and unpleasant words of the caller's lines (`user: …`), or of the whole request. */
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

const Schema = v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.unknown()));

/**
 * Answers by the JSON Schema and the criteria of the instruction: for each field one of the caller's phrases that
 * fits it. A call counts as a success unless its words are unpleasant. A caller who says "answer without JSON"
 * gets that.
 */
function analyze(instruction: string, messages: readonly ChatMessage[]): string {
  const lines = callerLines(messages.find(({ role }) => role === "user")?.content ?? "");
  if (lines.some((line) => /\banswer without json\b/i.test(line))) return "I would rather not say.";
  const schema = v.safeParse(Schema, /by this JSON Schema: (.*)$/m.exec(instruction)?.[1] ?? "");
  const words = lines.join(" ");
  const unpleasant = words.match(UNPLEASANT)?.length ?? 0;
  const success = unpleasant <= (words.match(PLEASANT)?.length ?? 0);
  return JSON.stringify({
    ...(schema.success && { data: fitting(schema.output, lines, "") }),
    ...(/^success:/m.test(instruction) && { success }),
    reason: `The caller began with: ${quoted(lines[0] ?? "nothing")}.`,
  });
}

/** The first line with the field's name, or the first of all. */
function lineAbout(name: string, lines: readonly string[]): string {
  const spoken = name.replace(/[_-]/g, " ").toLowerCase();
  return lines.find((line) => line.toLowerCase().includes(spoken)) ?? lines[0] ?? "";
}

const NumberBounds = v.object({
  minimum: v.fallback(v.number(), Number.NEGATIVE_INFINITY),
  maximum: v.fallback(v.number(), Number.POSITIVE_INFINITY),
});
const Choices = v.array(v.unknown());

function fitting(
  schema: Readonly<Record<string, unknown>>,
  lines: readonly string[],
  name: string,
): unknown {
  const [choices, types] = [v.safeParse(Choices, schema["enum"]), [schema["type"]].flat()];
  const text = lineAbout(name, lines);
  if (choices.success) {
    const words = lines.join(" ").toLowerCase();
    const said = choices.output
      .map((choice) => ({ choice, at: words.indexOf(String(choice).toLowerCase()) }))
      .filter(({ at }) => at >= 0)
      .toSorted((one, other) => one.at - other.at);
    return said.length > 0 ? said[0]?.choice : choices.output[0];
  }
  if ("const" in schema) return schema["const"];
  if (types.includes("object")) {
    const { properties } = v.parse(ToolParameters, schema);
    const fields = Object.entries(properties).map(([field, each]) => [
      field,
      fitting(each, lines, field),
    ]);
    return Object.fromEntries(fields);
  }
  if (types.includes("array")) {
    const items = v.safeParse(v.record(v.string(), v.unknown()), schema["items"]);
    return items.success ? [fitting(items.output, lines, name)] : [];
  }
  if (types.includes("number") || types.includes("integer")) {
    const { minimum, maximum } = v.parse(NumberBounds, {
      minimum: schema["minimum"],
      maximum: schema["maximum"],
    });
    const said = Number(/-?\d+(?:\.\d+)?/.exec(text)?.[0] ?? 0);
    const number = types.includes("number") ? said : Math.round(said);
    return Math.min(Math.max(number, minimum), maximum);
  }
  if (types.includes("boolean")) return text.toLowerCase().includes(name.toLowerCase());
  if (types.includes("null")) return null;
  const length =
    typeof schema["maxLength"] === "number" ? schema["maxLength"] : QUOTE_CHARACTERS_MAX;
  return (
    (/name/i.test(name) ? lines.map(nameIn).find((each) => each !== undefined) : undefined) ??
    quoted(text).slice(0, length)
  );
}

/** The caller's part of a transcript in JSON lines (`{"speaker":"caller","text":…}`) or in lines like `caller: …`. */
function callerLines(text: string): string[] {
  const utterances = text.split("\n").map((line) => v.safeParse(UtteranceLine, line));
  const parsed = utterances.flatMap((line) => (line.success ? [line.output] : []));
  if (parsed.length === 0) return Array.from(text.matchAll(SPEAKER), (match) => match[1] ?? "");
  return parsed.filter(({ speaker }) => speaker === "caller").map((utterance) => utterance.text);
}
