/** A mutant that no test can kill, because nothing that anybody can see differs. */
export interface EquivalentMutant {
  readonly sourcePath: string;
  /** The line of the compiled module, without its indent. */
  readonly code: string;
  readonly original: string;
  readonly replacement: string;
  readonly reason: string;
}
