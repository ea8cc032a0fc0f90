/** Records store epoch milliseconds; responses contain ISO 8601. */
export function timestamp(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
