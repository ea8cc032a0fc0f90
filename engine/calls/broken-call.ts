import { isAbandoned } from "../../storage/calls/abandoned-calls.js";
import type { CallRecord } from "../../storage/records.js";
import { isBreak } from "../conversation/call-end.js";
import type { Clock } from "../time/clock.js";
import { within } from "../time/deadline.js";
import type { CallJournal } from "./call-journal.js";

/** The end of a call is stored within milliseconds; after this time a slower store no longer delays the caller. */
const END_STORED_MAX_MS = 1_000;
/** How often to check whether another process has stored it. */
const END_CHECK_MS = 100;

/** Whether the call broke off: its record says so, or still says that it is in progress. */
export function isBrokenOff({ status, metadata }: CallRecord): boolean {
  const reason = metadata["endReason"];
  if (status === "active") return true;
  return typeof reason === "string" && (isBreak({ reason }) || isAbandoned(reason));
}

/**
 * The result of `find` once that call is no longer active, after a second at most: its end may be on its way to the
 * store, here or in another process, and its process may have died. If `find` returns another call meanwhile, that
 * one is returned at once, whether it is active or not: nothing is known of it yet.
 */
export async function onceEnded(
  { id }: Pick<CallRecord, "id">,
  find: () => Promise<CallRecord | undefined>,
  journal: Pick<CallJournal, "stored">,
  clock: Clock,
): Promise<CallRecord | undefined> {
  const untilMs = clock.monotonicMs() + END_STORED_MAX_MS;
  await within(clock, END_STORED_MAX_MS, journal.stored());
  let call = await find();
  while (call?.status === "active" && call.id === id && clock.monotonicMs() < untilMs) {
    await new Promise<void>((resolve) => {
      clock.after(END_CHECK_MS, resolve);
    });
    call = await find();
  }
  return call;
}
