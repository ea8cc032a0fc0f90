import { readFileSync } from "node:fs";
import * as v from "valibot";

const positive = v.pipe(v.number(), v.minValue(0));
const Budget = v.strictObject({
  title: v.string(),
  unit: v.string(),
  /** The number that was promised. Kept, it suffices; beside a ratio it may be missed where the reference is as slow. */
  absolute: v.optional(positive),
  absoluteMax: v.optional(positive),
  ratioMax: v.optional(positive),
  ratioMin: v.optional(positive),
  why: v.string(),
});
const Budgets = v.strictObject({
  addedLatencyP50: Budget,
  addedLatencyP99: Budget,
  bargeInP99: Budget,
  cpuPerCallSecond: Budget,
  residentPerCall: Budget,
  phoneLatencyP50: Budget,
  phoneLatencyP99: Budget,
  phoneBargeInP99: Budget,
  phoneJitterP99: Budget,
  phoneCpuPerCallSecond: Budget,
  phoneResidentPerCall: Budget,
  phoneMp3LatencyP99: Budget,
  phoneMp3CpuPerCallSecond: Budget,
  phoneMp3ResidentPerCall: Budget,
  phoneWordsWrong: Budget,
  fullPhoneLatencyP99: Budget,
  fullPhoneMissedReplies: Budget,
  restHealth: Budget,
  restAgents: Budget,
  restCallPage: Budget,
  restPageOfMany: Budget,
  besideRestLatencyP99: Budget,
  streamsListed: Budget,
  streamsListedBesideSlow: Budget,
  transitionRate: Budget,
  startUpFresh: Budget,
  startUpAgain: Budget,
  idleWakeUps: Budget,
  idleWakeUpsAfterCall: Budget,
  soakHeapGrowth: Budget,
  soakResidentGrowth: Budget,
  soakHandleGrowth: Budget,
  soakTimerGrowth: Budget,
  soakFailures: Budget,
  soakLeftovers: Budget,
});
export type Budget = v.InferOutput<typeof Budget>;
export type Budgets = v.InferOutput<typeof Budgets>;
export type MeasureName = keyof Budgets;

/** The file lies beside the sources; the compiled code, one folder further down. */
const FILE_URL = new URL("../../bench/budgets.json", import.meta.url);

/** Throws when the file does not hold exactly the known budgets. */
export function readBudgets(): Budgets {
  return v.parse(Budgets, JSON.parse(readFileSync(FILE_URL, "utf8")));
}

export interface Measurement {
  readonly name: MeasureName;
  readonly measured: number;
  /** What the reference measured in the same run; absent where there is none. */
  readonly reference?: number;
}

export interface Verdict extends Measurement {
  readonly budget: Budget;
  readonly ratio: number | undefined;
  readonly isMet: boolean;
}

/**
 * Met is a promise that was kept, or else a ratio that holds on this machine at this moment: the reference may be lucky in
 * its few worst turns. A number that could not be measured is a miss.
 */
export function judge(measurement: Measurement, budget: Budget): Verdict {
  const { measured, reference } = measurement;
  const ratio = reference === undefined ? undefined : measured / reference;
  const { absolute, absoluteMax, ratioMax, ratioMin } = budget;
  const isMet =
    absoluteMax !== undefined
      ? measured <= absoluteMax
      : ratioMax !== undefined
        ? measured <= (absolute ?? Number.NEGATIVE_INFINITY) || (ratio ?? Number.NaN) <= ratioMax
        : measured >= (absolute ?? Number.POSITIVE_INFINITY) ||
          (ratio ?? Number.NaN) >= (ratioMin ?? Number.NaN);
  return { ...measurement, budget, ratio, isMet: isMet && Number.isFinite(measured) };
}

/** The better of two verdicts on one measure: what disturbs a measurement only ever makes it worse. */
export function better(one: Verdict, other: Verdict): Verdict {
  if (one.isMet !== other.isMet) return one.isMet ? one : other;
  const { absoluteMax, ratioMin } = one.budget;
  const rank = ({ measured, ratio = measured }: Verdict) =>
    absoluteMax === undefined ? ratio : measured;
  if (!Number.isFinite(rank(one))) return other;
  if (!Number.isFinite(rank(other))) return one;
  const isLess = rank(one) < rank(other);
  return isLess === (ratioMin === undefined) ? one : other;
}

/** What gates, in words. */
export function bound({ absoluteMax, ratioMax, ratioMin, unit }: Budget): string {
  if (absoluteMax !== undefined) return `≤ ${absoluteMax} ${unit}`.trim();
  return ratioMax === undefined ? `ratio ≥ ${ratioMin ?? 0}` : `ratio ≤ ${ratioMax}`;
}
