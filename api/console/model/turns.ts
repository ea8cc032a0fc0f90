import { type ToolUse, usedTools } from "./tool-uses.js";

/** The parts of a caller's wait in the order of time, as the record of a turn names them. */
export const WAIT_PARTS = [
  { key: "sttMs", label: "end of speech detected" },
  { key: "llmFirstTokenMs", label: "model’s first token" },
  { key: "llmSentenceMs", label: "first sentence" },
  { key: "ttsFirstByteMs", label: "voice’s first byte" },
  { key: "ttsRestMs", label: "on the wire" },
] as const;

export type WaitPartKey = (typeof WAIT_PARTS)[number]["key"];

export interface WaitPart {
  readonly key: WaitPartKey;
  readonly label: string;
  readonly durationMs: number;
  /** Between 0 and 1. */
  readonly share: number;
  readonly isLargest: boolean;
}

export interface Wait {
  readonly totalMs: number;
  readonly parts: readonly WaitPart[];
}

/** What a caller waited for a reply, part by part; undefined for a turn that was not measured to its end. */
export function waitOf(turn: Readonly<Record<string, unknown>>): Wait | undefined {
  const totalMs = turn["totalMs"];
  if (typeof totalMs !== "number") return undefined;
  const durations = wholeParts(
    WAIT_PARTS.map(({ key }) => Number(turn[key] ?? 0)),
    Math.round(totalMs),
  );
  const largest = Math.max(...durations);
  const parts = WAIT_PARTS.map((part, index) => {
    const durationMs = durations[index] ?? 0;
    const share = totalMs === 0 ? 0 : durationMs / totalMs;
    return { ...part, durationMs, share, isLargest: durationMs === largest && largest > 0 };
  });
  return { totalMs: Math.round(totalMs), parts };
}

/** Rounded so that they still sum to the whole: the remainder goes to those that lost most by rounding down. */
function wholeParts(parts: readonly number[], whole: number): readonly number[] {
  const rounded = parts.map(Math.floor);
  const left = whole - rounded.reduce((sum, part) => sum + part, 0);
  const byLoss = parts
    .map((part, index) => ({ index, loss: part - Math.floor(part) }))
    .sort((a, b) => b.loss - a.loss)
    .slice(0, Math.max(0, left));
  for (const { index } of byLoss) rounded[index] = (rounded[index] ?? 0) + 1;
  return rounded;
}

/** The smallest value that so large a share of them does not exceed; undefined of none. */
export function percentile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

export interface TranscriptMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
  readonly timestamp: number;
}

type TurnRecord = Readonly<Record<string, unknown>>;

export interface TranscriptTurn extends TranscriptMessage {
  /** From the beginning of the call. */
  readonly atSec: number;
  /** What is kept of the turn in which the agent said it. */
  readonly record: TurnRecord | undefined;
  readonly wait: Wait | undefined;
  readonly wasInterrupted: boolean;
  /** What the agent would have said next, and the caller never heard. */
  readonly unheard: string;
  /** Its tool calls, and those of turns just before it that were not heard. */
  readonly tools: readonly ToolUse[];
  /** So many more tools were used than the records tell. */
  readonly moreTools: number;
}

/**
 * The transcript with each turn's record beside what was said in it. Both are in the order of time, but a turn that was given up
 * before a word was heard has no message: a message that follows the caller's belongs to a reply, another to whatever was next.
 */
export function transcriptTurns(
  transcript: readonly TranscriptMessage[],
  records: readonly TurnRecord[],
  startedAtMs: number,
): readonly TranscriptTurn[] {
  let next = 0;
  const turns = transcript.map((message, index): TranscriptTurn => {
    const atSec = Math.max(0, (message.timestamp - startedAtMs) / 1_000);
    const unmeasured = { record: undefined, wait: undefined, wasInterrupted: false, unheard: "" };
    const bare = { ...message, atSec, ...unmeasured, ...usedTools([]) };
    if (message.role === "user") return bare;
    const isAnswer = transcript[index - 1]?.role === "user";
    const found = records.findIndex((record, at) => at >= next && isOf(record, isAnswer));
    const record = records[found];
    if (record === undefined) return bare;
    const used = usedTools(records.slice(next, found + 1));
    next = found + 1;
    const wasInterrupted = record["outcome"] === "interrupted";
    const unheard = typeof record["unheard"] === "string" ? record["unheard"] : "";
    return { ...bare, record, wait: waitOf(record), wasInterrupted, unheard, ...used };
  });
  // After a cough the agent continues: the cut words are what it says next.
  return withLate(turns, records.slice(next)).map((turn, index) =>
    turns[index + 1]?.record?.["kind"] === "resumed" ? { ...turn, unheard: "" } : turn,
  );
}

/** Tool calls after the last heard words are shown beside these words. */
function withLate(
  turns: readonly TranscriptTurn[],
  late: readonly TurnRecord[],
): readonly TranscriptTurn[] {
  const { tools, moreTools } = usedTools(late);
  const last = turns.at(-1);
  if (last === undefined || tools.length === 0) return turns;
  const all = { tools: [...last.tools, ...tools], moreTools: last.moreTools + moreTools };
  return [...turns.slice(0, -1), { ...last, ...all }];
}

function isOf(record: TurnRecord, isAnswer: boolean): boolean {
  return record["outcome"] !== "superseded" && (!isAnswer || record["kind"] === "reply");
}

/** What the metadata of a call keeps of its turns. */
export function recordsOf(metadata: Readonly<Record<string, unknown>> | undefined) {
  const turns = metadata?.["turns"];
  return Array.isArray(turns) ? turns.filter(isRecord) : [];
}

function isRecord(value: unknown): value is TurnRecord {
  return typeof value === "object" && value !== null;
}
