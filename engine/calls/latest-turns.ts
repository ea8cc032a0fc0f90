import type { PastTurn } from "../../storage/calls/call-store.js";
import type { Database } from "../../storage/database.js";

/** Their turns are read and sorted in one go, on the thread that calls share. */
const CALLS_PER_READ = 50;
/** The number of latest calls: for a busier organization they are a fair sample of its last days. */
const TURNS_CALLS_MAX = 2_000;

export type TurnsOfCalls = Pick<Database["calls"], "turnsSince">;

/** The turns of an organization's latest calls since then, the newest calls first. */
export async function* latestTurns(
  calls: TurnsOfCalls,
  orgId: string,
  sinceMs: number,
): AsyncGenerator<PastTurn> {
  for (let skipCalls = 0; skipCalls < TURNS_CALLS_MAX; skipCalls += CALLS_PER_READ) {
    const turns = await calls.turnsSince(orgId, { sinceMs, skipCalls, calls: CALLS_PER_READ });
    if (turns.length === 0) return;
    yield* turns;
  }
}
