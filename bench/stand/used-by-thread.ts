import { pidsOf } from "./measured-server.js";
import { type ThreadUsage, threadsOf, usedSince } from "./process-usage.js";
import type { ServerStand } from "./stand.js";

type Look = ReadonlyMap<number, ReadonlyMap<string, ThreadUsage>>;

/** What the threads of a server's processes have used while it was measured. */
export class UsedByThread {
  #before: Look = new Map();
  #after: Look = new Map();
  #beganMs = 0;
  #measuredSec = 0;

  readonly note = (server: ServerStand, isOn: boolean): void => {
    const look = new Map(pidsOf(server).map((pid) => [pid, threadsOf(pid)]));
    if (isOn) {
      this.#before = look;
      this.#beganMs = performance.now();
    } else {
      this.#after = look;
      this.#measuredSec = (performance.now() - this.#beganMs) / 1_000;
    }
  };

  /** The first process is the one that was started; threads that have used nothing are left out. */
  describe(): readonly string[] {
    return Array.from(this.#after, ([pid, threads], index) => {
      const used = usedSince(this.#before.get(pid) ?? new Map(), threads)
        .filter(({ cpuMs }) => cpuMs > 0)
        .toSorted((one, other) => other.cpuMs - one.cpuMs);
      return `  process ${index + 1}: ${used.map((usage) => this.#told(usage)).join("; ")}`;
    });
  }

  #told({ name, cpuMs, wakes, preempted }: ThreadUsage): string {
    const perSecond = (count: number) => Math.round(count / this.#measuredSec);
    return `${name} ${cpuMs} ms, ${perSecond(wakes)} wakes/s, made room ${perSecond(preempted)}/s`;
  }
}
