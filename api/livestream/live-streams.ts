import type { Logger } from "../../engine/log.js";
import type { CancelTimer, Clock } from "../../engine/time/clock.js";
import type {
  Broadcast,
  PublishOutcome,
  StreamFiles,
  StreamRegistry,
  UnpublishOutcome,
} from "./stream-registry.js";
import type { StreamView } from "./stream-view.js";

/** How late the end of a lease may be noticed. */
const LEASE_CHECK_PERIOD_MS = 1_000;
const START_AGE_MAX_MS = 366 * 24 * 3_600_000;

/** A webhook's data about a live stream. */
export interface Announcement {
  readonly streamKey: string;
  readonly clientIp: string | undefined;
  readonly session: string | undefined;
  /** The ingest's start time; ignored if it is in the future or more than a year ago. */
  readonly startedAtMs: number | undefined;
  /** How long it counts as live without another report; undefined: until it is unpublished. */
  readonly ttlMs: number | undefined;
}

/**
 * One change of the public view, in order. `json` is a stream, or names one; for `viewers` it contains the new
 * numbers by stream key.
 */
export interface StreamChange {
  readonly kind: "added" | "replaced" | "removed" | "viewers";
  readonly json: string;
}

export interface LiveStreamsOptions {
  readonly registry: StreamRegistry;
  readonly view: StreamView;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onChange: (change: StreamChange) => void;
}

/** The live streams, for the webhooks that report them and the public that reads them. */
export class LiveStreams {
  readonly #options: LiveStreamsOptions;
  readonly #jsonByKey = new Map<string, string>();
  readonly #stopChecking: CancelTimer;
  #snapshotJson: string | undefined;
  #listing: Buffer | undefined;

  constructor(options: LiveStreamsOptions) {
    this.#options = options;
    const { clock } = options;
    this.#stopChecking = clock.every(LEASE_CHECK_PERIOD_MS, () => this.#expire());
  }

  get count(): number {
    return this.#options.registry.size;
  }

  get keys(): Iterable<string> {
    return this.#jsonByKey.keys();
  }

  /** The response to GET /streams. It is created again only after a change. */
  get listing(): Buffer {
    this.#listing ??= Buffer.from(`{"success":true,"data":${this.snapshotJson}}`);
    return this.#listing;
  }

  /** The number of live streams, and all of them. */
  get snapshotJson(): string {
    this.#snapshotJson ??= this.#madeSnapshot();
    return this.#snapshotJson;
  }

  /** The public view of a stream; undefined if it is not live. */
  jsonOf(streamKey: string): string | undefined {
    return this.#jsonByKey.get(streamKey);
  }

  publish(announcement: Announcement): PublishOutcome {
    const { registry, log } = this.#options;
    const outcome = registry.publish(this.#broadcastOf(announcement));
    const { streamKey } = announcement;
    if (outcome === "added" || outcome === "replaced")
      log.info({ streamKey, outcome }, "stream is live");
    this.#show(streamKey);
    return outcome;
  }

  unpublish(streamKey: string, session: string | undefined): UnpublishOutcome {
    const { registry, log } = this.#options;
    const outcome = registry.unpublish(streamKey, session);
    if (outcome === "removed") this.#hide(streamKey, "unpublished");
    else log.info({ streamKey, outcome }, "stream was not live, or is live again");
    return outcome;
  }

  /** Undefined until some were counted. */
  viewersOf(streamKey: string): number | undefined {
    return this.#options.registry.get(streamKey)?.viewers;
  }

  /** The number of viewers of each stream that has a count. */
  get viewersByStream(): readonly (readonly [streamKey: string, viewers: number])[] {
    return this.#options.registry
      .inOrder()
      .flatMap(({ streamKey, viewers }) =>
        viewers === undefined ? [] : [[streamKey, viewers] as const],
      );
  }

  isLive(streamKey: string): boolean {
    return this.#jsonByKey.has(streamKey);
  }

  describe(streamKey: string, files: StreamFiles): void {
    this.#options.registry.describe(streamKey, files);
    this.#show(streamKey);
  }

  /** One small event for all of them: whole streams would be sent to every listener at each change of a number. */
  notifyViewers(viewersByStream: ReadonlyMap<string, number>): void {
    const { registry, view, onChange } = this.#options;
    for (const [streamKey, viewers] of viewersByStream) {
      registry.count(streamKey, viewers);
      const stream = registry.get(streamKey);
      if (stream !== undefined) this.#jsonByKey.set(streamKey, view.jsonOf(stream));
    }
    this.#forgetLists();
    onChange({ kind: "viewers", json: JSON.stringify(Object.fromEntries(viewersByStream)) });
  }

  close(): void {
    this.#stopChecking();
  }

  #broadcastOf({ ttlMs, startedAtMs, ...rest }: Announcement): Broadcast {
    const { clock } = this.#options;
    const nowMs = clock.epochMs();
    const isSane =
      startedAtMs !== undefined && startedAtMs <= nowMs && startedAtMs >= nowMs - START_AGE_MAX_MS;
    return {
      ...rest,
      startedAtMs: isSane ? startedAtMs : nowMs,
      leaseEndsMs: ttlMs === undefined ? undefined : clock.monotonicMs() + ttlMs,
    };
  }

  #expire(): void {
    const { registry, clock } = this.#options;
    for (const key of registry.expire(clock.monotonicMs())) this.#hide(key, "lease ended");
  }

  #show(streamKey: string): void {
    const { registry, view, onChange } = this.#options;
    const stream = registry.get(streamKey);
    if (stream === undefined) return;
    const json = view.jsonOf(stream);
    const shown = this.#jsonByKey.get(streamKey);
    if (json === shown) return;
    this.#jsonByKey.set(streamKey, json);
    this.#forgetLists();
    onChange({ kind: shown === undefined ? "added" : "replaced", json });
  }

  #hide(streamKey: string, reason: string): void {
    this.#options.log.info({ streamKey, reason }, "stream is no longer live");
    this.#jsonByKey.delete(streamKey);
    this.#forgetLists();
    const json = JSON.stringify({ streamKey });
    this.#options.onChange({ kind: "removed", json });
  }

  #madeSnapshot(): string {
    const ordered = this.#options.registry.inOrder();
    const streams = ordered.map(({ streamKey }) => this.#jsonByKey.get(streamKey) ?? "");
    return `{"count":${streams.length},"streams":[${streams.join(",")}]}`;
  }

  #forgetLists(): void {
    this.#snapshotJson = undefined;
    this.#listing = undefined;
  }
}
