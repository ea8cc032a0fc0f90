import { isFields } from "./tool-parameters.js";

/** What a tool was given during a turn, and what came of it. */
export interface ToolUse {
  readonly name: string;
  readonly input: string;
  /** Undefined of one that was stopped at its work. */
  readonly output: string | undefined;
  readonly isDone: boolean;
  readonly durationMs: number;
}

export interface UsedTools {
  readonly tools: readonly ToolUse[];
  /** So many more were used than the records tell. */
  readonly moreTools: number;
}

/** The tools that were at work in these turns, as their records keep them. */
export function usedTools(records: readonly Readonly<Record<string, unknown>>[]): UsedTools {
  return {
    tools: records.flatMap(({ tools }) =>
      Array.isArray(tools) ? tools.filter(isFields).map(toolUse) : [],
    ),
    moreTools: records.reduce((sum, { moreTools }) => sum + numberOf(moreTools), 0),
  };
}

function toolUse({ name, input, output, ok, ms }: Readonly<Record<string, unknown>>): ToolUse {
  return {
    name: textOf(name),
    input: readable(textOf(input)),
    output: typeof output === "string" ? readable(output) : undefined,
    isDone: ok === true,
    durationMs: numberOf(ms),
  };
}

/** Numbers of so many digits would be rounded. */
const LONG_NUMBER = /\d{16}/;

/** JSON on several lines; anything else, as of an answer that was cut, as it is. */
function readable(text: string): string {
  if (LONG_NUMBER.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

/** What the agent was given from a document for its reply. */
export interface UsedPassage {
  readonly documentName: string;
  readonly text: string;
}

export function usedPassages(record: Readonly<Record<string, unknown>> | undefined) {
  const passages = record?.["passages"];
  return Array.isArray(passages) ? passages.filter(isFields).map(usedPassage) : [];
}

function usedPassage({ documentName, text }: Readonly<Record<string, unknown>>): UsedPassage {
  return { documentName: textOf(documentName), text: textOf(text) };
}
