import type { LiveStream } from "./live-stream.js";
import {
  readListAnswer,
  readRemovedKey,
  readSnapshot,
  readStream,
  readViewerCounts,
} from "./live-stream.js";
import type { CancelTimer, PageClock } from "./page-clock.js";
import { StreamBoard } from "./stream-board.js";

/** `polling`: the list is requested every few seconds, since no events arrive. `down`: requests fail, too. */
export type FeedState = "connecting" | "live" | "polling" | "down";

export interface FeedEvents {
  readonly onStreams: (streams: readonly LiveStream[]) => void;
  readonly onState: (state: FeedState) => void;
}

const EVENTS_URL = "/api/streams/events";
const LIST_URL = "/api/streams";
/** Some tunnels hold back events: if no list has arrived by then, it is requested. */
const SNAPSHOT_TIMEOUT_MS = 3_000;
const POLL_PERIOD_MS = 3_000;
/** The list is requested this often to make up for lost events. */
const COMPARE_PERIOD_MS = 60_000;
const REOPEN_DELAY_MS = 5_000;
const ANSWER_TIMEOUT_MS = 5_000;

/** Follows the list of live streams by server-sent events, and by polling if these do not arrive. */
export class LiveFeed {
  readonly #events: FeedEvents;
  readonly #clock: PageClock;
  readonly #board = new StreamBoard();
  #source: EventSource | undefined;
  #state: FeedState = "connecting";
  #isAsking = false;
  #stopPolling: CancelTimer | undefined;

  constructor(events: FeedEvents, clock: PageClock) {
    this.#events = events;
    this.#clock = clock;
  }

  start(): void {
    this.#open();
    this.#clock.every(COMPARE_PERIOD_MS, () => void this.#requestState());
  }

  /** Requests the list again after the page was suspended. */
  refresh(): void {
    void this.#requestState();
  }

  #open(): void {
    const source = new EventSource(EVENTS_URL);
    this.#source = source;
    source.addEventListener("snapshot", (event) => {
      this.#stopPolling?.();
      this.#stopPolling = undefined;
      this.#enter("live");
      this.#change(() => this.#board.reset(readSnapshot(event.data)));
    });
    for (const name of ["added", "replaced"]) {
      source.addEventListener(name, (event: MessageEvent<string>) => {
        const stream = readStream(event.data);
        if (stream !== undefined) this.#change(() => this.#board.put(stream));
      });
    }
    source.addEventListener("removed", (event: MessageEvent<string>) => {
      this.#change(() => this.#board.remove(readRemovedKey(event.data)));
    });
    source.addEventListener("viewers", (event: MessageEvent<string>) => {
      this.#change(() => this.#board.count(readViewerCounts(event.data)));
    });
    source.addEventListener("error", () => this.#onLost(source));
    this.#clock.after(SNAPSHOT_TIMEOUT_MS, () => {
      if (this.#source === source && this.#state !== "live") this.#poll();
    });
  }

  /** The browser reconnects by itself, except after a response that is not an event stream. */
  #onLost(source: EventSource): void {
    if (this.#source !== source) return;
    this.#poll();
    if (source.readyState !== EventSource.CLOSED) return;
    this.#source = undefined;
    this.#clock.after(REOPEN_DELAY_MS, () => this.#open());
  }

  #poll(): void {
    if (this.#stopPolling !== undefined) return;
    // Until the first response it is unknown whether the server or only the events are missing.
    if (this.#state === "live") this.#state = "polling";
    this.#stopPolling = this.#clock.every(POLL_PERIOD_MS, () => void this.#requestState());
    void this.#requestState();
  }

  async #requestState(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const version = this.#board.version;
    try {
      const answer = await fetch(LIST_URL, {
        cache: "no-store",
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      });
      if (!answer.ok) throw new Error(`the stream list responded with status ${answer.status}`);
      const streams = readListAnswer(await answer.json());
      if (this.#stopPolling !== undefined) this.#enter("polling");
      // An event that arrived meanwhile is newer than this response.
      if (version === this.#board.version) this.#change(() => this.#board.reset(streams));
    } catch {
      if (this.#stopPolling !== undefined) this.#enter("down");
    } finally {
      this.#isAsking = false;
    }
  }

  #change(change: () => void): void {
    change();
    this.#events.onStreams(this.#board.all());
  }

  #enter(state: FeedState): void {
    if (this.#state === state && state !== "polling") return;
    this.#state = state;
    this.#events.onState(state);
  }
}
