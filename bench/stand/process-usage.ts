import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** The kernel's unit of CPU time in /proc; 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4_096;
const PARENT_FIELD = 1;
const UTIME_FIELD = 11;
const STIME_FIELD = 12;
/** As /proc/net/tcp tells it. */
const ESTABLISHED = "01";
const LISTENING = "0A";
const INODE_FIELD = 9;

/** CPU time of all threads of a process since its start, in ms; steps of 10 ms. */
export function cpuMs(pid: number): number {
  return usedMs(fieldsOf(readFileSync(`/proc/${pid}/stat`, "utf8")));
}

/** How long the first thread of a process was ready to run while others had its core, since its start; 0 where the kernel does not tell. */
export function waitedForCoreMs(pid: number): number {
  return Number(textOf(`/proc/${pid}/schedstat`).split(" ")[1] ?? 0) / 1e6;
}

/** Undefined where there is no such file any more. */
function statFields(path: string): readonly string[] | undefined {
  const stat = textOf(path);
  return stat === "" ? undefined : fieldsOf(stat);
}

/** The name in brackets may hold spaces; the numbers come behind it. */
function fieldsOf(stat: string): readonly string[] {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function usedMs(fields: readonly string[]): number {
  const ticks = Number(fields[UTIME_FIELD]) + Number(fields[STIME_FIELD]);
  return (ticks * 1_000) / TICKS_PER_SECOND;
}

/** Empty for what has gone meanwhile. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function threadIdsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** The processes that a process has started and that run. */
export function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return text === "" ? [] : text.split(" ").map(Number);
}

/** The processes that a process has started, those that these have started, and so on. */
export function descendantsOf(pid: number): readonly number[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync("/proc")) {
    const fields = /^\d+$/.test(entry) ? statFields(`/proc/${entry}/stat`) : undefined;
    if (fields === undefined) continue;
    const parent = Number(fields[PARENT_FIELD]);
    children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
  }
  const below = (one: number): readonly number[] =>
    (children.get(one) ?? []).flatMap((child) => [child, ...below(child)]);
  return below(pid);
}

export interface ThreadUsage {
  /** At most 15 characters, as the kernel keeps it. */
  readonly name: string;
  readonly cpuMs: number;
  /** How often it slept and went on. */
  readonly wakes: number;
  /** How often it had to make room for another thread. */
  readonly preempted: number;
}

/** What each thread of a process has used since its start, by the thread's id; none of a process that has ended. */
export function threadsOf(pid: number): ReadonlyMap<string, ThreadUsage> {
  const used = new Map<string, ThreadUsage>();
  for (const thread of threadIdsOf(pid)) {
    const path = `/proc/${pid}/task/${thread}`;
    const fields = statFields(`${path}/stat`);
    if (fields !== undefined) {
      const name = textOf(`${path}/comm`).trim();
      used.set(thread, { name, cpuMs: usedMs(fields), ...switchesOf(textOf(`${path}/status`)) });
    }
  }
  return used;
}

function switchesOf(status: string): Pick<ThreadUsage, "wakes" | "preempted"> {
  const count = (line: RegExp) => Number(line.exec(status)?.[1] ?? 0);
  return {
    wakes: count(/^voluntary_ctxt_switches:\s+(\d+)$/m),
    preempted: count(/^nonvoluntary_ctxt_switches:\s+(\d+)$/m),
  };
}

/** What each thread that is there now has used since a look before; all of what one has that is new since. */
export function usedSince<Usage extends ThreadUsage>(
  before: ReadonlyMap<string, Usage>,
  now: ReadonlyMap<string, Usage>,
): readonly Usage[] {
  return Array.from(now, ([id, usage]) => {
    const was = before.get(id);
    return {
      ...usage,
      cpuMs: usage.cpuMs - (was?.cpuMs ?? 0),
      wakes: usage.wakes - (was?.wakes ?? 0),
      preempted: usage.preempted - (was?.preempted ?? 0),
    };
  });
}

/** The words that a process was started with; none of one that has ended. */
export function commandLineOf(pid: number): readonly string[] {
  const text = textOf(`/proc/${pid}/cmdline`);
  return text.split("\0").filter((word) => word !== "");
}

/** Connections that a process has taken on this port and that are open. */
export function connectionCount(pid: number, port: number): number {
  return socketCount(pid, port, ESTABLISHED);
}

export function isBackchannel(pid: number, port: number): boolean {
  return socketCount(pid, port, LISTENING) > 0;
}

function socketCount(pid: number, port: number, state: string): number {
  const hexPort = port.toString(16).toUpperCase().padStart(4, "0");
  const inodes = new Set<string>();
  for (const line of readFileSync("/proc/net/tcp", "utf8").split("\n").slice(1)) {
    const fields = line.trim().split(/\s+/);
    const isTaken = fields[1]?.endsWith(`:${hexPort}`) === true && fields[3] === state;
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
