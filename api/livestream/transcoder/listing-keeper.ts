import type { Logger } from "../../../engine/log.js";
import type { ListedBroadcast, StateApiClient } from "./state-api-client.js";

const RETRY_MS = 1_000;

/** Keeps one broadcast listed: on-publish, again as a heartbeat, and on-unpublish. */
export class ListingKeeper {
  readonly #broadcast: ListedBroadcast;
  readonly #api: StateApiClient;
  readonly #heartbeatMs: number;
  readonly #log: Logger;
  #isListed = false;
  #isRefused = false;
  #nextMs = 0;
  #isHurried = false;
  #asking: { readonly done: Promise<void>; readonly abort: AbortController } | undefined;

  constructor(broadcast: ListedBroadcast, api: StateApiClient, heartbeatMs: number, log: Logger) {
    this.#broadcast = broadcast;
    this.#api = api;
    this.#heartbeatMs = heartbeatMs;
    this.#log = log;
  }

  get isListed(): boolean {
    return this.#isListed;
  }

  /** Does not wait for the next heartbeat: what the state API reads on disk has changed. */
  hurry(): void {
    this.#isHurried = true;
  }

  /** To be called while there is something to play; asks when it is time to. */
  keep(nowMs: number, rungs: readonly string[]): void {
    if (this.#asking !== undefined || (nowMs < this.#nextMs && !this.#isHurried)) return;
    this.#isHurried = false;
    const abort = new AbortController();
    const done = this.#api.list(this.#broadcast, abort.signal).then((isTaken) => {
      this.#asking = undefined;
      this.#note(isTaken, rungs, nowMs, abort.signal.aborted);
    });
    this.#asking = { done, abort };
  }

  /** Resolves when it is un-listed, or nothing more can be done: its lease ends it then. */
  async withdraw(): Promise<void> {
    const asking = this.#asking;
    if (!this.#isListed && asking === undefined) return;
    this.#isListed = false;
    asking?.abort.abort();
    await asking?.done;
    const { streamKey, session } = this.#broadcast;
    if (!(await this.#api.unlist(streamKey, session))) {
      this.#log.error({ streamKey }, "could not be un-listed: its lease will end it");
    }
  }

  #note(isTaken: boolean, rungs: readonly string[], nowMs: number, isAborted: boolean): void {
    if (isAborted) return;
    const { streamKey } = this.#broadcast;
    if (isTaken) {
      if (!this.#isListed) this.#log.info({ streamKey, rungs: rungs.join(" ") }, "listed");
      this.#isListed = true;
      this.#isRefused = false;
      this.#nextMs = nowMs + this.#heartbeatMs;
    } else {
      if (!this.#isRefused) {
        this.#log.error({ streamKey }, "not taken by the state API: asking every second");
      }
      this.#isRefused = true;
      this.#nextMs = nowMs + RETRY_MS;
    }
  }
}
