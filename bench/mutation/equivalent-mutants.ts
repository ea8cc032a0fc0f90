import type { Mutant } from "./sampled-mutants.js";

/** A mutant that no test can kill, because nothing that anybody can see differs. */
interface EquivalentMutant {
  readonly sourcePath: string;
  /** The line of the compiled module, without its indent. */
  readonly code: string;
  readonly original: string;
  readonly replacement: string;
  readonly reason: string;
}

const EQUIVALENT: readonly EquivalentMutant[] = [];

/** Why a mutant is equivalent; undefined when nobody has judged that it is. */
export function equivalenceOf(mutant: Mutant): string | undefined {
  return EQUIVALENT.find(
    ({ sourcePath, code, original, replacement }) =>
      sourcePath === mutant.sourcePath &&
      code === mutant.code &&
      original === mutant.original &&
      replacement === mutant.change.replacement,
  )?.reason;
}
