import { readFileSync } from "node:fs";
import * as v from "valibot";

const positive = v.pipe(v.number(), v.minValue(0));
const Budget = v.strictObject({
  title: v.string(),
  unit: v.string(),
  /** The number that was promised. Kept, it suffices; beside a ratio it may be missed where the reference is as slow. */
  absolute: v.optional(positive),
  /** The ratio that was promised, where what gates is a wider one. */
  promisedRatio: v.optional(positive),
  absoluteMax: v.optional(positive),
  ratioMax: v.optional(positive),
  ratioMin: v.optional(positive),
  /** What may come on top of the ratio, in the measure's unit. */
  plusMax: v.optional(positive),
  why: v.string(),
});
const Budgets = v.strictObject({
  addedLatencyP50: Budget,
  addedLatencyP99: Budget,
  bargeInP50: Budget,
  bargeInP99: Budget,
  cpuPerCallSecond: Budget,
  residentPerCall: Budget,
  streamLatencyP50: Budget,
  streamLatencyP99: Budget,
  streamBargeInP50: Budget,
  streamBargeInP99: Budget,
  streamCpuPerCallSecond: Budget,
  streamResidentPerCall: Budget,
  streamFirstSoundP50: Budget,
  phoneLatencyP50: Budget,
  phoneLatencyP99: Budget,
  phoneBargeInP50: Budget,
  phoneBargeInP99: Budget,
  phoneJitterP99: Budget,
  phoneCpuPerCallSecond: Budget,
  phoneResidentPerCall: Budget,
  phoneFirstSoundP50: Budget,
  phonePcmLatencyP50: Budget,
  phonePcmFirstTurnsP50: Budget,
  phonePcmFirstSoundP50: Budget,
  phonePcmCpuPerCallSecond: Budget,
  phonePcmResidentPerCall: Budget,
  phoneUnderruns: Budget,
  phoneMp3LatencyP50: Budget,
  phoneMp3FirstTurnsP50: Budget,
  phoneMp3FirstSoundP50: Budget,
  phoneMp3CpuPerCallSecond: Budget,
  phoneMp3ResidentPerCall: Budget,
  phoneWordsWrong: Budget,
  fullPhoneLatencyP99: Budget,
  fullPhoneMissedReplies: Budget,
  restHealth: Budget,
  restAgents: Budget,
  restCallPage: Budget,
  restPageOfMany: Budget,
  restAgentsCpu: Budget,
  restOrganizationCpu: Budget,
  restAgentCpu: Budget,
  besideRestLatencyP99: Budget,
  besideDashboardsLatencyP99: Budget,
  streamsListed: Budget,
  streamsListedBesideSlow: Budget,
  tlsCpuPerCallSecond: Budget,
  chainCpuPerCallSecond: Budget,
  chainLatencyP50: Budget,
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
  killedServerBack: Budget,
  killedServerGap: Budget,
  killedServerWrong: Budget,
  killedProcessBack: Budget,
  killedProcessGap: Budget,
  killedProcessWrong: Budget,
  postgresLatencyP99: Budget,
  postgresSharingLatencyP99: Budget,
  workersCpuPerCallSecond: Budget,
  workersOverApart: Budget,
  workersLargestShare: Budget,
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
  /** Undefined where what gates is the promise itself. */
  readonly isKept: boolean | undefined;
}

/**
 * Met is a promise that was kept, or else a ratio that holds on this machine at this moment: the reference may be lucky in
 * its few worst turns. A number that could not be measured is a miss.
 */
export function judge(measurement: Measurement, budget: Budget): Verdict {
  const { measured, reference } = measurement;
  const ratio = reference === undefined ? undefined : measured / reference;
  const { absolute, absoluteMax, ratioMax, ratioMin, plusMax = 0 } = budget;
  const isMet =
    absoluteMax !== undefined
      ? measured <= absoluteMax
      : ratioMax !== undefined
        ? measured <= (absolute ?? Number.NEGATIVE_INFINITY) ||
          measured <= (reference ?? Number.NaN) * ratioMax + plusMax
        : measured >= (absolute ?? Number.POSITIVE_INFINITY) ||
          (ratio ?? Number.NaN) >= (ratioMin ?? Number.NaN);
  const isKept = isPromiseKept(measured, ratio, budget);
  return { ...measurement, budget, ratio, isMet: isMet && Number.isFinite(measured), isKept };
}

function isPromiseKept(
  measured: number,
  ratio: number | undefined,
  { absolute, promisedRatio, ratioMin }: Budget,
): boolean | undefined {
  const isMore = ratioMin !== undefined;
  if (promisedRatio !== undefined) {
    return isMore ? (ratio ?? 0) >= promisedRatio : (ratio ?? Number.NaN) <= promisedRatio;
  }
  if (absolute === undefined) return undefined;
  return isMore ? measured >= absolute : measured <= absolute;
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

/** What was promised, in words; empty where what gates is the promise itself. */
export function promise({ absolute, promisedRatio, ratioMin, unit }: Budget): string {
  if (promisedRatio !== undefined)
    return `ratio ${ratioMin === undefined ? "≤" : "≥"} ${promisedRatio}`;
  return absolute === undefined ? "" : `${absolute} ${unit}`.trim();
}

/** What gates, in words. */
export function bound({ absoluteMax, ratioMax, ratioMin, plusMax, unit }: Budget): string {
  if (absoluteMax !== undefined) return `≤ ${absoluteMax} ${unit}`.trim();
  if (plusMax !== undefined) {
    const share = ratioMax === 1 ? "" : `${ratioMax ?? 1} × `;
    return `≤ ${share}reference + ${plusMax} ${unit}`;
  }
  return ratioMax === undefined ? `ratio ≥ ${ratioMin ?? 0}` : `ratio ≤ ${ratioMax}`;
}
