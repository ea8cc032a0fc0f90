/** Between two looks; after a longer pause nobody can tell who was silent in it. */
const PAUSE_MAX_MS = 5_000;

export interface Beating {
  readonly startId: string;
  readonly heartbeatAtMs: number;
}

interface Seen {
  readonly heartbeatAtMs: number;
  readonly sinceMs: number;
}

/**
 * Who has been silent for too long, as seen by one who has looked all the while: where the database was away, or this process
 * stood still, everybody has all of the time again.
 */
export class SilenceWatch {
  readonly #silenceMaxMs: number;
  #seen: ReadonlyMap<string, Seen> = new Map();
  #lookedAtMs: number | undefined;

  constructor(silenceMaxMs: number) {
    this.#silenceMaxMs = silenceMaxMs;
  }

  /** A look has failed. */
  interrupt(): void {
    this.#lookedAtMs = undefined;
  }

  look<Node extends Beating>(nodes: readonly Node[], nowMs: number): readonly Node[] {
    const isUnbroken = this.#lookedAtMs !== undefined && nowMs - this.#lookedAtMs <= PAUSE_MAX_MS;
    const before = isUnbroken ? this.#seen : new Map<string, Seen>();
    this.#lookedAtMs = nowMs;
    this.#seen = new Map(
      nodes.map(({ startId, heartbeatAtMs }) => {
        const seen = before.get(startId);
        const isSilent = seen?.heartbeatAtMs === heartbeatAtMs;
        return [startId, isSilent ? seen : { heartbeatAtMs, sinceMs: nowMs }];
      }),
    );
    return nodes.filter(({ startId }) => {
      const sinceMs = this.#seen.get(startId)?.sinceMs ?? nowMs;
      return nowMs - sinceMs >= this.#silenceMaxMs;
    });
  }
}
