import * as v from "valibot";
import type { BusMessages } from "../../storage/nodes/message-bus.js";
import type { CallEvent, CallTopic, PublishedEvent } from "../calls/call-events.js";
import {
  BARGE_IN_ACTIONS,
  BARGE_IN_REASONS,
  CONTINUATIONS,
  END_OF_TURN_REASONS,
} from "../conversation/reasons.js";
import type { Logger } from "../log.js";
import type { CancelTimer, Clock } from "../time/clock.js";
import type { LocalEvents } from "./coordination.js";
import { messageChunks, roomIn } from "./node-bus.js";

/** The channel for subscriptions, received by every node. */
export const WATCHES = "parley watches";
/** The channel on which a node receives subscribed events. */
export const eventChannelOf = (startId: string): string => `parley events ${startId}`;

/** Precedes words of which only the end fits into a message. */
const CUT_MARK = "… ";
/** The share of a too long text that each attempt to make it fit keeps: its size as JSON cannot be predicted. */
const KEPT_SHARE = 0.9;

const Metrics = v.object({
  ttfbMs: v.number(),
  avgLatencyMs: v.number(),
  totalTokens: v.number(),
  ttsChars: v.number(),
  interruptions: v.number(),
  turnCount: v.number(),
});

const transcriptFields = {
  role: v.picklist(["user", "assistant"]),
  text: v.string(),
  isFinal: v.boolean(),
};

/** Another version may run on the other node. */
const Event = v.variant("type", [
  v.object({
    type: v.literal("began"),
    callId: v.string(),
    agentId: v.string(),
    channel: v.picklist(["web", "phone"]),
    startedAtMs: v.number(),
  }),
  v.object({ type: v.literal("words"), callId: v.string(), ...transcriptFields }),
  v.object({
    type: v.literal("present"),
    callId: v.string(),
    words: v.array(v.object(transcriptFields)),
    // Servers of the release before leave it out.
    isMuted: v.optional(v.boolean(), false),
  }),
  v.object({ type: v.literal("muted"), callId: v.string(), isMuted: v.boolean() }),
  v.object({
    type: v.literal("audio"),
    callId: v.string(),
    sampleRateHz: v.number(),
    audio: v.string(),
    isLast: v.boolean(),
  }),
  v.object({
    type: v.literal("bargeIn"),
    callId: v.string(),
    turn: v.number(),
    action: v.picklist(BARGE_IN_ACTIONS),
    reason: v.picklist(BARGE_IN_REASONS),
    atMs: v.number(),
  }),
  v.object({
    type: v.literal("endOfTurn"),
    callId: v.string(),
    turn: v.number(),
    reason: v.picklist(END_OF_TURN_REASONS),
    waitedMs: v.number(),
    waitedFor: v.exactOptional(v.picklist(CONTINUATIONS)),
    language: v.exactOptional(v.string()),
    switchedFrom: v.exactOptional(v.string()),
  }),
  v.object({ type: v.literal("turn"), callId: v.string(), metrics: Metrics }),
  v.object({
    type: v.literal("ended"),
    callId: v.string(),
    status: v.picklist(["completed", "failed"]),
    endReason: v.string(),
  }),
]);

const Json = v.pipe(v.string(), v.parseJson());
/** Events of a topic's calls, in order. */
const EventsMessage = v.pipe(Json, v.object({ topic: v.string(), events: v.array(Event) }));
/** A node subscribes to these topics, for a while. */
const WatchMessage = v.pipe(Json, v.object({ from: v.string(), topics: v.array(v.string()) }));

/** Undefined for a text that is not a valid message. */
export function readEvents(text: string): readonly PublishedEvent[] | undefined {
  const read = v.safeParse(EventsMessage, text);
  if (!read.success) return undefined;
  const { topic, events } = read.output;
  return events.map((event) => ({ topic, event }));
}

/** Undefined for a text that is not a valid message. */
export function readWatches(text: string): v.InferOutput<typeof WatchMessage> | undefined {
  const read = v.safeParse(WatchMessage, text);
  return read.success ? read.output : undefined;
}

/**
 * Splits the events into as few messages as possible. Words that are too long for one are cut to their end; other
 * events of that size are dropped.
 */
export function eventMessages(topic: CallTopic, events: readonly CallEvent[]): readonly string[] {
  const head = JSON.stringify({ topic }).slice(0, -1);
  const fitting = events.flatMap((event) => fittingEvent(event, roomIn(head, "events")) ?? []);
  return messageChunks(head, "events", fitting);
}

/** Splits the topics into as few messages as possible. */
export function watchMessages(from: string, topics: readonly CallTopic[]): readonly string[] {
  const head = JSON.stringify({ from }).slice(0, -1);
  return messageChunks(head, "topics", topics);
}

function fittingEvent(news: CallEvent, bytesMax: number): CallEvent | undefined {
  if (fits(news, bytesMax)) return news;
  if (news.type !== "words") return undefined;
  let kept = news.text.slice(-bytesMax);
  while (!fits(wordsOf(news, kept), bytesMax)) {
    kept = kept.slice(-Math.floor(kept.length * KEPT_SHARE));
  }
  return wordsOf(news, kept);
}

function fits(news: CallEvent, bytesMax: number): boolean {
  return Buffer.byteLength(JSON.stringify(news)) < bytesMax;
}

/** From the first whole word on, since the cut may be inside a word or a character. */
function wordsOf<Words extends CallEvent & { readonly type: "words" }>(news: Words, end: string) {
  return { ...news, text: `${CUT_MARK}${end.slice(end.search(/\s/) + 1)}` };
}

/** A node that has not renewed by then no longer watches, or is gone. */
const LEASE_MS = 25_000;
/** The maximum number of topics watched by all nodes. Pages poll for further topics. */
const LEASED_TOPICS_MAX = 10_000;

/** Which nodes watch which calls, each until its lease ends. */
export class WatchLeases {
  /** When the lease of each node ends, by the node's start id. */
  readonly #ends = new Map<CallTopic, Map<string, number>>();

  /** Whether this node had not watched the topic before; also false if there is no room for it. */
  take(topic: CallTopic, node: string, nowMs: number): boolean {
    const ends = this.#ends.get(topic);
    if (ends !== undefined) {
      const isNew = !ends.has(node);
      ends.set(node, nowMs + LEASE_MS);
      return isNew;
    }
    if (this.#ends.size >= LEASED_TOPICS_MAX) return false;
    this.#ends.set(topic, new Map([[node, nowMs + LEASE_MS]]));
    return true;
  }

  /** The nodes that watch the topic. */
  nodesOf(topic: CallTopic): readonly string[] {
    return [...(this.#ends.get(topic)?.keys() ?? [])];
  }

  /** Drops expired leases; returns the topics that no node watches any more. */
  expire(nowMs: number): readonly CallTopic[] {
    const left: CallTopic[] = [];
    for (const [topic, ends] of this.#ends) {
      for (const [node, endMs] of ends) if (endMs <= nowMs) ends.delete(node);
      if (ends.size > 0) continue;
      this.#ends.delete(topic);
      left.push(topic);
    }
    return left;
  }
}

/** Well within a lease, so that one lost message does no harm. */
const RENEW_MS = 10_000;
/** Events within this time share one message. */
const TOGETHER_MS = 100;
/** Events that wait to be sent: if the database is slow, new ones are dropped. */
const EVENTS_WAITING_MAX = 1_000;
/** Pieces of sound that wait to be sent, of 100 ms at most: some 7 MB. */
const SOUND_WAITING_MAX = 1_000;
/** One organization's: ten seconds of one call, or one second of ten. */
const SOUND_OF_ORGANIZATION_WAITING_MAX = 100;

export interface NodeEventsOptions extends LocalEvents {
  readonly messageBus: Pick<BusMessages, "post" | "postToAll">;
  readonly startId: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Events of calls between the servers of a database, only for topics that are watched at another server. */
export class NodeEvents {
  readonly #options: NodeEventsOptions;
  readonly #leases = new WatchLeases();
  readonly #stopRenewing: CancelTimer;
  /** Topics that were requested from the others since the last renewal. */
  readonly #subscribed = new Set<CallTopic>();
  readonly #events: EventPost;
  /** Sound is much, and the first that can be missed: it takes no room from other events, and delays none. */
  readonly #sound: EventPost;

  constructor(options: NodeEventsOptions) {
    this.#options = options;
    const nodesOf = (topic: CallTopic) => this.#leases.nodesOf(topic);
    this.#events = new EventPost(options, nodesOf, {
      name: "call events",
      waitingMax: EVENTS_WAITING_MAX,
      ofOrganizationMax: EVENTS_WAITING_MAX,
    });
    this.#sound = new EventPost(options, nodesOf, {
      name: "pieces of sound",
      waitingMax: SOUND_WAITING_MAX,
      ofOrganizationMax: SOUND_OF_ORGANIZATION_WAITING_MAX,
    });
    this.#stopRenewing = options.clock.every(RENEW_MS, () => this.#renew());
  }

  /** The channels that this node subscribes to. */
  get channels(): ReadonlyMap<string, (text: string) => void> {
    return new Map([
      [WATCHES, (text: string) => this.#receiveWatches(text)],
      [eventChannelOf(this.#options.startId), (text: string) => this.#receiveEvents(text)],
    ]);
  }

  close(): void {
    this.#stopRenewing();
    this.#events.close();
    this.#sound.close();
  }

  /** A worker of this server subscribes. */
  subscribe(topic: CallTopic): void {
    if (this.#subscribed.has(topic)) return;
    this.#subscribed.add(topic);
    void this.#subscribe([topic]);
  }

  /** Publishes to the nodes that watch the topic, together with events that follow shortly. */
  publish({ topic, event }: PublishedEvent): void {
    if (this.#leases.nodesOf(topic).length === 0) return;
    (event.type === "audio" ? this.#sound : this.#events).add(topic, event);
  }

  #renew(): void {
    const { watchedTopics, onSubscription, clock } = this.#options;
    for (const topic of this.#leases.expire(clock.monotonicMs())) {
      onSubscription({ topic, isWanted: false });
    }
    this.#subscribed.clear();
    const topics = watchedTopics();
    for (const topic of topics) this.#subscribed.add(topic);
    void this.#subscribe(topics);
  }

  /** A failed request is repeated with the next renewal. */
  async #subscribe(topics: readonly CallTopic[]): Promise<void> {
    const { messageBus, startId, log } = this.#options;
    try {
      for (const message of watchMessages(startId, topics)) await messageBus.post(WATCHES, message);
    } catch (error) {
      log.warn({ error }, "failed to subscribe to call events of other servers");
    }
  }

  #receiveWatches(text: string): void {
    const { startId, onSubscription, clock } = this.#options;
    const message = readWatches(text);
    if (message === undefined) return this.#notUnderstood(text);
    const { from, topics } = message;
    if (from === startId) return;
    const nowMs = clock.monotonicMs();
    for (const topic of topics) {
      if (this.#leases.take(topic, from, nowMs)) onSubscription({ topic, isWanted: true });
    }
  }

  #receiveEvents(text: string): void {
    const events = readEvents(text);
    if (events === undefined) return this.#notUnderstood(text);
    for (const published of events) this.#options.onEvent(published);
  }

  #notUnderstood(text: string): void {
    const bytes = text.length;
    this.#options.log.warn({ bytes }, "failed to parse a message of another server about calls");
  }
}

interface WaitingLimits {
  /** In logs. */
  readonly name: string;
  readonly waitingMax: number;
  readonly ofOrganizationMax: number;
}

/** Events that wait for their message to other nodes. */
class EventPost {
  readonly #options: Pick<NodeEventsOptions, "messageBus" | "clock" | "log">;
  readonly #nodesOf: (topic: CallTopic) => readonly string[];
  readonly #limits: WaitingLimits;
  #waiting = new Map<CallTopic, CallEvent[]>();
  #waitingCount = 0;
  #countsByOrganization = new Map<string, number>();
  #droppedCount = 0;
  #cancelPosting: CancelTimer | undefined;
  #isPosting = false;
  #isClosed = false;

  constructor(
    options: Pick<NodeEventsOptions, "messageBus" | "clock" | "log">,
    nodesOf: (topic: CallTopic) => readonly string[],
    limits: WaitingLimits,
  ) {
    this.#options = options;
    this.#nodesOf = nodesOf;
    this.#limits = limits;
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelPosting?.();
  }

  add(topic: CallTopic, event: CallEvent): void {
    const waiting = this.#waiting.get(topic) ?? [];
    if (isPartialOf(waiting.at(-1), event)) waiting.pop();
    else if (!this.#takePlace(topic, event)) {
      this.#droppedCount += 1;
      return;
    }
    waiting.push(event);
    this.#waiting.set(topic, waiting);
    this.#postSoon();
  }

  #takePlace(topic: CallTopic, event: CallEvent): boolean {
    const { waitingMax, ofOrganizationMax } = this.#limits;
    const orgId = organizationOf(topic);
    const ofOrganization = this.#countsByOrganization.get(orgId) ?? 0;
    const hasRoom = this.#waitingCount < waitingMax && ofOrganization < ofOrganizationMax;
    // One for each call: without it those who listen would wait for more sound.
    const isEndOfSound = event.type === "audio" && event.isLast;
    if (!hasRoom && !isEndOfSound) return false;
    this.#waitingCount += 1;
    this.#countsByOrganization.set(orgId, ofOrganization + 1);
    return true;
  }

  #postSoon(): void {
    if (this.#isPosting || this.#isClosed) return;
    this.#cancelPosting ??= this.#options.clock.after(TOGETHER_MS, () => {
      this.#cancelPosting = undefined;
      void this.#postWaiting();
    });
  }

  /** Sends one message after the other, so that they arrive in order; later events go with the next. */
  async #postWaiting(): Promise<void> {
    const { log, messageBus } = this.#options;
    const waiting = this.#waiting;
    this.#waiting = new Map();
    this.#waitingCount = 0;
    this.#countsByOrganization = new Map();
    this.#isPosting = true;
    try {
      for (const [topic, events] of waiting) {
        const channels = this.#nodesOf(topic).map(eventChannelOf);
        if (channels.length === 0) continue;
        for (const message of eventMessages(topic, events))
          await messageBus.postToAll(channels, message);
      }
    } catch (error) {
      log.warn({ error }, "failed to send call events to other servers");
    }
    this.#isPosting = false;
    const count = this.#droppedCount;
    this.#droppedCount = 0;
    const { name } = this.#limits;
    if (count > 0) log.warn({ count }, `dropped ${name} for other servers: too many were waiting`);
    if (this.#waiting.size > 0) this.#postSoon();
  }
}

/** A topic begins with its organization. */
function organizationOf(topic: CallTopic): string {
  return topic.split("/", 1)[0] ?? topic;
}

/** Whether the waiting words are an earlier state of the following ones. */
function isPartialOf(before: CallEvent | undefined, news: CallEvent): boolean {
  if (before?.type !== "words" || news.type !== "words" || before.isFinal) return false;
  return before.callId === news.callId && before.role === news.role;
}
