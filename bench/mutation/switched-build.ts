import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import type { CompiledTree } from "./compiled-tree.js";
import { NO_MUTANT } from "./mutant-number.js";
import type { Mutant } from "./sampled-mutants.js";
import { switchedSource } from "./switched-source.js";

const SWITCH = "bench/mutation/mutant-switch.js";
const STATE = "bench/mutation/mutant-switch.json";
const REACHED = "bench/mutation/mutants-reached.txt";

/** A copy of the build in which each of the mutants can be switched on. They are numbered in their order. */
export class SwitchedBuild {
  readonly folder: string;
  readonly #count: number;

  constructor(tree: CompiledTree, buildFolder: string, folder: string, mutants: readonly Mutant[]) {
    this.folder = folder;
    this.#count = mutants.length;
    rmSync(folder, { recursive: true, force: true });
    cpSync(buildFolder, folder, { recursive: true });
    const byPath = new Map<string, { number: number; change: Mutant["change"] }[]>();
    for (const [number, { path, change }] of mutants.entries()) {
      byPath.set(path, [...(byPath.get(path) ?? []), { number, change }]);
    }
    for (const [path, changes] of byPath) {
      const switchPath = posix.relative(posix.dirname(path), SWITCH);
      writeFileSync(join(folder, path), switchedSource(tree.source(path), changes, switchPath));
    }
    this.switchOn(NO_MUTANT);
  }

  /** For whatever process loads it from now on. With `isTold` all that is reached is written down. */
  switchOn(active: number, isTold = false): void {
    const state = { count: this.#count, active, isTold };
    writeFileSync(join(this.folder, STATE), JSON.stringify(state));
  }

  /** What was reached since the last time, in any process that was told to write it down. */
  takeReached(): ReadonlySet<number> {
    const path = join(this.folder, REACHED);
    let text = "";
    try {
      text = readFileSync(path, "utf8");
    } catch {
      // Nothing has been reached.
    }
    rmSync(path, { force: true });
    return new Set(
      text
        .split("\n")
        .filter((line) => line !== "")
        .map(Number),
    );
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
