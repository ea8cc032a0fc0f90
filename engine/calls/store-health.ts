import type { Database } from "../../storage/database.js";
import type { Logger } from "../log.js";
import type { CancelTimer, Clock } from "../time/clock.js";

/** How soon an idle server notices that its file was deleted or replaced. */
const CHECK_INTERVAL_MS = 2_000;
/**
 * How long the store must have worked before calls are accepted again: a full disk accepts small writes now and
 * then.
 */
const WELL_MS = 4_000;

export interface StoreWatchOptions {
  readonly store: Pick<Database, "checkHealth" | "writeFault">;
  /** The number of writes of calls that wait to be stored. */
  readonly keptCount: () => number;
  /** A small write, which shows that the store works again. */
  readonly tryToWrite: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Knows whether calls can be stored, and logs when that changes. */
export class StoreHealth {
  readonly #options: StoreWatchOptions;
  readonly #stop: CancelTimer;
  #isChecking = false;
  /** Why nothing could be stored at the last check. */
  #seen: string | undefined;
  #illSinceMs: number | undefined;
  #lastIllMs = 0;
  #warning: string | undefined;

  constructor(options: StoreWatchOptions) {
    this.#options = options;
    this.#stop = options.clock.every(CHECK_INTERVAL_MS, () => void this.#check());
  }

  /** Why no call may begin now, in words for a caller; undefined if one may. */
  get refusal(): string | undefined {
    const { store, keptCount } = this.#options;
    const reason = store.writeFault?.reason ?? this.#seen;
    if (reason !== undefined) return reason;
    if (keptCount() > 0) return "turns of other calls are still to be stored";
    return this.#illSinceMs === undefined ? undefined : "the database has only just recovered";
  }

  close(): void {
    this.#stop();
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      const { fault, warning } = await this.#options.store.checkHealth();
      this.#warn(warning);
      this.#seen = fault?.reason;
      if (fault === undefined) return this.#well();
      this.#ill(fault);
      // The next check shows whether the write succeeded.
      await this.#options.tryToWrite().catch(() => undefined);
    } catch {
      // Storage is closed or has died, and another part ends the server.
    } finally {
      this.#isChecking = false;
    }
  }

  #ill({ reason, advice }: { readonly reason: string; readonly advice: string }): void {
    const { clock, log } = this.#options;
    this.#lastIllMs = clock.monotonicMs();
    if (this.#illSinceMs !== undefined) return;
    this.#illSinceMs = this.#lastIllMs;
    log.error({ reason, advice }, "nothing can be stored: the server takes no new calls");
  }

  #well(): void {
    const { clock, log, keptCount } = this.#options;
    if (this.#illSinceMs === undefined) return;
    const nowMs = clock.monotonicMs();
    if (keptCount() > 0) this.#lastIllMs = nowMs;
    if (nowMs - this.#lastIllMs < WELL_MS) return;
    const afterMs = Math.round(nowMs - this.#illSinceMs);
    this.#illSinceMs = undefined;
    log.info({ afterMs }, "everything is stored: the server takes calls again");
  }

  #warn(warning: string | undefined): void {
    if (warning === this.#warning) return;
    this.#warning = warning;
    if (warning !== undefined) this.#options.log.error({ warning }, "the database's lock is lost");
  }
}
