import { waitWords } from "./durations.js";
import { keptFaultWords } from "./provider-words.js";

const KINDS = [
  { key: "llm", label: "LLM" },
  { key: "tts", label: "TTS" },
  { key: "stt", label: "STT" },
] as const;

export interface AnswerView {
  readonly text: string;
  /** Somebody else was asked first, in vain. */
  readonly isStandIn: boolean;
}

/** Who answered in a turn, as its record keeps it; nothing of a turn whose record names nobody. */
export function answersOf(record: Readonly<Record<string, unknown>> | undefined): AnswerView[] {
  return KINDS.flatMap(({ key, label }): AnswerView[] => {
    const answer = record?.[key];
    if (!isFields(answer)) return [];
    const who = `${textOf(answer, "vendor")} ${textOf(answer, "model")}`.trim();
    const first = `${textOf(answer, "firstVendor")} ${textOf(answer, "firstModel")}`.trim();
    const late = lateWords(answer["hedges"]);
    if (first === "") return [{ text: `${label} ${who || "–"}${late}`, isStandIn: false }];
    const fault = keptFaultWords(textOf(answer, "firstFault"));
    const { wastedMs } = answer;
    const cost = typeof wastedMs === "number" ? `, which cost ${waitWords(wastedMs)}` : "";
    if (who === "") {
      const text = `${label} failed: ${first}: ${fault}${cost}, and no fallback was left`;
      return [{ text, isStandIn: true }];
    }
    return [
      { text: `${label} ${who}, since ${first} failed (${fault})${cost}${late}`, isStandIn: true },
    ];
  });
}

/** What came of asking another model because the first was late. */
function lateWords(hedges: unknown): string {
  if (!isFields(hedges) || textOf(hedges, "asked") === "0") return "";
  const winner = textOf(hedges, "won") === "0" ? "the first" : "the other";
  const tokens = textOf(hedges, "wastedTokens");
  return `; the first was late, so another was asked too, and ${winner} began first (${tokens} tokens wasted)`;
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value === "number") return String(Math.round(value));
  return typeof value === "string" ? value : "";
}
