import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { parseSync } from "oxc-parser";

/** A module that is loaded by its path, such as a thread, is written as a text. */
const LOADED_PATH = /["'](\.{1,2}\/[\w./-]+\.js)["']/g;

/** Which compiled modules load which; paths are relative to the folder of the build, with slashes. */
export class CompiledTree {
  readonly paths: readonly string[];
  readonly #folder: string;
  readonly #loads = new Map<string, readonly string[]>();
  readonly #loadedBy = new Map<string, string[]>();
  readonly #hashes = new Map<string, string>();

  /** `places`: folders of the build, and modules that lie in none. Whatever leads from one module to another has to be in them. */
  constructor(folder: string, places: readonly string[]) {
    this.#folder = folder;
    this.paths = places.flatMap((place) => (place.endsWith(".js") ? [place] : this.#within(place)));
    const known = new Set(this.paths);
    for (const path of this.paths) {
      const targets = this.#targetsOf(path).filter((target) => known.has(target));
      this.#loads.set(path, targets);
      for (const target of targets) {
        this.#loadedBy.set(target, [...this.#loadersOf(target), path]);
      }
    }
  }

  #within(place: string): readonly string[] {
    return readdirSync(join(this.#folder, place), { recursive: true, encoding: "utf8" })
      .map((path) => posix.join(place, path.replaceAll("\\", "/")))
      .filter((path) => path.endsWith(".js"));
  }

  source(path: string): string {
    return readFileSync(join(this.#folder, path), "utf8");
  }

  /** The JSON that leads from a compiled module to its source. */
  sourceMap(path: string): string {
    return readFileSync(join(this.#folder, `${path}.map`), "utf8");
  }

  /** How many imports lie between a module and each of those that load it, nearest first. */
  distancesTo(path: string): ReadonlyMap<string, number> {
    const distances = new Map([[path, 0]]);
    for (const [reached, distance] of distances) {
      for (const loader of this.#loadersOf(reached)) {
        if (!distances.has(loader)) distances.set(loader, distance + 1);
      }
    }
    return distances;
  }

  /** Another one when a module, or one that it loads, directly or not, is another, and when Node is. */
  fingerprint(path: string): string {
    const loaded = new Set([path]);
    for (const one of loaded) for (const target of this.#loads.get(one) ?? []) loaded.add(target);
    const hash = createHash("sha256").update(process.version);
    for (const one of [...loaded].sort()) hash.update(`${one} ${this.#hashOf(one)}\n`);
    return hash.digest("hex");
  }

  #hashOf(path: string): string {
    const hash =
      this.#hashes.get(path) ?? createHash("sha256").update(this.source(path)).digest("hex");
    this.#hashes.set(path, hash);
    return hash;
  }

  #loadersOf(path: string): readonly string[] {
    return this.#loadedBy.get(path) ?? [];
  }

  #targetsOf(path: string): readonly string[] {
    const source = this.source(path);
    const { staticImports, staticExports } = parseSync("module.js", source).module;
    const written = [
      ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
      ...staticExports.flatMap(({ entries }) =>
        entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
      ),
      ...[...source.matchAll(LOADED_PATH)].map(([, target = ""]) => target),
    ];
    const isOurs = (target: string) => target.startsWith(".");
    const targets = written.filter(isOurs).map((target) => posix.join(dirname(path), target));
    return [...new Set(targets)];
  }
}
