/** One rendition of a playlist. */
export interface Quality {
  readonly name: string;
  /** In pixels; 0 for an audio-only rendition. */
  readonly width: number;
  readonly height: number;
  /** Maximum bits per second. */
  readonly bandwidth: number;
  /** The path of the rendition's playlist in the stream's folder. */
  readonly path: string;
}

/** An ingest's report of a broadcast that has started or continues. */
export interface Broadcast {
  readonly streamKey: string;
  /** Undefined if the ingest does not know it. */
  readonly clientIp: string | undefined;
  /** The ingest's id of a broadcast, which distinguishes it from a later one under the same key. */
  readonly session: string | undefined;
  /** Used only if the broadcast is new here. */
  readonly startedAtMs: number;
  /** On the monotonic clock; undefined: until it is unpublished. */
  readonly leaseEndsMs: number | undefined;
}

/** The contents of a stream's folder, as far as the public API shows them. */
export interface StreamFiles {
  readonly qualities: readonly Quality[];
  readonly hasThumbnail: boolean;
}

export interface LiveStream extends Broadcast, StreamFiles {
  /** Undefined until viewers were counted. */
  readonly viewers: number | undefined;
}

export type PublishOutcome = "added" | "refreshed" | "replaced" | "full";
export type UnpublishOutcome = "removed" | "unknown" | "otherSession";

const NOTHING_KNOWN = { qualities: [], hasThumbnail: false, viewers: undefined } as const;

/** The live streams. Pure: times are arguments, and no events are published. */
export class StreamRegistry {
  readonly #streamsMax: number;
  readonly #byKey = new Map<string, LiveStream>();

  constructor(streamsMax: number) {
    this.#streamsMax = streamsMax;
  }

  get size(): number {
    return this.#byKey.size;
  }

  get(streamKey: string): LiveStream | undefined {
    return this.#byKey.get(streamKey);
  }

  /** By start time; those of the same millisecond by key. */
  inOrder(): readonly LiveStream[] {
    return [...this.#byKey.values()].sort(
      (one, other) =>
        one.startedAtMs - other.startedAtMs || (one.streamKey < other.streamKey ? -1 : 1),
    );
  }

  /**
   * A live key is refreshed and keeps its start. If both sessions are known and differ, the broadcaster has
   * returned before its end was reported, and the new broadcast replaces the old.
   */
  publish(broadcast: Broadcast): PublishOutcome {
    const { streamKey } = broadcast;
    const known = this.#byKey.get(streamKey);
    if (known === undefined) {
      if (this.#byKey.size >= this.#streamsMax) return "full";
      this.#byKey.set(streamKey, { ...broadcast, ...NOTHING_KNOWN });
      return "added";
    }
    if (areDifferent(known.session, broadcast.session)) {
      this.#byKey.set(streamKey, { ...broadcast, ...NOTHING_KNOWN });
      return "replaced";
    }
    this.#byKey.set(streamKey, {
      ...known,
      ...broadcast,
      clientIp: broadcast.clientIp ?? known.clientIp,
      session: broadcast.session ?? known.session,
      startedAtMs: known.startedAtMs,
    });
    return "refreshed";
  }

  /** A report about an earlier session is too late: another broadcast is live under its key. */
  unpublish(streamKey: string, session: string | undefined): UnpublishOutcome {
    const known = this.#byKey.get(streamKey);
    if (known === undefined) return "unknown";
    if (areDifferent(known.session, session)) return "otherSession";
    this.#byKey.delete(streamKey);
    return "removed";
  }

  /** Does nothing for a key that is not live. */
  describe(streamKey: string, { qualities, hasThumbnail }: StreamFiles): void {
    const known = this.#byKey.get(streamKey);
    if (known !== undefined) this.#byKey.set(streamKey, { ...known, qualities, hasThumbnail });
  }

  /** Does nothing for a key that is not live. */
  count(streamKey: string, viewers: number): void {
    const known = this.#byKey.get(streamKey);
    if (known !== undefined) this.#byKey.set(streamKey, { ...known, viewers });
  }

  /** Removes the streams whose lease has ended, and returns their keys. */
  expire(nowMs: number): readonly string[] {
    const ended: string[] = [];
    for (const { streamKey, leaseEndsMs } of this.#byKey.values()) {
      if (leaseEndsMs !== undefined && leaseEndsMs <= nowMs) ended.push(streamKey);
    }
    for (const streamKey of ended) this.#byKey.delete(streamKey);
    return ended;
  }
}

function areDifferent(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other;
}
