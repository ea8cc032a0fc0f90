import type { ClientToolAnswer, ClientToolCall } from "../../engine/conversation/caller-channel.js";
import type { ToolResult } from "../contract/caller-message.js";
import { JSON_DEPTH_MAX } from "../http/request/json-body.js";
import { toolCallMessage } from "./voice-message.js";

/** A model has eight under way at most; those of a turn before it are forgotten when that turn is. */
const PENDING_MAX = 16;
/** As much as the model reads of a service's answer: some 4,000 tokens. */
const RESULT_MAX_BYTES = 16 * 1024;

const NOT_OFFERED = "the caller's page does not offer this";
const TOO_MANY = "the caller's page has too much to do";
const TOO_LONG = `what the caller's page answered was longer than ${RESULT_MAX_BYTES} bytes`;
/** To write what is nested without end as JSON would overflow the stack. */
const TOO_DEEP = `what the caller's page answered was nested more than ${JSON_DEPTH_MAX} deep`;

/** What the client of one call does for the agent: which tools it offers, and whose results are waited for. */
export class ClientTools {
  readonly #send: (message: string) => void;
  readonly #waiting = new Map<number, (answer: ClientToolAnswer) => void>();
  #offered: ReadonlySet<string> = new Set();
  #lastId = 0;

  constructor(send: (message: string) => void) {
    this.#send = send;
  }

  /** From now on these, and no others. */
  offer(names: readonly string[]): void {
    this.#offered = new Set(names);
  }

  /** Rejects only when aborted; the client is not told of that, and its answer does no harm. */
  async use(call: ClientToolCall, signal: AbortSignal): Promise<ClientToolAnswer> {
    signal.throwIfAborted();
    if (!this.#offered.has(call.name)) return { error: NOT_OFFERED };
    if (this.#waiting.size >= PENDING_MAX) return { error: TOO_MANY };
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      const abort = () => {
        if (this.#waiting.delete(id)) reject(new Error("nobody waits for the tool any more"));
      };
      signal.addEventListener("abort", abort, { once: true });
      this.#waiting.set(id, (answer) => {
        signal.removeEventListener("abort", abort);
        resolve(answer);
      });
      this.#send(toolCallMessage(id, call));
    });
  }

  /** Answers what is wrong with a result; nothing is with one that comes too late. */
  take({ id, result, error }: ToolResult): string | undefined {
    if (id > this.#lastId) return "id: expected that of a `toolCall`";
    const settle = this.#waiting.get(id);
    if (settle === undefined) return undefined;
    this.#waiting.delete(id);
    if (error !== undefined) settle({ error });
    else if (!isWithin(result, JSON_DEPTH_MAX)) {
      settle({ error: TOO_DEEP });
      return `result: expected JSON nested at most ${JSON_DEPTH_MAX} deep`;
    } else if (sizeBytesOf(result) > RESULT_MAX_BYTES) {
      settle({ error: TOO_LONG });
      return `result: expected at most ${RESULT_MAX_BYTES} bytes of JSON`;
    } else settle({ result });
    return undefined;
  }
}

function isWithin(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((each) => isWithin(each, depth - 1));
}

function sizeBytesOf(result: unknown): number {
  return result === undefined ? 0 : Buffer.byteLength(JSON.stringify(result));
}
