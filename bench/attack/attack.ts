import type { AttackStand } from "./attack-stand.js";
import type { Findings } from "./findings.js";

/** One way to do harm to a server, and what must hold all the same. */
export interface Attack {
  readonly name: string;
  /** What it promises, in one line of the table. */
  readonly promise: string;
  /** Its part of the time of a whole run, in proportion to the others'. */
  readonly weight: number;
  /** What it takes in a sample, roughly; undefined where no sample of it is quick enough. */
  readonly sampleMs: number | undefined;
  /** Tries until the stand has no more time, at least once, and tells all that it saw. */
  run(stand: AttackStand, findings: Findings): Promise<void>;
}
