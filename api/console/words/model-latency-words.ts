import type { Answered } from "../model/contract-paths.js";
import { waitWords } from "./durations.js";
import type { KIND_NAMES } from "./provider-words.js";

type Share = Pick<Answered<"getVendorShares">[number], "category" | "vendor" | "models">;

/** So far back turns are looked at. */
export const LATENCY_DAYS = 14;

/** What is measured of each category. */
const MEASURES = { llm: "first token", tts: "first audio", stt: "final words" } as const;

export interface MeasuredModel {
  readonly category: keyof typeof KIND_NAMES;
  /** Such as `openai`. */
  readonly vendor: string;
  /** Empty: the one that was used most. */
  readonly modelId: string;
  readonly isSimulated: boolean;
}

/** How quick the model was in the organization's own calls. */
export function modelLatencyWords(shares: readonly Share[], measured: MeasuredModel): string {
  const { category, vendor, modelId, isSimulated } = measured;
  const share = shares.find((each) => each.category === category && each.vendor === vendor);
  const found = share?.models.find(({ model }) => modelId === "" || model === modelId);
  if (found === undefined) return "Latency: not measured yet.";
  const turns = found.turns === 1 ? "1 turn" : `${found.turns.toLocaleString()} turns`;
  const kind = isSimulated ? ", simulated" : "";
  return `Latency: ${MEASURES[category]} after ${waitWords(found.p50Ms)} (median of ${turns} in ${LATENCY_DAYS} days${kind}).`;
}
