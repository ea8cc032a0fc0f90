import type { Logger } from "../../engine/log.js";
import type { FrontChoice } from "../../engine/settings.js";
import { uwsLoads } from "../http/front/open-front.js";
import { usableCores } from "./usable-cores.js";

/** A box with more cores is asked how many of them calls may have. */
const UNASKED_MAX = 16;

export interface SharingSettings {
  /** 0: as many as the box has cores for. */
  readonly workers: number;
  readonly httpFront: FrontChoice;
}

/**
 * How many processes carry calls. Several only where the system gives each its part of the connections to one port. Of the cores
 * one is left to what a box has once: the owner with its storage thread.
 */
export async function sessionProcessCount(
  { workers, httpFront }: SharingSettings,
  log: Logger,
  cores = usableCores(),
): Promise<number> {
  const count = workers === 0 ? Math.min(UNASKED_MAX, Math.max(1, cores - 1)) : workers;
  if (count === 1) return 1;
  if (process.platform === "linux" && httpFront !== "node" && (await uwsLoads())) return count;
  // Who has not asked for several misses nothing that was promised.
  const level = workers === 0 ? "info" : "warn";
  log[level](
    { workers: count },
    "WORKERS: several processes need Linux and uWebSockets.js (Node 20 or 22); one carries all calls",
  );
  return 1;
}
