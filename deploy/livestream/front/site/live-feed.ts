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

/** `polling`: asked for every few seconds, since events do not come through. `down`: neither does. */
export type FeedState = "connecting" | "live" | "polling" | "down";

export interface FeedEvents {
  readonly onStreams: (streams: readonly LiveStream[]) => void;
  readonly onState: (state: FeedState) => void;
}

const EVENTS_URL = "/api/streams/events";
const LIST_URL = "/api/streams";
/** Some tunnels keep events back: a list that has not come by then is asked for. */
const SNAPSHOT_TIMEOUT_MS = 3_000;
const POLL_PERIOD_MS = 3_000;
/** Events that got lost on the way are made up for after so long. */
const COMPARE_PERIOD_MS = 60_000;
const REOPEN_DELAY_MS = 5_000;
const ANSWER_TIMEOUT_MS = 5_000;

/** Follows the list of live streams by server-sent events, and by asking where these do not come through. */
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

  /** Asks again after the page has been asleep. */
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

  /** The browser tries again by itself, except after an answer that is no event stream. */
  #onLost(source: EventSource): void {
    if (this.#source !== source) return;
    this.#poll();
    if (source.readyState !== EventSource.CLOSED) return;
    this.#source = undefined;
    this.#clock.after(REOPEN_DELAY_MS, () => this.#open());
  }

  #poll(): void {
    if (this.#stopPolling !== undefined) return;
    // Until the first answer nobody knows whether the list or only the events are missing.
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
      if (!answer.ok) throw new Error(`the list answered ${answer.status}`);
      const streams = readListAnswer(await answer.json());
      if (this.#stopPolling !== undefined) this.#enter("polling");
      // An event that came meanwhile is newer than this answer.
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
