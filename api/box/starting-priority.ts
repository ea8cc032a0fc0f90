import { existsSync, readdirSync, readFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import type { Clock } from "../../engine/time/clock.js";

/** A tenth of the weight of what runs as usual; on a core that is free it is as fast. */
const STARTING_NICE = 10;
/** Where other programs take all cores, a process of low priority would never listen: after this it starts as usual. */
export const STARTING_BEHIND_MAX_MS = 5_000;
/** Looks for threads that are still behind: a first, one for those that were begun during it, and one to spare. */
const LOOKS_MAX = 3;
const NICE_LIMIT = /^Max nice priority\s+(\d+)/m;
/** The limit counts from the lowest priority: with 20 a process may come back to a nice value of 0. */
const NICE_OF_LIMIT_0 = 20;

/** Whether the kernel's `limits` of a process let one without privileges take this nice value again. */
export function maySetNice(limits: string, nice: number): boolean {
  return NICE_OF_LIMIT_0 - Number(NICE_LIMIT.exec(limits)?.[1] ?? 0) <= nice;
}

export interface StartingProcess {
  readonly pid: number;
  readonly clock: Clock;
  /** Resolves when the process has ended. */
  readonly gone: Promise<unknown>;
  readonly onFailure: (error: unknown) => void;
}

/**
 * Gives a process that starts a lower priority than those that carry calls, since starting is a second of work. The usual
 * priority returns when the function that this returns is called, and after `STARTING_BEHIND_MAX_MS` in any case. Does
 * nothing where the system would not allow the usual priority again. A failure is reported and changes nothing else.
 */
export function startedBehind({ pid, clock, gone, onFailure }: StartingProcess): () => void {
  const usual = getPriority();
  const attempt = (act: () => void) => {
    try {
      act();
    } catch (error) {
      onFailure(error);
    }
  };
  if (usual >= STARTING_NICE || !mayComeBack(pid, usual)) return () => undefined;
  // Only this thread's, so far the only one: the others are its children and begin as it is then.
  attempt(() => setPriority(pid, STARTING_NICE));
  const comeForward = () => {
    cancel();
    for (let look = 0; look < LOOKS_MAX; look += 1) attempt(() => bringForward(pid, usual));
  };
  const cancel = clock.after(STARTING_BEHIND_MAX_MS, comeForward);
  // The system may give the id of a process that has ended to another one.
  void gone.then(cancel);
  return comeForward;
}

function mayComeBack(pid: number, usual: number): boolean {
  // Elsewhere the threads could not be found that have to come back.
  if (!existsSync("/proc/self/limits")) return false;
  return maySetNice(readFileSync("/proc/self/limits", "utf8"), usual) || mayGoAhead(pid, usual);
}

/** Tried, since a capability that is listed is none where it is only of a container's own users. */
function mayGoAhead(pid: number, usual: number): boolean {
  try {
    setPriority(pid, usual - 1);
    setPriority(pid, usual);
    return true;
  } catch {
    return false;
  }
}

function bringForward(pid: number, usual: number): void {
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      if (getPriority(Number(thread)) > usual) setPriority(Number(thread), usual);
    } catch (error) {
      // It may have ended since it was listed.
      if (existsSync(`/proc/${pid}/task/${thread}`)) throw error;
    }
  }
}
