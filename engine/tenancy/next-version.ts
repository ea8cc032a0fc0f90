import type { Clock } from "../time/clock.js";

/** Each time somebody else was first: so many change one record in the same moment only by mistake. */
export const UPDATE_ATTEMPTS_MAX = 20;

/** When a record is updated that was read: later than before, whatever the clock says, so that it tells one state from the next. */
export function nextVersionMs(
  { updatedAtMs }: { readonly updatedAtMs: number },
  clock: Pick<Clock, "epochMs">,
): number {
  return Math.max(clock.epochMs(), updatedAtMs + 1);
}
