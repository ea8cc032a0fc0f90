import { RequestError } from "../request-error.js";
import type { Clock } from "../time/clock.js";

/** Attempts, each lost to another writer: so many simultaneous changes of one record are an error. */
const UPDATE_ATTEMPTS_MAX = 20;

interface Versioned {
  readonly updatedAtMs: number;
}

/** How a record is changed that others may change at the same time. */
export interface VersionedChange<Known extends Versioned, Changed> {
  /** Rejects where there is none. */
  read(): Promise<Known>;
  /** Undefined when the record is not this one any more. */
  change(known: Known): Promise<Changed | undefined>;
  /** The record is as it was read, and cannot be changed: it is gone. */
  notFound(): RequestError;
  /** What is changed, in the words of the failure. */
  readonly recordName: string;
}

/**
 * Applies the change to the record's newest version, whoever has changed it since it was read. RequestError `conflict`
 * when that never succeeds.
 */
export async function changeNewest<Known extends Versioned, Changed>(
  of: VersionedChange<Known, Changed>,
): Promise<Changed> {
  let triedAtMs: number | undefined;
  for (let attempt = 1; attempt <= UPDATE_ATTEMPTS_MAX; attempt += 1) {
    const known = await of.read();
    if (known.updatedAtMs === triedAtMs) throw of.notFound();
    triedAtMs = known.updatedAtMs;
    const changed = await of.change(known);
    if (changed !== undefined) return changed;
  }
  throw new RequestError("conflict", `the ${of.recordName} keeps changing: try again`);
}

/** When a record is updated that was read: later than before, whatever the clock says, so that it tells one state from the next. */
export function nextVersionMs({ updatedAtMs }: Versioned, clock: Pick<Clock, "epochMs">): number {
  return Math.max(clock.epochMs(), updatedAtMs + 1);
}
