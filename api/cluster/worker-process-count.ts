import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Logger } from "../../engine/log.js";
import type { BackendChoice } from "../../engine/settings.js";
import { uwsLoads } from "../http/backend/open-backend.js";

const GROUPS = "/sys/fs/cgroup";
const OWN_GROUPS = "/proc/self/cgroup";

/**
 * Cores that this process may use: its CPU affinity, limited by its control group's quota, set by `docker run
 * --cpus` or systemd's `CPUQuota`, which Node 20 ignores.
 */
export function usableCores(
  groups = GROUPS,
  ownGroups = OWN_GROUPS,
  cores = availableParallelism(),
): number {
  const quotas = groupPaths(textOf(ownGroups)).flatMap((path) => quotaIn(join(groups, path)));
  return Math.max(1, Math.floor(Math.min(cores, ...quotas)));
}

/** Its own group of version 2 and all above it, each of which may set a limit. In a container it is the root. */
function groupPaths(ownGroups: string): readonly string[] {
  const own = /^0::(\/.*)$/m.exec(ownGroups)?.[1] ?? "/";
  const parts = own.split("/").filter((part) => part !== "");
  return [...parts.keys(), parts.length].map((count) => parts.slice(0, count).join("/"));
}

/** In cores; empty if there is no limit, or the system has no such groups. */
function quotaIn(folder: string): readonly number[] {
  const [quota, period] = textOf(join(folder, "cpu.max")).trim().split(" ").map(Number);
  if (quota === undefined || period === undefined) return [];
  return quota > 0 && period > 0 ? [quota / period] : [];
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** A server with more cores needs an explicit setting. */
const UNASKED_MAX = 16;

export interface SharingSettings {
  /** 0: as many as the server has cores for. */
  readonly workers: number;
  readonly httpBackend: BackendChoice;
}

/**
 * How many processes carry calls. Several only if the system distributes the connections of one port. One core is
 * left for the primary with its storage thread.
 */
export async function workerCount(
  { workers, httpBackend }: SharingSettings,
  log: Logger,
  cores = usableCores(),
): Promise<number> {
  const count = workers === 0 ? Math.min(UNASKED_MAX, Math.max(1, cores - 1)) : workers;
  if (count === 1) return 1;
  if (process.platform === "linux" && httpBackend !== "node" && (await uwsLoads())) return count;
  // Without an explicit setting nothing that was promised is missing.
  const level = workers === 0 ? "info" : "warn";
  log[level](
    { workers: count },
    "WORKERS: more than one process needs Linux and uWebSockets.js (Node 20 or 22); one process serves all calls",
  );
  return 1;
}
