import type { Database } from "../../storage/database.js";
import type { HistoryMessage } from "../../storage/records.js";
import type { Clock } from "../time/clock.js";
import type { PhoneConversation } from "./continuations.js";

/** The contract's life of a conversation that nobody continues. */
const HISTORY_LIFETIME_MS = 24 * 60 * 60 * 1_000;

/** What a session is told of its conversation. */
export interface Conversation {
  readonly key: string;
  readonly messages: readonly HistoryMessage[];
  /** The caller came back by himself, and is not greeted again. */
  readonly resumed: boolean;
}

/** Which conversation a call names, if any: a web client by the key that it got, a telephone call by its own. */
export interface NamedConversation {
  readonly historyKey: string | undefined;
  readonly conversation?: PhoneConversation;
}

/** Conversations outlive their calls, by a day. */
export class Conversations {
  readonly #store: Pick<Database, "history" | "calls">;
  readonly #clock: Clock;
  readonly #newId: () => string;

  constructor(store: Pick<Database, "history" | "calls">, clock: Clock, newId: () => string) {
    this.#store = store;
    this.#clock = clock;
    this.#newId = newId;
  }

  /** A key that is unknown, too old or of another organization begins a new conversation. */
  async load(
    orgId: string,
    { historyKey, conversation }: NamedConversation,
  ): Promise<Conversation> {
    const isFirst = conversation?.before.length === 0;
    const named = historyKey ?? conversation?.historyKey;
    const messages =
      named === undefined || isFirst
        ? undefined
        : await this.#store.history.load(orgId, named, this.#oldestMs);
    if (named !== undefined && messages !== undefined) {
      // Whoever is called back to a telephone call is told why he waited.
      return { key: named, messages, resumed: conversation === undefined };
    }
    const key = conversation?.historyKey ?? this.#newId();
    return { key, messages: [], resumed: false };
  }

  /** The call that this one goes on with, on the telephone: where its server was lost, its slot may still be taken. */
  async callBefore(
    orgId: string,
    { conversation }: Pick<NamedConversation, "conversation">,
  ): Promise<string | undefined> {
    for (const sessionId of conversation?.before ?? []) {
      const call = await this.#store.calls.findBySession(orgId, sessionId);
      if (call !== undefined) return call.id;
    }
    return undefined;
  }

  /** Forgets those that can no longer be continued, and says how many. */
  purge(): Promise<number> {
    return this.#store.history.purge(this.#oldestMs);
  }

  get #oldestMs(): number {
    return this.#clock.epochMs() - HISTORY_LIFETIME_MS;
  }
}
