import * as v from "valibot";
import type { BusMessages } from "../../storage/nodes/message-bus.js";
import type { Logger } from "../log.js";
import type { Clock } from "../time/clock.js";
import {
  afterWaiting,
  type BreakerEvent,
  breakerKey,
  PAUSE_MAX_MS,
} from "../vendors/chain/breakers.js";
import { VENDOR_FAULTS } from "../vendors/contracts.js";
import type { LocalBreakers } from "./coordination.js";
import { messageChunks } from "./node-bus.js";

/** The channel on which all nodes receive breaker events. */
export const BREAKERS = "parley breakers";
/** The channel for a node that has requested the others' breakers. */
export const breakersChannelOf = (startId: string): string => `parley breakers ${startId}`;

/** Ids are UUIDs, and vendors are named by their folders. */
const NAME_LENGTH_MAX = 100;
const Name = v.pipe(v.string(), v.maxLength(NAME_LENGTH_MAX));
const Whole = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const DurationMs = v.pipe(v.number(), v.finite(), v.minValue(0));
/** A node is not kept away for longer than its own failures would keep it away. */
const PauseMs = v.pipe(
  DurationMs,
  v.transform((ms) => Math.min(ms, PAUSE_MAX_MS)),
);

const Breaker = v.object({
  id: Name,
  orgId: v.optional(Name),
  version: Whole,
  category: v.picklist(["llm", "tts", "stt"]),
  vendor: Name,
  phase: v.picklist(["closed", "open", "halfOpen"]),
  changeCount: Whole,
  pauseMs: PauseMs,
  leftMs: PauseMs,
  lastFault: v.optional(v.object({ fault: v.picklist(VENDOR_FAULTS), agoMs: DurationMs })),
});

/** Another version may run on the other node. */
const BreakersMessage = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    from: v.string(),
    /** The node has started to listen, and requests the breakers that are not closed. */
    isAsking: v.optional(v.boolean(), false),
    breakers: v.optional(v.array(Breaker), []),
  }),
);

export interface ReadBreakers {
  readonly from: string;
  readonly isAsking: boolean;
  readonly breakers: readonly BreakerEvent[];
}

/** Undefined for a text that is not a valid message. */
export function readBreakers(text: string): ReadBreakers | undefined {
  const read = v.safeParse(BreakersMessage, text);
  if (!read.success) return undefined;
  const { breakers, ...message } = read.output;
  const all = breakers.map((each) => ({ ...each, lastFault: each.lastFault }));
  return { ...message, breakers: all };
}

export function stateRequest(from: string): string {
  return JSON.stringify({ from, isAsking: true });
}

/** Splits the events into as few messages as possible. */
export function breakerMessages(
  from: string,
  breakers: readonly BreakerEvent[],
): readonly string[] {
  return messageChunks(JSON.stringify({ from }).slice(0, -1), "breakers", breakers);
}

/** Credentials whose events wait for the previous message; only the newest event of each is kept. */
const BREAKERS_WAITING_MAX = 1_000;
/**
 * The number of newest events that each server sends to one that starts to listen; it learns of others by failures
 * of its own.
 */
const BREAKERS_SENT_MAX = 200;

export interface NodeBreakersOptions extends LocalBreakers {
  readonly messageBus: Pick<BusMessages, "post">;
  readonly startId: string;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly log: Logger;
}

interface Waiting {
  readonly event: BreakerEvent;
  readonly atMs: number;
}

/**
 * Breaker events between the servers of a database; a server that misses some learns by a failure, or by a probe,
 * of its own.
 */
export class NodeBreakers {
  readonly #options: NodeBreakersOptions;
  readonly #waiting = new Map<string, Waiting>();
  #droppedCount = 0;
  #isPosting = false;

  constructor(options: NodeBreakersOptions) {
    this.#options = options;
  }

  /** The channels that this node subscribes to. */
  get channels(): ReadonlyMap<string, (text: string) => void> {
    const hear = (text: string) => this.#hear(text);
    return new Map([
      [BREAKERS, hear],
      [breakersChannelOf(this.#options.startId), hear],
    ]);
  }

  /** This node starts to listen, or listens again: the others send what it has missed. Never rejects. */
  async requestState(): Promise<void> {
    await this.#post(BREAKERS, [stateRequest(this.#options.startId)]);
  }

  /** Publishes to all others immediately: the first process probes an open breaker, and the others keep away. */
  publish(event: BreakerEvent): void {
    const waiting = this.#waiting;
    const key = breakerKey(event);
    if (!waiting.has(key) && waiting.size >= BREAKERS_WAITING_MAX) this.#droppedCount += 1;
    else waiting.set(key, { event, atMs: this.#options.clock.monotonicMs() });
    if (!this.#isPosting) void this.#postWaiting();
  }

  /** Sends one message after the other, so that they arrive in order; later events go with the next. */
  async #postWaiting(): Promise<void> {
    const { startId, log } = this.#options;
    this.#isPosting = true;
    while (this.#waiting.size > 0) {
      const all = this.#takeWaiting();
      await this.#post(BREAKERS, breakerMessages(startId, all));
    }
    this.#isPosting = false;
    const count = this.#droppedCount;
    this.#droppedCount = 0;
    if (count > 0)
      log.warn({ count }, "dropped breaker events for other servers: too many were waiting");
  }

  #takeWaiting(): readonly BreakerEvent[] {
    const nowMs = this.#options.clock.monotonicMs();
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    return all.map(({ event, atMs }) => afterWaiting(event, nowMs - atMs));
  }

  #hear(text: string): void {
    const { startId, known, onBreakers, log } = this.#options;
    const message = readBreakers(text);
    if (message === undefined) {
      log.warn(
        { bytes: text.length },
        "failed to parse a message of another server about breakers",
      );
      return;
    }
    const { from, isAsking, breakers } = message;
    if (from === startId) return;
    if (breakers.length > 0) onBreakers(breakers);
    if (!isAsking) return;
    const newest = known().slice(-BREAKERS_SENT_MAX);
    void this.#post(breakersChannelOf(from), breakerMessages(startId, newest));
  }

  async #post(channel: string, messages: readonly string[]): Promise<void> {
    const { messageBus, log } = this.#options;
    try {
      for (const message of messages) await messageBus.post(channel, message);
    } catch (error) {
      log.warn({ error }, "failed to send breaker events to the other servers");
    }
  }
}
