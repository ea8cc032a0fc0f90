import * as v from "valibot";
import {
  type BusMessages,
  MESSAGE_BYTES_MAX,
  RECORDS_CHANGED,
} from "../../storage/nodes/message-bus.js";
import { MACHINE_DETECTIONS } from "../calls/outbound/placed-calls.js";
import { END_REASONS } from "../conversation/call-end.js";
import { CONTROL_OUTCOMES } from "../conversation/control-command.js";
import type { Logger } from "../log.js";
import { RequestError } from "../request-error.js";
import { StoredCallInfo } from "../telephony/call-info.js";
import type { CancelTimer, Clock } from "../time/clock.js";
import type { LocalServer } from "./coordination.js";

/** Splits the items into as few messages as possible, under `name` after their common beginning. */
export function messageChunks(
  head: string,
  name: string,
  items: readonly unknown[],
): readonly string[] {
  const lists: string[][] = [];
  let bytesLeft = 0;
  for (const item of items) {
    const json = JSON.stringify(item);
    const bytes = Buffer.byteLength(json) + 1;
    if (bytes > bytesLeft) {
      lists.push([]);
      bytesLeft = roomIn(head, name);
    }
    lists.at(-1)?.push(json);
    bytesLeft -= bytes;
  }
  return lists.map((list) => `${head},"${name}":[${list.join()}]}`);
}

/** The bytes left for the list's items and commas. */
export function roomIn(head: string, name: string): number {
  return MESSAGE_BYTES_MAX - Buffer.byteLength(head) - `,"${name}":[]}`.length;
}

/** Identifies a request: the requester and its number. */
export type RequestKey = string | symbol;

export interface RecentAnswersOptions {
  readonly clock: Pick<Clock, "monotonicMs">;
  /** How long the request may be repeated. */
  readonly keptMs: number;
  readonly keptMax: number;
}

interface RecentAnswer<Answer> {
  readonly answer: Answer;
  readonly untilMs: number;
}

/** Responses that may be lost on their way: a repeated request gets the same response, and is executed once. */
export class RecentAnswers<Answer> {
  readonly #options: RecentAnswersOptions;
  /** Oldest first. */
  readonly #answers = new Map<RequestKey, RecentAnswer<Answer>>();

  constructor(options: RecentAnswersOptions) {
    this.#options = options;
  }

  of(asked: RequestKey): Answer | undefined {
    this.#forgetOld();
    return this.#answers.get(asked)?.answer;
  }

  keep(asked: RequestKey, answer: Answer): void {
    const { clock, keptMs, keptMax } = this.#options;
    this.#answers.set(asked, { answer, untilMs: clock.monotonicMs() + keptMs });
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > keptMax && oldest !== undefined) this.#answers.delete(oldest);
  }

  #forgetOld(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const [asked, { untilMs }] of this.#answers) {
      if (untilMs > nowMs) return;
      this.#answers.delete(asked);
    }
  }
}

/** The channel of a node, and the channel of all nodes. */
export const channelOf = (startId: string): string => `parley ${startId}`;
/** The state of the nodes has changed; the text has no content. */
export const ALL_NODES = "parley nodes";

const OutboundClaims = v.object({
  callId: v.string(),
  orgId: v.string(),
  agentId: v.string(),
  // Releases that placed calls only at Twilio omit it.
  vendor: v.optional(v.string(), "twilio"),
  ownAccount: v.exactOptional(v.boolean()),
});
const Ending = v.object({
  reason: v.picklist(END_REASONS),
  status: v.picklist(["completed", "failed"]),
  message: v.string(),
  transferTo: v.exactOptional(v.string()),
  callerId: v.exactOptional(v.string()),
  briefing: v.exactOptional(v.string()),
  neverBlind: v.exactOptional(v.literal(true)),
});

const ControlCommand = v.variant("type", [
  v.object({ type: v.literal("say"), text: v.string(), interrupt: v.boolean() }),
  v.object({ type: v.literal("addContext"), text: v.string() }),
  v.object({ type: v.literal("sendDigits"), digits: v.string() }),
  v.object({ type: v.picklist(["mute", "unmute"]) }),
  v.object({ type: v.literal("transfer"), ending: Ending }),
]);

/** Requests between nodes; another version may run on the other node. */
const NodeAsks = v.variant("name", [
  v.object({ name: v.picklist(["isRinging", "hasCall"]), asks: v.string() }),
  v.object({
    name: v.literal("handOver"),
    asks: v.object({ callId: v.string(), orgId: v.string() }),
  }),
  v.object({
    name: v.literal("report"),
    asks: v.object({
      claims: OutboundClaims,
      report: v.object({
        status: v.string(),
        answeredBy: v.string(),
        callInfo: v.optional(StoredCallInfo),
      }),
    }),
  }),
  v.object({
    name: v.literal("endCall"),
    asks: v.object({ callId: v.string(), ending: Ending }),
  }),
  v.object({
    name: v.literal("controlCall"),
    asks: v.object({ callId: v.string(), command: ControlCommand }),
  }),
]);

/** The response schemas, by request name. */
export const NODE_ANSWERS = {
  isRinging: v.boolean(),
  handOver: v.optional(
    v.object({
      claims: OutboundClaims,
      callRef: v.optional(v.string()),
      callInfo: v.optional(StoredCallInfo),
      answeredBy: v.string(),
      detection: v.optional(v.picklist(MACHINE_DETECTIONS)),
    }),
  ),
  report: v.boolean(),
  endCall: v.boolean(),
  controlCall: v.picklist(CONTROL_OUTCOMES),
  hasCall: v.boolean(),
} as const;

export const RpcMessage = v.variant("kind", [
  v.object({
    kind: v.literal("question"),
    /** Undefined if no response is expected: the previous version sent the end of a call that way. */
    id: v.optional(v.number()),
    from: v.string(),
    question: NodeAsks,
  }),
  v.object({ kind: v.literal("answer"), id: v.number(), value: v.optional(v.unknown()) }),
  v.object({ kind: v.literal("failed"), id: v.number() }),
]);

export type RpcMessageOf = v.InferOutput<typeof RpcMessage>;
export type NodeAsk = v.InferOutput<typeof NodeAsks>;

/** A node that has not answered by then is dead or unreachable. */
const ANSWER_MAX_MS = 2_000;
/**
 * The response has arrived by then, unless it or the request was sent while a side did not listen: the request is
 * repeated.
 */
export const ASKED_AGAIN_MS = 700;
/** A repeated request also takes some time to arrive. */
const ANSWER_KEPT_MS = 2 * ANSWER_MAX_MS;
const RECONNECT_MIN_MS = 200;
const RECONNECT_MAX_MS = 5_000;
/** Requests that wait for their responses, in either direction: some hundred times as many as a busy node has. */
const QUESTIONS_MAX = 1_000;

type Handlers = LocalServer["handlers"];

export interface NodeBusOptions {
  readonly messageBus: BusMessages;
  readonly startId: string;
  readonly handlers: Handlers;
  /** The state of the nodes has changed, or may have changed while notifications were lost. */
  readonly onChange: () => void;
  /** Another server or a command has changed records that this server may have cached. */
  readonly onRecordsChanged: () => void;
  /** This node has started to listen, or listens again after an interruption. */
  readonly onListening?: () => void;
  /** Further channels with their handlers. */
  readonly channels?: ReadonlyMap<string, (text: string) => void>;
  readonly clock: Clock;
  readonly log: Logger;
}

const NO_CHANNELS: ReadonlyMap<string, (text: string) => void> = new Map();

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: RequestError) => void;
  readonly cancelTimers: () => void;
}

type Reply = Exclude<RpcMessageOf, { readonly kind: "question" }>;

/** Requests between nodes, answered by the node that has the call. A lost request is repeated, and executed once. */
export class NodeBus {
  readonly #options: NodeBusOptions;
  readonly #waiting = new Map<number, Waiting>();
  readonly #serving = new Set<RequestKey>();
  readonly #recentAnswers: RecentAnswers<Reply>;
  #lastId = 0;
  #isClosed = false;
  #end: (() => Promise<void>) | undefined;
  #cancelRetry: CancelTimer | undefined;

  constructor(options: NodeBusOptions) {
    this.#options = options;
    const { clock } = options;
    this.#recentAnswers = new RecentAnswers({
      clock,
      keptMs: ANSWER_KEPT_MS,
      keptMax: QUESTIONS_MAX,
    });
  }

  /** Resolves when this node can receive requests. */
  async open(): Promise<void> {
    const { messageBus, startId, channels: further = NO_CHANNELS } = this.#options;
    const channels = [channelOf(startId), ALL_NODES, RECORDS_CHANGED, ...further.keys()];
    const end = await messageBus.listen(channels, {
      onMessages: (channel, text) => this.#hear(channel, text),
      onLost: () => this.#openAgain(RECONNECT_MIN_MS),
    });
    if (this.#isClosed) return end();
    this.#end = end;
    this.#options.onListening?.();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelRetry?.();
    await this.#end?.();
    for (const id of this.#waiting.keys()) this.#fail(id, "this server is stopping");
  }

  #hear(channel: string, text: string): void {
    const { startId, onChange, onRecordsChanged, channels = NO_CHANNELS } = this.#options;
    const hear = channels.get(channel);
    if (hear !== undefined) hear(text);
    else if (channel === ALL_NODES) onChange();
    else if (channel !== RECORDS_CHANGED) this.#receive(text);
    // The node that made the change receives this too.
    else if (text !== startId) onRecordsChanged();
  }

  /** Messages in between are lost: requests are repeated, and rows in the database are read again. */
  #openAgain(waitMs: number): void {
    if (this.#isClosed) return;
    const { clock, log, onChange } = this.#options;
    log.warn({ waitMs }, "lost the connection to the other servers; reconnecting");
    this.#cancelRetry = clock.after(waitMs, () => {
      this.open().then(onChange, () => {
        this.#openAgain(Math.min(2 * waitMs, RECONNECT_MAX_MS));
      });
    });
  }

  /** Rejects with a RequestError `unavailable` if the other node does not answer in time. */
  async request<Answer extends v.GenericSchema>(
    to: string,
    question: NodeAsk,
    answer: Answer,
  ): Promise<v.InferOutput<Answer>> {
    const { startId: from } = this.#options;
    if (this.#waiting.size >= QUESTIONS_MAX)
      throw unavailable("the other servers answer too slowly");
    this.#lastId += 1;
    const id = this.#lastId;
    const message: RpcMessageOf = { kind: "question", id, from, question };
    const answered = this.#answerTo(id, () => this.#post(to, message));
    answered.catch(() => undefined);
    try {
      await this.#post(to, message);
    } catch (error) {
      this.#fail(id, "failed to send a request to another server");
      throw error;
    }
    return v.parse(answer, await answered);
  }

  #answerTo(id: number, askAgain: () => Promise<void>): Promise<unknown> {
    const { clock } = this.#options;
    return new Promise<unknown>((resolve, reject) => {
      const late = () => this.#fail(id, "a request to another server timed out");
      const cancelLate = clock.after(ANSWER_MAX_MS, late);
      // If the database is down for longer, the request soon times out.
      const stopAsking = clock.every(ASKED_AGAIN_MS, () => void askAgain().catch(() => undefined));
      const cancelTimers = () => {
        cancelLate();
        stopAsking();
      };
      this.#waiting.set(id, { resolve, reject, cancelTimers });
    });
  }

  #post(to: string, message: RpcMessageOf): Promise<void> {
    return this.#options.messageBus.post(channelOf(to), JSON.stringify(message));
  }

  #receive(text: string): void {
    const { log } = this.#options;
    const read = v.safeParse(v.pipe(v.string(), v.parseJson(), RpcMessage), text);
    if (!read.success) {
      log.warn({ bytes: text.length }, "failed to parse a message of another server");
      return;
    }
    const message = read.output;
    if (message.kind === "question") void this.#serve(message);
    else if (message.kind === "failed") this.#fail(message.id, "another server could not answer");
    else this.#settle(message.id)?.resolve(message.value);
  }

  async #serve({ id, from, question }: RpcMessageOf & { kind: "question" }): Promise<void> {
    const asked = id === undefined ? Symbol(from) : `${from} ${id}`;
    const given = this.#recentAnswers.of(asked);
    if (given !== undefined) return this.#reply(from, given);
    if (this.#serving.has(asked)) return;
    if (this.#serving.size >= QUESTIONS_MAX) {
      this.#options.log.warn(
        { name: question.name },
        "dropped a request of another server: too many are pending",
      );
      return;
    }
    this.#serving.add(asked);
    const answer = await this.#tryToAnswer(from, question);
    this.#serving.delete(asked);
    if (id === undefined) return;
    const reply: Reply =
      answer === undefined ? { kind: "failed", id } : { kind: "answer", id, value: answer.value };
    this.#recentAnswers.keep(asked, reply);
    await this.#reply(from, reply);
  }

  async #tryToAnswer(
    from: string,
    question: NodeAsk,
  ): Promise<{ readonly value: unknown } | undefined> {
    try {
      return { value: await this.#answer(from, question) };
    } catch (error) {
      const { name } = question;
      this.#options.log.warn({ error, name }, "failed to handle a request of another server");
      return undefined;
    }
  }

  async #reply(to: string, reply: Reply): Promise<void> {
    await this.#post(to, reply).catch((error: unknown) => {
      this.#options.log.warn({ error }, "failed to answer another server");
    });
  }

  async #answer(from: string, question: NodeAsk): Promise<unknown> {
    const { handlers } = this.#options;
    switch (question.name) {
      case "isRinging":
        return handlers.isRinging(question.asks);
      case "handOver":
        return handlers.handOver({ ...question.asks, to: from });
      case "report":
        return handlers.report(question.asks);
      case "endCall":
        return handlers.endCall(question.asks);
      case "controlCall":
        return handlers.controlCall(question.asks);
      case "hasCall":
        return handlers.hasCall(question.asks);
    }
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    waiting?.cancelTimers();
    this.#waiting.delete(id);
    return waiting;
  }

  #fail(id: number, reason: string): void {
    this.#settle(id)?.reject(unavailable(reason));
  }
}

function unavailable(reason: string): RequestError {
  return new RequestError("unavailable", reason);
}
