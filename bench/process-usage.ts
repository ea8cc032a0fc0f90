import { readdirSync, readFileSync } from "node:fs";

/** The kernel's unit of CPU time in /proc; 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4_096;
const UTIME_FIELD = 11;
const STIME_FIELD = 12;

/** CPU time of all threads of a process since its start, in ms; steps of 10 ms. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name in brackets may hold spaces; the numbers come behind it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[UTIME_FIELD]) + Number(fields[STIME_FIELD]);
  return (ticks * 1_000) / TICKS_PER_SECOND;
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
