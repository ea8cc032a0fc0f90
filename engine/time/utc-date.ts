/** The day in UTC, such as `2026-01-31`. */
export function utcDate(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 10);
}

/** The days in UTC of a moment's month, up to that moment. */
export function utcMonth(epochMs: number): { readonly fromDate: string; readonly toDate: string } {
  const toDate = utcDate(epochMs);
  return { fromDate: `${toDate.slice(0, 8)}01`, toDate };
}
