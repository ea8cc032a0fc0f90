import { RequestError } from "../../engine/request-error.js";
import type { CancelTimer, Clock } from "../../engine/time/clock.js";
import type { HeaderLine, StreamedAnswer } from "../http/answer/answer.js";
import { SlowClientError } from "../http/answer/paced-stream.js";
import type { StreamChange } from "./live-streams.js";

/** Changes within this time are sent together, which keeps a thousand listeners cheap. */
const BATCH_MS = 20;
/** Proxies and browsers close a silent connection after a minute or less. */
const HEARTBEAT_PERIOD_MS = 15_000;
/** The maximum of changes that wait for one listener. */
export const LISTENER_BACKLOG_BYTES_MAX = 256 * 1024;
/** How long a browser waits before it reconnects, also after it found no free place. */
const RETRY_MS = 2_000;
const FULL_RETRY_SEC = 5;

const COMMENT = ":\n\n";
const CLOSING_JSON = JSON.stringify({ reason: "the service is stopping" });
/** Asks proxies not to buffer the response. */
const UNBUFFERED: readonly HeaderLine[] = [["x-accel-buffering", "no"]];

export type ListenerEnding = "gone" | "tooSlow" | "stopped";

export interface EventFeedOptions {
  readonly listenersMax: number;
  /** The current live streams, including every published change. */
  readonly snapshotJson: () => string;
  readonly clock: Clock;
  readonly onEnd: (ending: ListenerEnding) => void;
}

interface Listener {
  readonly write: (text: string) => void;
  /** Ends its response. */
  readonly release: () => void;
}

/** Publishes stream starts and ends to any number of pages, up to a limit: server-sent events. */
export class EventFeed {
  readonly #options: EventFeedOptions;
  readonly #listeners = new Set<Listener>();
  readonly #stopHeartbeat: CancelTimer;
  #batch = "";
  #cancelBatch: CancelTimer = () => undefined;
  #eventCount = 0;

  constructor(options: EventFeedOptions) {
    this.#options = options;
    this.#stopHeartbeat = options.clock.every(HEARTBEAT_PERIOD_MS, () => this.#writeAll(COMMENT));
  }

  get listenerCount(): number {
    return this.#listeners.size;
  }

  /** Publish changes in the order in which they happened. */
  publish({ kind, json }: StreamChange): void {
    if (this.#listeners.size === 0) return;
    if (this.#batch === "") {
      this.#cancelBatch = this.#options.clock.after(BATCH_MS, () => this.#sendBatch());
    }
    this.#eventCount += 1;
    this.#batch += eventText(kind, json, this.#eventCount);
  }

  /** A response that begins with a snapshot. RequestError `unavailable` if all places are taken. */
  answer(): StreamedAnswer {
    const { listenersMax, snapshotJson } = this.#options;
    if (this.#listeners.size >= listenersMax) {
      throw new RequestError("overloaded", "too many event listeners: poll the list instead", {
        retryAfterSec: FULL_RETRY_SEC,
      });
    }
    const backlogBytesMax = Buffer.byteLength(snapshotJson()) + LISTENER_BACKLOG_BYTES_MAX;
    return {
      status: 200,
      contentType: "text/event-stream; charset=utf-8",
      headers: UNBUFFERED,
      pace: { backlogBytesMax, filler: COMMENT },
      produce: (write, signal) => this.#serve(write, signal),
    };
  }

  /** Tells listeners that the service stops, and ends their responses. */
  close(): void {
    this.#stopHeartbeat();
    this.#sendBatch();
    this.#writeAll(eventText("closing", CLOSING_JSON, this.#eventCount));
    for (const { release } of this.#listeners) release();
  }

  /** Resolves when the listener has gone or is released. */
  #serve(write: Listener["write"], signal: AbortSignal): Promise<void> {
    // Earlier listeners get the changes that this listener's snapshot already contains.
    this.#sendBatch();
    return new Promise((resolve) => {
      const leave = (ending: ListenerEnding) => {
        if (!this.#listeners.delete(listener)) return;
        this.#options.onEnd(ending);
        resolve();
      };
      const listener: Listener = { write, release: () => leave("stopped") };
      this.#listeners.add(listener);
      const onGone = () => leave(signal.reason instanceof SlowClientError ? "tooSlow" : "gone");
      signal.addEventListener("abort", onGone, { once: true });
      const snapshot = eventText("snapshot", this.#options.snapshotJson(), this.#eventCount);
      write(`retry: ${RETRY_MS}\n${snapshot}`);
    });
  }

  #sendBatch(): void {
    this.#cancelBatch();
    const batch = this.#batch;
    this.#batch = "";
    if (batch !== "") this.#writeAll(batch);
  }

  /** A listener that does not read is removed at its write. */
  #writeAll(text: string): void {
    for (const { write } of this.#listeners) write(text);
  }
}

function eventText(name: string, json: string, id: number): string {
  return `event: ${name}\nid: ${id}\ndata: ${json}\n\n`;
}
