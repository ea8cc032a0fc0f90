import type { Database } from "../../../storage/database.js";

/** A poll makes fewer requests, one after the other; the storage answers all requests in order. */
const POLL_REQUESTS_MAX = 10;

/** Resolves when the runner's current poll has set the time of the next one. */
export async function pollIsOver({ jobs }: Pick<Database, "jobs">): Promise<void> {
  for (let request = 0; request < POLL_REQUESTS_MAX; request += 1) await jobs.nextTimes();
}
