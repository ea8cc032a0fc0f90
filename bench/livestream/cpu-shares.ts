import {
  commandLineOf,
  descendantsOf,
  type ThreadUsage,
  threadsOf,
  usedSince,
} from "../stand/process-usage.js";

const NAMED_MAX = 8;

/** Whose work it is: the machine that serves has the first alone, and only a benchmark has all of them. */
export const PARTS = ["server", "broadcasters", "viewers", "benchmark"] as const;
export type Part = (typeof PARTS)[number];

export interface CpuShare {
  readonly part: Part;
  /** Cores that it kept busy. */
  readonly cores: number;
  /** What took most of it: programs of the server, threads of the browser. */
  readonly most: readonly { readonly name: string; readonly cores: number }[];
}

interface Usage extends ThreadUsage {
  readonly part: Part;
}
type Look = ReadonlyMap<string, Usage>;

/** Who takes the machine's time while this process measures; all that it has started counts, and what is in none of the two is the browser. */
export class CpuWatch {
  readonly #server: number;
  readonly #broadcasters: readonly number[];
  #before: Look = new Map();
  #beganMs = 0;

  /** By process id, with all that they have started. */
  constructor(server: number, broadcasters: readonly number[]) {
    this.#server = server;
    this.#broadcasters = broadcasters;
  }

  begin(): void {
    this.#before = this.#look();
    this.#beganMs = performance.now();
  }

  /** Since `begin`, without what has ended meanwhile. */
  end(): readonly CpuShare[] {
    const passedMs = performance.now() - this.#beganMs;
    const spent = usedSince(this.#before, this.#look()).map((usage) => ({
      ...usage,
      cores: usage.cpuMs / passedMs,
    }));
    return PARTS.map((part) => shareOf(part, spent));
  }

  #look(): Look {
    const look = new Map<string, Usage>();
    const note = (part: Part, pid: number) => {
      const program = programOf(pid);
      for (const [thread, usage] of threadsOf(pid)) {
        const name = part === "viewers" ? `${program} ${usage.name}` : program;
        look.set(`${pid}/${thread}`, { ...usage, part, name });
      }
    };
    const others = new Set(descendantsOf(process.pid));
    const take = (part: Part, root: number) => {
      for (const pid of [root, ...descendantsOf(root)]) {
        others.delete(pid);
        note(part, pid);
      }
    };
    take("server", this.#server);
    for (const pid of this.#broadcasters) take("broadcasters", pid);
    for (const pid of others) note("viewers", pid);
    note("benchmark", process.pid);
    return look;
  }
}

function shareOf(part: Part, spent: readonly (Usage & { readonly cores: number })[]): CpuShare {
  const coresByName = new Map<string, number>();
  for (const { part: whose, name, cores } of spent) {
    if (whose === part) coresByName.set(name, (coresByName.get(name) ?? 0) + cores);
  }
  const all = Array.from(coresByName, ([name, cores]) => ({ name, cores }));
  return {
    part,
    cores: all.reduce((sum, { cores }) => sum + cores, 0),
    most: all.toSorted((one, other) => other.cores - one.cores).slice(0, NAMED_MAX),
  };
}

/** The kind of a browser's process, the script of a Node process, else the program itself. */
function programOf(pid: number): string {
  const words = commandLineOf(pid).flatMap((word) => word.split(" "));
  const kind = words.find((word) => word.startsWith("--type="));
  const program = words.find((word) => word.endsWith(".js")) ?? words[0] ?? "ended";
  return kind?.slice("--type=".length) ?? program.split("/").at(-1)?.replace(/:$/, "") ?? program;
}
