import { existsSync, readdirSync, readFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

/** A tenth of the weight of what runs as usual; on a core that is free it is as fast. */
const STARTING_NICE = 10;
/** Looks for threads that are still behind: a first, one for those that were begun during it, and one to spare. */
const LOOKS_MAX = 3;
const NICE_LIMIT = /^Max nice priority\s+(\d+)/m;
/** The limit counts from the lowest priority: with 20 a process may come back to a nice value of 0. */
const NICE_OF_LIMIT_0 = 20;

/** Whether the kernel's `limits` of a process let one without privileges take this nice value again. */
export function maySetNice(limits: string, nice: number): boolean {
  return NICE_OF_LIMIT_0 - Number(NICE_LIMIT.exec(limits)?.[1] ?? 0) <= nice;
}

/**
 * Has a process that begins stand behind those that carry calls, until what this gives is called: starting is a second of work.
 * Nothing where the system would not let it come back: it would stay behind. What fails nevertheless is told, and changes nothing
 * else.
 */
export function startedBehind(pid: number, onFailure: (error: unknown) => void): () => void {
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
  return () => {
    for (let look = 0; look < LOOKS_MAX; look += 1) attempt(() => bringForward(pid, usual));
  };
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
