import { spawn } from "node:child_process";
import { once } from "node:events";
import { loadedAtOnce } from "./loaded-at-once.js";

const SQLITE = import.meta.resolve("../../../../storage/sqlite/sqlite-library.js");

/** Kills its own process with SIGKILL, before the step with the given number. */
const STEPS = `
const steps = JSON.parse(process.argv[2]);
const killBefore = Number(process.argv[1]);
let step = 0;
const count = () => {
  step += 1;
  if (step === killBefore) process.kill(process.pid, "SIGKILL");
};
const counted = (owner, names) => {
  for (const name of names.filter((name) => steps.includes(name))) {
    const original = owner[name];
    owner[name] = function (...input) { count(); return original.apply(this, input); };
  }
};
const promises = require("node:fs/promises");
counted(require("node:worker_threads").Worker.prototype, ["postMessage"]);
counted(promises, Object.keys(promises));
require("node:module").syncBuiltinESMExports();
const { Sqlite } = await import(${JSON.stringify(SQLITE)});
counted(Sqlite.prototype, ["exec", "prepare", "backup"]);
`;

/** More steps than any program of these tests has. */
const STEPS_MAX = 500;

export interface Killing {
  /** The functions that count as a step: names of functions of `node:fs/promises` and of methods of a database. */
  readonly steps: readonly string[];
  /** The distance between two kills, by default 1: each kill costs the start of a process. */
  readonly stride?: number;
  /** The URL of the module under test. */
  readonly moduleUrl: string;
  /** Statements of a program, which may await; `loaded` contains the module's exports. */
  readonly program: string;
  /** Statements that run before the module is loaded. */
  readonly before?: string;
  /** Called after every kill, with the step before which the process was killed. */
  readonly onKilled: (step: number) => Promise<void> | void;
  /** Called before every process. */
  readonly beforeEach: () => Promise<void> | void;
}

/**
 * Runs the program repeatedly, killed one step (or stride) later each time, until it ends by itself. Returns the number
 * of the step after its last one.
 */
export async function killAtEachStep(killing: Killing): Promise<number> {
  const module = await loadedAtOnce(killing.moduleUrl);
  try {
    return await killed(killing, module.url);
  } finally {
    await module.remove();
  }
}

async function killed(killing: Killing, moduleUrl: string): Promise<number> {
  const { program, before = "", steps, stride = 1, onKilled, beforeEach } = killing;
  const loading = `const loaded = await import(${JSON.stringify(moduleUrl)});`;
  const source = `(async () => { ${STEPS} ${before} ${loading} ${program} })()`;
  for (let step = 1; step <= STEPS_MAX; step += stride) {
    await beforeEach();
    const child = spawn(
      process.execPath,
      ["--eval", source, "--", String(step), JSON.stringify(steps)],
      {
        stdio: ["ignore", "inherit", "inherit"],
      },
    );
    const [exitCode, signal] = await once(child, "exit");
    if (exitCode === 0) return step - stride;
    if (signal !== "SIGKILL") throw new Error(`the program failed by itself at step ${step}`);
    await onKilled(step);
  }
  throw new Error(`the program has more than ${STEPS_MAX} steps`);
}
