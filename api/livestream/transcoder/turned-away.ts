import type { Logger } from "../../../engine/log.js";
import type { Clock } from "../../../engine/time/clock.js";
import { LineQuota } from "./line-quota.js";
import type { PublishedStream } from "./published-stream.js";
import type { LadderReport, StateApiClient } from "./state-api-client.js";

const REPORT_PERIOD_MS = 2_000;
/** As many as /health names. */
const REPORTED_MAX = 100;

export interface TurnedAwayParts {
  readonly api: StateApiClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly broadcastsMax: number;
  readonly leaseSec: number;
}

/** Broadcasts beyond what this machine takes at once: told in the log and to the state API until there is room for them, or they go. */
export class TurnedAway {
  readonly #parts: TurnedAwayParts;
  readonly #lines: LineQuota;
  #sessions: ReadonlyMap<string, string> = new Map();
  #reportAtMs = 0;

  constructor(parts: TurnedAwayParts) {
    this.#parts = parts;
    this.#lines = new LineQuota(parts.clock);
  }

  /** `streams` are all that there is no room for now; `isPublished` says whether a session is still there, with room or without. */
  see(streams: readonly PublishedStream[], isPublished: (session: string) => boolean): void {
    const before = this.#sessions;
    this.#sessions = new Map(streams.map(({ streamKey, session }) => [streamKey, session]));
    for (const [streamKey, session] of before) {
      if (!isPublished(session)) this.#report(streamKey, session, "ended");
    }
    const nowMs = this.#parts.clock.monotonicMs();
    const isDue = nowMs >= this.#reportAtMs;
    if (isDue) this.#reportAtMs = nowMs + REPORT_PERIOD_MS;
    for (const { streamKey, session } of streams.slice(0, REPORTED_MAX)) {
      const isNew = before.get(streamKey) !== session;
      if (isNew) this.#tell(streamKey);
      if (isNew || isDue) this.#report(streamKey, session, "refused");
    }
  }

  #tell(streamKey: string): void {
    const { log, broadcastsMax } = this.#parts;
    if (!this.#lines.takes()) return;
    log.error(
      { streamKey, broadcastsMax },
      "a broadcast is refused: this machine takes no more of them (BROADCASTS_MAX)",
    );
  }

  #report(streamKey: string, session: string, state: LadderReport["state"]): void {
    const { api, leaseSec, broadcastsMax } = this.#parts;
    const reason = `this machine takes ${broadcastsMax} broadcasts at once: see BROADCASTS_MAX`;
    const how = { speed: undefined, rungs: [], restarts: 0, leaseSec };
    void api.report({ streamKey, session, state, reason, ...how });
  }
}
