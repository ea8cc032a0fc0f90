import { OrganizationCounts } from "../organization-counts.js";
import { RequestError } from "../request-error.js";
import type { Clock } from "../time/clock.js";
import {
  audioTopic,
  type CallAudio,
  type CallEvent,
  type CallEventBus,
  type CallTopic,
  callsTopic,
  callTopic,
  type PresentCall,
} from "./call-events.js";
import { TopicSubscribers, type Watch, type Watcher } from "./topic-subscribers.js";

/** In one process. A person has a page or two open; more than this is a client that leaks watches. */
const WATCHERS_PER_ORGANIZATION_MAX = 100;
const WATCHERS_MAX = 1_000;
/** A watcher has to reconnect after this time, with credentials that are still valid. */
const WATCH_MAX_MS = 60_000;
/** Keeps intermediaries from closing the connection, and detects a watcher that is gone. */
const PULSE_MS = 5_000;

/** Events of an organization's calls are batched for this time; the words of one call are not. */
const TOGETHER_MS = 250;

/** Sent only to a watcher of the call itself. */
const OF_ONE_CALL: ReadonlySet<CallEvent["type"]> = new Set([
  "words",
  "bargeIn",
  "endOfTurn",
  "muted",
]);

/** The subject of a watch: one call with its words, or without `callId` all of the organization's without theirs. */
export interface Watched {
  readonly orgId: string;
  readonly callId?: string;
  /** The sound of the call in place of its words. */
  readonly isAudio?: boolean;
  /** In place of `WATCH_MAX_MS`. */
  readonly maxMs?: number;
}

/** Publishes call events to watchers. Without watchers an event costs one check. */
export class CallFeed {
  readonly #clock: Clock;
  readonly #eventBus: CallEventBus | undefined;
  readonly #watched = new Map<CallTopic, TopicSubscribers>();
  /** The calls of this process, each with its words that are in no stored turn yet. */
  readonly #calls = new Map<CallTopic, () => CallEvent>();
  readonly #counts = new OrganizationCounts();
  #count = 0;
  #isClosed = false;

  /** `eventBus`: omitted if no other process has calls and watchers. */
  constructor(clock: Clock, eventBus?: CallEventBus) {
    this.#clock = clock;
    this.#eventBus = eventBus;
    eventBus?.onEvent(({ topic, event }) => this.#watched.get(topic)?.publish(event));
    eventBus?.onSubscribed((topic) => {
      const present = this.#calls.get(topic)?.();
      if (present !== undefined) eventBus.publish({ topic, event: present });
    });
  }

  get watcherCount(): number {
    return this.#count;
  }

  publish(orgId: string, news: CallEvent): void {
    if (!OF_ONE_CALL.has(news.type)) this.#publishOn(callsTopic(orgId), news);
    this.#publishOn(callTopic(orgId, news.callId), news);
  }

  /** Registers a call of this process; `now` returns its state, with its words that are in no stored turn yet. */
  callBegins(orgId: string, callId: string, now: () => PresentCall): void {
    const present = (): CallEvent => ({ type: "present", callId, ...now() });
    this.#calls.set(callTopic(orgId, callId), present);
  }

  /** Whether this process or another one has a watcher of the topic. */
  hasWatchers(topic: CallTopic): boolean {
    return this.#watched.has(topic) || this.#eventBus?.hasSubscribers(topic) === true;
  }

  publishAudio(topic: CallTopic, audio: CallAudio): void {
    this.#publishOn(topic, audio);
  }

  callIsOver(orgId: string, callId: string): void {
    this.#calls.delete(callTopic(orgId, callId));
  }

  /** Throws the RequestError `rate_limited` if the organization has the maximum number of watchers. */
  requireRoom(orgId: string): void {
    if (this.#hasRoom(orgId)) return;
    throw new RequestError(
      "concurrency_limit_reached",
      "too many event streams: close one, or try again later",
      {
        retryAfterSec: WATCH_MAX_MS / 1_000,
      },
    );
  }

  /**
   * Resolves when the signal aborts, after `WATCH_MAX_MS`, or when the server stops; immediately if there is no
   * capacity. A watcher of one call first gets the words that are in no stored turn.
   */
  watch(watched: Watched, watcher: Watcher, signal: AbortSignal): Promise<void> {
    const { orgId, callId, isAudio = false, maxMs = WATCH_MAX_MS } = watched;
    if (this.#isClosed || signal.aborted || !this.#hasRoom(orgId)) return Promise.resolve();
    const topic = topicOf(watched);
    const togetherMs = callId === undefined ? TOGETHER_MS : 0;
    return new Promise((resolve) => {
      const watch: Watch = {
        watcher,
        end: () => {
          stopPulse();
          stopWatch();
          signal.removeEventListener("abort", watch.end);
          this.#remove(topic, watch, orgId);
          resolve();
        },
      };
      const stopPulse = this.#clock.every(PULSE_MS, watcher.pulse);
      const stopWatch = this.#clock.after(maxMs, watch.end);
      signal.addEventListener("abort", watch.end);
      this.#watchersOf(topic, togetherMs).add(watch);
      if (callId !== undefined && isAudio) this.#subscribeToAudio(orgId, callId);
      else if (callId !== undefined) this.#sendCurrent(topic, watcher);
      this.#counts.add(orgId);
      this.#count += 1;
    });
  }

  /** The server stops: ends all watches. */
  close(): void {
    this.#isClosed = true;
    for (const watchers of this.#watched.values()) watchers.endAll();
  }

  #hasRoom(orgId: string): boolean {
    const count = this.#counts.of(orgId);
    return count < WATCHERS_PER_ORGANIZATION_MAX && this.#count < WATCHERS_MAX;
  }

  #publishOn(topic: CallTopic, news: CallEvent): void {
    this.#watched.get(topic)?.publish(news);
    if (this.#eventBus?.hasSubscribers(topic) !== true) return;
    this.#eventBus.publish({ topic, event: news });
  }

  /** Immediately if the call is here; otherwise the words are requested from its process. */
  #sendCurrent(topic: CallTopic, watcher: Watcher): void {
    const present = this.#calls.get(topic);
    if (present !== undefined) watcher.news([present()]);
    else this.#eventBus?.subscribe({ topic, isWanted: true });
  }

  /** Where the call is here, its sound need not come from elsewhere. */
  #subscribeToAudio(orgId: string, callId: string): void {
    if (this.#calls.has(callTopic(orgId, callId))) return;
    this.#eventBus?.subscribe({ topic: audioTopic(orgId, callId), isWanted: true });
  }

  #watchersOf(topic: CallTopic, togetherMs: number): TopicSubscribers {
    const known = this.#watched.get(topic);
    if (known !== undefined) return known;
    const watchers = new TopicSubscribers(this.#clock, togetherMs);
    this.#watched.set(topic, watchers);
    if (togetherMs > 0) this.#eventBus?.subscribe({ topic, isWanted: true });
    return watchers;
  }

  #remove(topic: CallTopic, watch: Watch, orgId: string): void {
    const watchers = this.#watched.get(topic);
    if (watchers?.remove(watch) !== true) return;
    if (watchers.isEmpty) {
      this.#watched.delete(topic);
      this.#eventBus?.subscribe({ topic, isWanted: false });
    }
    this.#counts.remove(orgId);
    this.#count -= 1;
  }
}

function topicOf({ orgId, callId, isAudio = false }: Watched): CallTopic {
  if (callId === undefined) return callsTopic(orgId);
  return isAudio ? audioTopic(orgId, callId) : callTopic(orgId, callId);
}
