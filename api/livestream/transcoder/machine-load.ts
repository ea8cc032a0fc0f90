const WINDOW_MS = 4_000;
const SAMPLE_PERIOD_MS = 500;

/** Times of all cores since the machine was started, as in `os.cpus`. */
export interface CoreTimes {
  readonly busyMs: number;
  readonly idleMs: number;
}

interface Sample extends CoreTimes {
  readonly atMs: number;
}

/** The machine's load in the last seconds, including all other programs. */
export class MachineLoad {
  readonly #read: () => CoreTimes;
  #samples: Sample[] = [];

  constructor(read: () => CoreTimes) {
    this.#read = read;
  }

  /** From 0 to 1. */
  busy(nowMs: number): number {
    const last = this.#samples.at(-1);
    if (last === undefined || nowMs - last.atMs >= SAMPLE_PERIOD_MS) {
      this.#samples = this.#samples.filter(({ atMs }) => nowMs - atMs <= WINDOW_MS);
      this.#samples.push({ ...this.#read(), atMs: nowMs });
    }
    const first = this.#samples[0];
    const newest = this.#samples.at(-1);
    if (first === undefined || newest === undefined) return 0;
    const busyMs = newest.busyMs - first.busyMs;
    const idleMs = newest.idleMs - first.idleMs;
    return busyMs + idleMs === 0 ? 0 : busyMs / (busyMs + idleMs);
  }
}
