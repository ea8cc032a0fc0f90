/** The day in UTC, such as `2026-01-31`. */
export function utcDate(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 10);
}

/** Returns the first day of the month and the day itself, both in UTC. */
export function utcMonth(epochMs: number): { readonly fromDate: string; readonly toDate: string } {
  const toDate = utcDate(epochMs);
  return { fromDate: `${toDate.slice(0, 8)}01`, toDate };
}
