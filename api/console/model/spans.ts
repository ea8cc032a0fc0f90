import { percentile } from "./turns.js";

interface DayOfWaits {
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

export interface SpanOfWaits {
  readonly p50Ms: number;
  readonly p95Ms: number;
}

/** The last day, and the medians of the days before it; undefined of days without replies. */
export function spanOf(days: readonly DayOfWaits[]): {
  readonly today: SpanOfWaits | undefined;
  readonly before: SpanOfWaits | undefined;
} {
  return { today: summedUp(days.slice(-1)), before: summedUp(days.slice(0, -1)) };
}

function summedUp(days: readonly DayOfWaits[]): SpanOfWaits | undefined {
  const p50Ms = percentile(known(days.map((day) => day.p50Ms)), 0.5);
  const p95Ms = percentile(known(days.map((day) => day.p95Ms)), 0.5);
  return p50Ms === undefined || p95Ms === undefined ? undefined : { p50Ms, p95Ms };
}

function known(values: readonly (number | null)[]): readonly number[] {
  return values.filter((value) => value !== null);
}
