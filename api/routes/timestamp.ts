/** Records keep epoch milliseconds, answers ISO 8601. */
export function timestamp(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
