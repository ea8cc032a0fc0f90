import type { PastTurn } from "../../storage/calls/call-store.js";
import { type Category, isJsonObject, type JsonObject } from "../../storage/records.js";
import { latestTurns, type TurnsOfCalls } from "./latest-turns.js";

/** How a vendor did in an organization's latest calls. */
export interface VendorShare {
  readonly category: Category;
  /** Such as `openai`. */
  readonly vendor: string;
  /** Turns in which it answered. */
  readonly answered: number;
  /** Turns in which it was asked first and failed. */
  readonly failed: number;
  /** What went wrong when it failed last; null where it never did. */
  readonly lastFault: string | null;
  /** What all the vain asking has cost, in milliseconds. */
  readonly wastedMs: number;
  /** What went wrong in those turns, the most frequent first; `FAULTS_MAX` at most. */
  readonly faults: readonly VendorFaults[];
}

/** The turns in which a vendor failed for one reason. */
export interface VendorFaults {
  readonly fault: string;
  /** null of turns whose record does not tell it. */
  readonly model: string | null;
  readonly turns: number;
  /** The newest call that has such a turn. */
  readonly lastCallId: string;
  /** When that call began, in epoch milliseconds. */
  readonly lastCallAtMs: number;
}

const CATEGORIES: readonly Category[] = ["llm", "tts", "stt"];
/** A vendor has as many kinds of faults; with many models there are more, of which the rarest are left out. */
const FAULTS_MAX = 10;

interface Tally extends Omit<VendorShare, "faults"> {
  readonly faults: Map<string, VendorFaults>;
}

/** Who has answered since then, and who has failed; those that failed most often first. */
export async function vendorShares(
  calls: TurnsOfCalls,
  orgId: string,
  sinceMs: number,
): Promise<readonly VendorShare[]> {
  const tallies = new Map<string, Tally>();
  for await (const past of latestTurns(calls, orgId, sinceMs)) {
    for (const category of CATEGORIES) {
      const answer = past.turn[category];
      if (isJsonObject(answer)) count(tallies, category, answer, past);
    }
  }
  return [...tallies.values()]
    .map((tally) => ({ ...tally, faults: mostFrequent(tally.faults) }))
    .sort((one, other) => other.failed - one.failed || other.answered - one.answered);
}

/** `answer` is what a turn keeps of who answered in it: see `VendorAnswer`. */
function count(
  tallies: Map<string, Tally>,
  category: Category,
  answer: JsonObject,
  past: PastTurn,
): void {
  const { vendor, firstVendor, firstFault, firstModel, wastedMs } = answer;
  if (typeof vendor === "string" && vendor !== "") {
    change(tallies, category, vendor, (tally) => ({ ...tally, answered: tally.answered + 1 }));
  }
  if (typeof firstVendor !== "string" || typeof firstFault !== "string") return;
  change(tallies, category, firstVendor, (tally) => {
    addFault(tally.faults, firstFault, typeof firstModel === "string" ? firstModel : null, past);
    return {
      ...tally,
      failed: tally.failed + 1,
      // The newest calls come first.
      lastFault: tally.lastFault ?? firstFault,
      wastedMs: tally.wastedMs + (typeof wastedMs === "number" ? Math.round(wastedMs) : 0),
    };
  });
}

function addFault(
  faults: Map<string, VendorFaults>,
  fault: string,
  model: string | null,
  { callId, startedAtMs }: PastTurn,
): void {
  const key = `${fault} ${model ?? ""}`;
  const newest = faults.get(key);
  const turns = (newest?.turns ?? 0) + 1;
  const first = { fault, model, lastCallId: callId, lastCallAtMs: startedAtMs };
  faults.set(key, { ...(newest ?? first), turns });
}

function mostFrequent(faults: ReadonlyMap<string, VendorFaults>): readonly VendorFaults[] {
  return [...faults.values()]
    .sort((one, other) => other.turns - one.turns || other.lastCallAtMs - one.lastCallAtMs)
    .slice(0, FAULTS_MAX);
}

function change(
  tallies: Map<string, Tally>,
  category: Category,
  vendor: string,
  changed: (tally: Tally) => Tally,
): void {
  const key = `${category} ${vendor}`;
  const nothing = { answered: 0, failed: 0, lastFault: null, wastedMs: 0, faults: new Map() };
  tallies.set(key, changed(tallies.get(key) ?? { category, vendor, ...nothing }));
}
