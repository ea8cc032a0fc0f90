import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** The kernel's unit of CPU time in /proc; 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4_096;
const UTIME_FIELD = 11;
const STIME_FIELD = 12;
/** As /proc/net/tcp tells it. */
const ESTABLISHED = "01";
const INODE_FIELD = 9;

/** CPU time of all threads of a process since its start, in ms; steps of 10 ms. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name in brackets may hold spaces; the numbers come behind it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[UTIME_FIELD]) + Number(fields[STIME_FIELD]);
  return (ticks * 1_000) / TICKS_PER_SECOND;
}

/** The processes that a process has started and that run. */
export function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return text === "" ? [] : text.split(" ").map(Number);
}

/** As `cpuMs`, with the processes that it has started. */
export function cpuWithChildrenMs(pid: number): number {
  return childrenOf(pid).reduce((sum, child) => sum + cpuMs(child), cpuMs(pid));
}

/** As `residentBytes`, with the processes that it has started; what they share counts for each. */
export function residentWithChildrenBytes(pid: number): number {
  return childrenOf(pid).reduce((sum, child) => sum + residentBytes(child), residentBytes(pid));
}

/** Connections that a process has taken on this port and that are open. */
export function connectionCount(pid: number, port: number): number {
  const hexPort = port.toString(16).toUpperCase().padStart(4, "0");
  const inodes = new Set<string>();
  for (const line of readFileSync("/proc/net/tcp", "utf8").split("\n").slice(1)) {
    const fields = line.trim().split(/\s+/);
    const isTaken = fields[1]?.endsWith(`:${hexPort}`) === true && fields[3] === ESTABLISHED;
    if (isTaken) inodes.add(`socket:[${fields[INODE_FIELD] ?? ""}]`);
  }
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => inodes.has(targetOf(pid, fd))).length;
}

/** Empty for one that was closed since it was listed. */
function targetOf(pid: number, fd: string): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`);
  } catch {
    return "";
  }
}

export function residentBytes(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * PAGE_BYTES;
}

/** Open files and sockets. */
export function descriptorCount(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** How often each thread has slept and gone on since it was started, by thread. */
export function wakeUps(pid: number): ReadonlyMap<string, number> {
  const threads = readdirSync(`/proc/${pid}/task`);
  return new Map(
    threads.map((thread) => {
      const status = readFileSync(`/proc/${pid}/task/${thread}/status`, "utf8");
      return [thread, Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(status)?.[1])];
    }),
  );
}
