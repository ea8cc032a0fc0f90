import type { Logger } from "../../engine/log.js";
import type { FrontChoice } from "../../engine/settings.js";
import { uwsLoads } from "../http/open-front.js";

export interface SharingSettings {
  readonly workers: number;
  readonly httpFront: FrontChoice;
}

/** Whether several processes carry the calls: only where the system gives each its part of the connections to one port. */
export async function mayShare(
  { workers, httpFront }: SharingSettings,
  log: Logger,
): Promise<boolean> {
  if (workers === 1) return false;
  if (process.platform === "linux" && httpFront !== "node" && (await uwsLoads())) return true;
  log.warn(
    { workers },
    "WORKERS: several processes need Linux and uWebSockets.js (Node 20 or 22); one carries all calls",
  );
  return false;
}
