import { RequestError } from "../request-error.js";
import type { Clock } from "../time/clock.js";

/** An attempt fails if another writer was faster. This many simultaneous changes of one record are an error. */
const UPDATE_ATTEMPTS_MAX = 20;

interface Versioned {
  readonly updatedAtMs: number;
}

/** A change of a record that other writers may change at the same time. */
export interface VersionedChange<Known extends Versioned, Changed> {
  /** Rejects if the record does not exist. */
  read(): Promise<Known>;
  /** Returns undefined if the stored record has changed since it was read. */
  change(known: Known): Promise<Changed | undefined>;
  /** Called if the record cannot be changed although it has not changed since it was read: it is deleted. */
  notFound(): RequestError;
  /** The kind of record, for the error message. */
  readonly recordName: string;
}

/**
 * Applies the change to the newest version of the record, even if others change it meanwhile. RequestError `conflict`
 * if all attempts fail.
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

/** Returns the next `updatedAtMs`. Later than the last one even if the clock was set back, so that versions differ. */
export function nextVersionMs({ updatedAtMs }: Versioned, clock: Pick<Clock, "epochMs">): number {
  return Math.max(clock.epochMs(), updatedAtMs + 1);
}
