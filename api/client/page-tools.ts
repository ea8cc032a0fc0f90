import { CallError } from "./call-error.js";
import type { ToolUse } from "./call-events.js";
import type { ClientClock } from "./client-clock.js";
import type { Fields, ToolCall } from "./server-message.js";

/**
 * Does what the agent asks for. What it answers, any JSON of at most 16 KiB, is told to the agent's model, and so is the
 * message of what it throws.
 */
export type ToolHandler = (given: Fields) => unknown;

/** As many as the server takes. */
const TOOLS_MAX = 64;
const NAME = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;
const RESULT_MAX_BYTES = 16 * 1024;
const ERROR_CHARACTERS_MAX = 1_000;
/** For the agent, where what was thrown says nothing. */
const NO_WORDS = "it failed";
const HALF_SIGNS = /[\0\p{Cs}]/gu;

type Outcome = { readonly result: unknown } | { readonly error: unknown };

/** What a page does for an agent, by the names of the agent's tools of the type `client`. */
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

  /** Answers how to offer it no longer. Throws a CallError for a name that no tool can have, and for a 65th. */
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

  /** There is a new connection, whose server knows of none of them. */
  connected(): void {
    if (this.#handlers.size > 0) this.#sendList();
  }

  /** Never rejects. `answer` is the way back on the connection that the call came by. */
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

/** Throws a CallError for a name that no tool can have, and for a 65th beside those that are offered. */
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

/** A page may throw anything, such as an object that no text can be made of. */
function wordsOf(error: unknown): string {
  let words = "";
  try {
    words = String(error instanceof Error ? error.message : error);
  } catch {
    return NO_WORDS;
  }
  return words.slice(0, ERROR_CHARACTERS_MAX).replaceAll(HALF_SIGNS, "") || NO_WORDS;
}
