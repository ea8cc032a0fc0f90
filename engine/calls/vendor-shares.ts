import type { PastTurn } from "../../storage/calls/call-store.js";
import { type Category, isJsonObject, type JsonObject } from "../../storage/records.js";
import { latestTurns, type TurnsOfCalls } from "./latest-turns.js";

/** A vendor's results in an organization's latest calls. */
export interface VendorShare {
  readonly category: Category;
  /** Such as `openai`. */
  readonly vendor: string;
  /** Turns in which it answered. */
  readonly answered: number;
  /** Turns in which it was tried first and failed. */
  readonly failed: number;
  /** Its last fault; null if it never failed. */
  readonly lastFault: string | null;
  /** The total time lost by its failures, in milliseconds. */
  readonly wastedMs: number;
  /** The faults in those turns, most frequent first; at most `FAULTS_MAX`. */
  readonly faults: readonly VendorFaults[];
  /** The latency of its models, most used first; at most `MODELS_MAX`. */
  readonly models: readonly ModelLatency[];
}

/** A model's part of the caller's wait, in turns without an earlier failure. */
export interface ModelLatency {
  readonly model: string;
  /** The number of measured turns. */
  readonly turns: number;
  /** The median of its category's part of the wait: `LATENCY_PARTS`. */
  readonly p50Ms: number;
}

/** The turns in which a vendor failed for one reason. */
export interface VendorFaults {
  readonly fault: string;
  /** null for turns whose record does not contain it. */
  readonly model: string | null;
  readonly turns: number;
  /** The newest call with such a turn. */
  readonly lastCallId: string;
  /** When that call began, in epoch milliseconds. */
  readonly lastCallAtMs: number;
}

const CATEGORIES: readonly Category[] = ["llm", "tts", "stt"];
/** The part of a turn's latency that the vendor of a category decides. */
const LATENCY_PARTS: Readonly<Record<Category, string>> = {
  llm: "llmFirstTokenMs",
  tts: "ttsFirstByteMs",
  stt: "sttMs",
};
/** A vendor has this many kinds of faults; with many models there are more, of which the rarest are dropped. */
const FAULTS_MAX = 10;
const MODELS_MAX = 20;

interface Tally extends Omit<VendorShare, "faults" | "models"> {
  readonly faults: Map<string, VendorFaults>;
  /** The measured durations by model. */
  readonly durationsMs: Map<string, number[]>;
}

/** Which vendors have answered since then, and which have failed; the most frequent failures first. */
export async function vendorShares(
  calls: TurnsOfCalls,
  orgId: string,
  sinceMs: number,
): Promise<readonly VendorShare[]> {
  const tallies = new Map<string, Tally>();
  const listener = new CallListener();
  for await (const past of latestTurns(calls, orgId, sinceMs)) {
    for (const category of CATEGORIES) {
      const answer = past.turn[category];
      if (isJsonObject(answer)) count(tallies, category, answer, past);
    }
    const stt = listener.of(past);
    if (stt !== undefined) addDuration(tallies, "stt", stt, past);
  }
  return [...tallies.values()]
    .map(({ durationsMs, ...tally }) => ({
      ...tally,
      faults: mostFrequent(tally.faults),
      models: modelLatencies(durationsMs),
    }))
    .sort((one, other) => other.failed - one.failed || other.answered - one.answered);
}

/** `answer` is what a turn records about the vendor: see `VendorAnswer`. */
function count(
  tallies: Map<string, Tally>,
  category: Category,
  answer: JsonObject,
  past: PastTurn,
): void {
  const { vendor, firstVendor, firstFault, firstModel, wastedMs } = answer;
  if (typeof vendor === "string" && vendor !== "") {
    change(tallies, category, vendor, (tally) => ({ ...tally, answered: tally.answered + 1 }));
    // The measure includes earlier failures, which are not its own.
    if (category !== "stt" && firstVendor === undefined) {
      addDuration(tallies, category, answer, past);
    }
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

/** The STT of a call: a turn names it only if it differs from the turn before. */
class CallListener {
  #callId = "";
  #answer: JsonObject | undefined;

  /** Undefined in a turn in which another STT failed first: the failure is part of the measure. */
  of({ callId, turn }: PastTurn): JsonObject | undefined {
    if (callId !== this.#callId) this.#answer = undefined;
    this.#callId = callId;
    const { stt } = turn;
    if (isJsonObject(stt)) this.#answer = stt;
    return isJsonObject(stt) && stt["firstVendor"] !== undefined ? undefined : this.#answer;
  }
}

function addDuration(
  tallies: Map<string, Tally>,
  category: Category,
  { vendor, model }: JsonObject,
  { turn }: PastTurn,
): void {
  const durationMs = turn[LATENCY_PARTS[category]];
  if (typeof vendor !== "string" || vendor === "" || typeof durationMs !== "number") return;
  if (typeof model !== "string" || model === "") return;
  change(tallies, category, vendor, (tally) => {
    const measured = tally.durationsMs.get(model);
    if (measured === undefined) tally.durationsMs.set(model, [durationMs]);
    else measured.push(durationMs);
    return tally;
  });
}

function modelLatencies(durationsMs: ReadonlyMap<string, number[]>): readonly ModelLatency[] {
  return [...durationsMs]
    .map(([model, measured]) => {
      measured.sort((one, other) => one - other);
      const p50Ms = Math.round(measured[Math.ceil(measured.length / 2) - 1] ?? 0);
      return { model, turns: measured.length, p50Ms };
    })
    .sort((one, other) => other.turns - one.turns)
    .slice(0, MODELS_MAX);
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
  const nothing = { answered: 0, failed: 0, lastFault: null, wastedMs: 0 };
  const maps = { faults: new Map(), durationsMs: new Map() };
  tallies.set(key, changed(tallies.get(key) ?? { category, vendor, ...nothing, ...maps }));
}
