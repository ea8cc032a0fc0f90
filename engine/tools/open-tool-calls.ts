import { createHash } from "node:crypto";
import * as v from "valibot";
import type { JsonObject, ToolExchange } from "../../storage/records.js";
import { parsedArguments, sortedJson } from "../conversation/toolbox.js";
import { isStartedResult } from "../conversation/tools.js";
import type { Clock } from "../time/clock.js";
import { within } from "../time/deadline.js";

/** As many as run at once; of more, the newest are kept. */
export const OPEN_TOOL_CALLS_MAX = 16;
/** A caller who comes back later than this may want the same thing a second time. */
export const REDONE_MAX_MS = 10 * 60 * 1_000;
/** A request waits for its key to be stored, but no longer than this for a slow store. */
const STORED_MAX_MS = 250;

/** A request to a service whose result is in no reply that the caller has heard. */
export interface OpenToolCall {
  readonly tool: string;
  /** A hash of what the LLM wrote; the same for arguments that mean the same. */
  readonly argumentsHash: string;
  readonly idempotencyKey: string;
  readonly startedAtMs: number;
}

const StoredCall = v.object({
  tool: v.string(),
  argumentsHash: v.string(),
  idempotencyKey: v.string(),
  startedAtMs: v.number(),
});
const Stored = v.object({ openToolCalls: v.fallback(v.array(StoredCall), []) });

/** The open requests that the record of a call names. */
export function openToolCallsIn(metadata: JsonObject): readonly OpenToolCall[] {
  return v.parse(Stored, metadata).openToolCalls.slice(-OPEN_TOOL_CALLS_MAX);
}

/** For the record of a call. */
export function openToolCallsNote(open: readonly OpenToolCall[]): JsonObject {
  return { openToolCalls: open.length > 0 ? open.map((call) => ({ ...call })) : null };
}

export interface OpenToolCallsOptions {
  /** The open requests of the call before, which this one continues. */
  readonly earlier: readonly OpenToolCall[];
  readonly clock: Clock;
  /** Stores them; resolves when that is done or cannot be done. */
  readonly store: (open: readonly OpenToolCall[]) => Promise<unknown>;
}

/** One request and its key. */
export interface KeyedRequest {
  readonly idempotencyKey: string;
  /** The service has answered, or is no longer waited for. */
  readonly end: () => void;
}

/**
 * The requests to services of one call, until a reply with their results was heard. The call that continues it knows
 * nothing of these results: its LLM may ask for the same again, and the service has to see that it is the same.
 */
export class OpenToolCalls {
  readonly #options: OpenToolCallsOptions;
  #earlier: readonly OpenToolCall[];
  #own: readonly OpenToolCall[] = [];
  readonly #running = new Set<OpenToolCall>();

  constructor(options: OpenToolCallsOptions) {
    this.#options = options;
    this.#earlier = options.earlier;
  }

  /** Resolves when the request can be sent: a process that is killed from then on has stored its key. */
  async begin(
    { name: tool, argumentsJson }: Pick<ToolExchange, "name" | "argumentsJson">,
    newKey: string,
  ): Promise<KeyedRequest> {
    const { clock, store } = this.#options;
    const argumentsHash = hashOf(argumentsJson);
    const known = this.#takeEarlier({ tool, argumentsHash });
    const call: OpenToolCall = {
      tool,
      argumentsHash,
      idempotencyKey: known?.idempotencyKey ?? newKey,
      startedAtMs: clock.epochMs(),
    };
    this.#own = [...this.#own, call].slice(-OPEN_TOOL_CALLS_MAX);
    this.#running.add(call);
    await within(clock, STORED_MAX_MS, store(this.#all));
    return { idempotencyKey: call.idempotencyKey, end: () => this.#running.delete(call) };
  }

  /**
   * A reply that has used these results is in the conversation. Returns what is left; undefined if that is the same
   * as before.
   */
  used(exchanges: readonly ToolExchange[]): readonly OpenToolCall[] | undefined {
    const before = this.#own.length;
    for (const { name, argumentsJson, result } of exchanges) {
      if (isStartedResult(result)) continue;
      const argumentsHash = hashOf(argumentsJson);
      const done = this.#own.find(
        (call) => isSame(call, { tool: name, argumentsHash }) && !this.#running.has(call),
      );
      this.#own = this.#own.filter((call) => call !== done);
    }
    return this.#own.length === before ? undefined : this.#all;
  }

  get #all(): readonly OpenToolCall[] {
    return [...this.#earlier, ...this.#own].slice(-OPEN_TOOL_CALLS_MAX);
  }

  /** The newest of the same tool with the same arguments stands for all of them. */
  #takeEarlier(wanted: Pick<OpenToolCall, "tool" | "argumentsHash">): OpenToolCall | undefined {
    const oldestMs = this.#options.clock.epochMs() - REDONE_MAX_MS;
    const recent = this.#earlier.filter(({ startedAtMs }) => startedAtMs >= oldestMs);
    this.#earlier = recent.filter((call) => !isSame(call, wanted));
    return recent.findLast((call) => isSame(call, wanted));
  }
}

function isSame(
  one: Pick<OpenToolCall, "tool" | "argumentsHash">,
  other: Pick<OpenToolCall, "tool" | "argumentsHash">,
): boolean {
  return one.tool === other.tool && one.argumentsHash === other.argumentsHash;
}

function hashOf(argumentsJson: string): string {
  const given = parsedArguments(argumentsJson);
  const text = given === undefined ? argumentsJson : sortedJson(given);
  return createHash("sha256").update(text).digest("base64url");
}
