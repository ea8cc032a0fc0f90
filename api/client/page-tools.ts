import { CallError } from "./call-error.js";
import type { ToolUse } from "./call-events.js";
import type { ClientClock } from "./client-clock.js";
import type { Fields, ToolCall } from "./server-message.js";

/**
 * Runs a tool for the agent. The result, any JSON of at most 16 KiB, goes to the agent's LLM, and so does the
 * message of an exception.
 */
export type ToolHandler = (given: Fields) => unknown;

/** The server's limit. */
const TOOLS_MAX = 64;
const NAME = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;
const RESULT_MAX_BYTES = 16 * 1024;
const ERROR_CHARACTERS_MAX = 1_000;
/** Sent to the agent if the exception has no message. */
const NO_WORDS = "it failed";
const HALF_SIGNS = /[\0\p{Cs}]/gu;

type Outcome = { readonly result: unknown } | { readonly error: unknown };

/** The page's handlers for the agent's tools of the type `client`, by name. */
export class PageTools {
  readonly #handlers = new Map<string, ToolHandler>();
  readonly #clock: ClientClock;
  readonly #send: (message: string) => void;
  readonly #used: (use: ToolUse) => void;

  /** `send` does nothing while there is no connection. */
  constructor(clock: ClientClock, send: (message: string) => void, used: (use: ToolUse) => void) {
    this.#clock = clock;
    this.#send = send;
    this.#used = used;
  }

  /** Returns a function that removes the handler. Throws a CallError for an invalid tool name, and for a 65th. */
  offer(name: string, handler: ToolHandler): () => void {
    requireTool(name, this.#handlers);
    this.#handlers.set(name, handler);
    this.#sendList();
    return () => {
      if (this.#handlers.get(name) !== handler) return;
      this.#handlers.delete(name);
      this.#sendList();
    };
  }

  /** There is a new connection, whose server does not know the page's tools yet. */
  connected(): void {
    if (this.#handlers.size > 0) this.#sendList();
  }

  /** Never rejects. `answer` responds on the connection that the tool call came from. */
  async use(
    { id, name, arguments: given }: ToolCall,
    answer: (message: string) => void,
  ): Promise<void> {
    const beganAtMs = this.#clock.monotonicMs();
    const outcome = await outcomeOf(this.#handlers.get(name), given);
    const result = "error" in outcome ? { error: wordsOf(outcome.error) } : outcome;
    answer(JSON.stringify({ type: "toolResult", id, ...result }));
    const error = "error" in outcome ? outcome.error : undefined;
    this.#used({ name, ms: this.#clock.monotonicMs() - beganAtMs, error });
  }

  #sendList(): void {
    this.#send(JSON.stringify({ type: "tools", names: [...this.#handlers.keys()] }));
  }
}

/** Throws a CallError for an invalid tool name, and for a 65th in addition to those that are offered. */
export function requireTool(name: string, offered: ReadonlyMap<string, ToolHandler>): void {
  if (!NAME.test(name)) throw new CallError("protocol", `"${name}" is not a valid tool name`);
  if (offered.size >= TOOLS_MAX && !offered.has(name)) {
    throw new CallError("protocol", `a call can have at most ${TOOLS_MAX} tools`);
  }
}

async function outcomeOf(handler: ToolHandler | undefined, given: Fields): Promise<Outcome> {
  try {
    if (handler === undefined) throw new Error("the page no longer offers this tool");
    const result = await handler(given);
    // Throws for a value that is not JSON; undefined for a value without a JSON form, such as a function.
    const text: string | undefined = JSON.stringify(result);
    if (text !== undefined && new TextEncoder().encode(text).length > RESULT_MAX_BYTES) {
      throw new Error(`the result has more than ${RESULT_MAX_BYTES} bytes`);
    }
    return { result };
  } catch (error) {
    return { error: error ?? new Error(NO_WORDS) };
  }
}

/** A page may throw anything, such as an object that cannot be converted to text. */
function wordsOf(error: unknown): string {
  let words = "";
  try {
    words = String(error instanceof Error ? error.message : error);
  } catch {
    return NO_WORDS;
  }
  return words.slice(0, ERROR_CHARACTERS_MAX).replaceAll(HALF_SIGNS, "") || NO_WORDS;
}
