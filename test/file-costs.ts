import { appendFileSync, readFileSync } from "node:fs";
import { platform } from "node:os";

/** A tick of the kernel, which counts the times of processes in hundredths of a second on every Linux that Node runs on. */
const MS_PER_TICK = 10;
/** Where `/proc/self/stat` has the user and system time of ended children, counted from behind the name of the program. */
const CHILDREN_USER = 13;
const CHILDREN_SYSTEM = 14;

/** What one test file took, in milliseconds. */
export interface FileCost {
  readonly name: string;
  /** User and system time of this process, with its threads. */
  readonly cpuMs: number;
  /** The part of `cpuMs` that loading the file and what it imports took: less in whichever file comes later. */
  readonly loadMs: number;
  /** User and system time of the processes that the file has started and that have ended. */
  readonly childrenMs: number;
  readonly wallMs: number;
}

interface Reading {
  readonly cpuMs: number;
  readonly childrenMs: number;
  readonly wallMs: number;
}

/** Takes down what each file of a process costs, one file after the other, and adds it to a file of lines of JSON. */
export class CostMeter {
  readonly #path: string;
  #begin = reading();
  #loaded = this.#begin;

  constructor(path: string) {
    this.#path = path;
  }

  begins(): void {
    this.#begin = reading();
    this.#loaded = this.#begin;
  }

  isLoaded(): void {
    this.#loaded = reading();
  }

  ends(name: string): void {
    const end = reading();
    const cost: FileCost = {
      name,
      cpuMs: end.cpuMs - this.#begin.cpuMs,
      loadMs: this.#loaded.cpuMs - this.#begin.cpuMs,
      childrenMs: end.childrenMs - this.#begin.childrenMs,
      wallMs: end.wallMs - this.#begin.wallMs,
    };
    appendFileSync(this.#path, `${JSON.stringify(cost)}\n`);
  }
}

/** The dearest first, and what all of them took together. */
export function costTable(costs: readonly FileCost[], rowsMax: number): string {
  const byCost = [...costs].sort((one, other) => totalMs(other) - totalMs(one));
  const all = { name: `all ${costs.length} files`, ...sum(costs) };
  const rows = [all, ...byCost.slice(0, rowsMax)].map((cost) =>
    [totalMs(cost), cost.cpuMs, cost.loadMs, cost.childrenMs, cost.wallMs]
      .map((ms) => (ms / 1_000).toFixed(2).padStart(9))
      .concat(`  ${cost.name}`)
      .join(""),
  );
  const head = ["CPU s", "here", "loading", "children", "wall s"].map((name) => name.padStart(9));
  return [head.join(""), ...rows].join("\n");
}

/** What a file of `CostMeter` holds. */
export function readCosts(path: string): readonly FileCost[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): FileCost => JSON.parse(line));
}

function totalMs({ cpuMs, childrenMs }: Pick<FileCost, "cpuMs" | "childrenMs">): number {
  return cpuMs + childrenMs;
}

function sum(costs: readonly FileCost[]): Omit<FileCost, "name"> {
  const of = (key: keyof Omit<FileCost, "name">) =>
    costs.reduce((total, cost) => total + cost[key], 0);
  return {
    cpuMs: of("cpuMs"),
    loadMs: of("loadMs"),
    childrenMs: of("childrenMs"),
    wallMs: of("wallMs"),
  };
}

function reading(): Reading {
  const { user, system } = process.cpuUsage();
  return {
    cpuMs: (user + system) / 1_000,
    childrenMs: childrenMs(),
    wallMs: performance.now(),
  };
}

/** Zero where there is no `/proc`. */
function childrenMs(): number {
  if (platform() !== "linux") return 0;
  const stat = readFileSync("/proc/self/stat", "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[CHILDREN_USER]) + Number(fields[CHILDREN_SYSTEM])) * MS_PER_TICK;
}
