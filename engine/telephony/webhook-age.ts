/** What vendors' own libraries allow between a webhook's signature and its arrival, either way. */
export const WEBHOOK_AGE_MAX_MS = 5 * 60 * 1_000;

/** `timestamp`: whole seconds since 1970, as vendors write them. */
export function isRecent(timestamp: string, nowMs: number): boolean {
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  return Math.abs(nowMs - Number(timestamp) * 1_000) <= WEBHOOK_AGE_MAX_MS;
}
