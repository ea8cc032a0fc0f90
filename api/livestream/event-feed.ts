import { RequestError } from "../../engine/request-error.js";
import type { CancelTimer, Clock } from "../../engine/time/clock.js";
import type { HeaderLine, StreamedAnswer } from "../http/answer/answer.js";
import { SlowClientError } from "../http/answer/paced-stream.js";
import type { StreamChange } from "./live-streams.js";

/** Changes that happen within it go out together, which keeps a thousand listeners cheap. */
const BATCH_MS = 20;
/** Proxies and browsers take a silent connection for a dead one after a minute or less. */
const HEARTBEAT_PERIOD_MS = 15_000;
/** Changes that may wait for one listener. */
export const LISTENER_BACKLOG_BYTES_MAX = 256 * 1024;
/** How long a browser waits before it connects again, and how long one waits that found no place. */
const RETRY_MS = 2_000;
const FULL_RETRY_SEC = 5;

const COMMENT = ":\n\n";
const CLOSING_JSON = JSON.stringify({ reason: "the service is stopping" });
/** Proxies that collect answers before they pass them on are asked not to. */
const UNBUFFERED: readonly HeaderLine[] = [["x-accel-buffering", "no"]];

export type ListenerEnding = "gone" | "tooSlow" | "stopped";

export interface EventFeedOptions {
  readonly listenersMax: number;
  /** The streams that are live now, with every change that was told. */
  readonly snapshotJson: () => string;
  readonly clock: Clock;
  readonly onEnd: (ending: ListenerEnding) => void;
}

interface Listener {
  readonly write: (text: string) => void;
  /** Ends its answer. */
  readonly release: () => void;
}

/** Tells any number of pages, up to a limit, who goes live and who stops: server-sent events. */
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

  /** Changes are to be told in the order in which they happened. */
  publish({ kind, json }: StreamChange): void {
    if (this.#listeners.size === 0) return;
    if (this.#batch === "") {
      this.#cancelBatch = this.#options.clock.after(BATCH_MS, () => this.#sendBatch());
    }
    this.#eventCount += 1;
    this.#batch += eventText(kind, json, this.#eventCount);
  }

  /** An answer that begins with a snapshot. RequestError `unavailable` when all places are taken. */
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

  /** Listeners are told that the service stops, and their answers end. */
  close(): void {
    this.#stopHeartbeat();
    this.#sendBatch();
    this.#writeAll(eventText("closing", CLOSING_JSON, this.#eventCount));
    for (const { release } of this.#listeners) release();
  }

  /** Resolves when the listener has gone or is released. */
  #serve(write: Listener["write"], signal: AbortSignal): Promise<void> {
    // Those before are told what the snapshot of this one holds already.
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

  /** Who does not read leaves at its write. */
  #writeAll(text: string): void {
    for (const { write } of this.#listeners) write(text);
  }
}

function eventText(name: string, json: string, id: number): string {
  return `event: ${name}\nid: ${id}\ndata: ${json}\n\n`;
}
