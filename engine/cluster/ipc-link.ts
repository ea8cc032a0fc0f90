import { ParleyError, type RequestErrorCode } from "../../storage/parley-error.js";
import { type Fault, errorOf as storeError, toWireError } from "../../storage/statements/fault.js";
import { isRetryable } from "../../storage/statements/storage-error.js";
import type { Logger } from "../log.js";
import { RequestError } from "../request-error.js";
import type { MaybePromise } from "../time/maybe-promise.js";

/** The requests that one side may send to the other, by name: argument and result. */
export type Requests<Table> = {
  readonly [Name in keyof Table]: { readonly asks: unknown; readonly answers: unknown };
};

/** The methods of an interface as requests between processes; each has one argument, or none. */
export type RequestsOf<Methods> = {
  readonly [Name in keyof Methods]: Methods[Name] extends (
    ...args: infer Args extends readonly unknown[]
  ) => infer Answer
    ? {
        readonly asks: Args extends readonly [infer Asks] ? Asks : undefined;
        readonly answers: Awaited<Answer>;
      }
    : never;
};

export type Handlers<Table extends Requests<Table>> = {
  readonly [Name in keyof Table]: (
    asks: Table[Name]["asks"],
  ) => MaybePromise<Table[Name]["answers"]>;
};

interface Question {
  readonly kind: "question";
  /** 0 if no response is expected. */
  readonly id: number;
  readonly name: string;
  readonly asks: unknown;
}

type Answer =
  | { readonly kind: "answer"; readonly id: number; readonly value: unknown }
  | { readonly kind: "failed"; readonly id: number; readonly fault: LinkFault };

interface LinkFault {
  readonly message: string;
  /** The code of a RequestError, which is restored on the other side. */
  readonly failure?: RequestErrorCode;
  /** A fault of the store, which is restored on the other side: the requester may retry. */
  readonly store?: Fault;
}

/** All messages of one turn of the event loop. */
export type IpcMessage = readonly (Question | Answer)[];

/** The other process has ended, or its side is closed. */
export class LinkClosedError extends ParleyError {
  override readonly name = "LinkClosedError";
  readonly code = "process_link_closed";
}

interface Waiter {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** With this many unanswered requests a process counts as frozen; further requests fail immediately. */
const QUESTIONS_WAITING_MAX = 20_000;

/**
 * Resolves when the requester has handled the response: a message that is sent then arrives in a later batch than
 * the response.
 */
export async function answered(given: Promise<unknown> | undefined): Promise<void> {
  if (given === undefined) return;
  await given.catch(() => undefined);
  await new Promise(setImmediate);
}

/** Requests and responses between two processes of one server, in order; both sides run the same build. */
export class Link<Asked extends Requests<Asked>, Served extends Requests<Served>> {
  readonly #post: (message: IpcMessage) => void;
  readonly #handlers: Handlers<Served>;
  readonly #log: Logger;
  readonly #waiting = new Map<number, Waiter>();
  #outbox: (Question | Answer)[] = [];
  #lastId = 0;
  #closed: LinkClosedError | undefined;

  constructor(post: (message: IpcMessage) => void, handlers: Handlers<Served>, log: Logger) {
    this.#post = post;
    this.#handlers = handlers;
    this.#log = log;
  }

  /** Rejects with LinkClosedError when the other side ends first, and with a RequestError where its handler has thrown one. */
  request<Name extends keyof Asked & string>(
    name: Name,
    asks: Asked[Name]["asks"],
  ): Promise<Asked[Name]["answers"]> {
    return new Promise((resolve, reject) => {
      if (this.#closed !== undefined) return reject(this.#closed);
      if (this.#waiting.size >= QUESTIONS_WAITING_MAX) {
        return reject(new RequestError("overloaded", "the server is too busy; try again"));
      }
      this.#lastId += 1;
      this.#waiting.set(this.#lastId, { resolve, reject });
      this.#send({ kind: "question", id: this.#lastId, name, asks });
    });
  }

  /** Sends a message without a response; does nothing if the other side has ended. */
  notify<Name extends keyof Asked & string>(name: Name, asks: Asked[Name]["asks"]): void {
    this.#send({ kind: "question", id: 0, name, asks });
  }

  /** Handles a batch from the other side. */
  receive(message: IpcMessage): void {
    for (const each of message) {
      if (each.kind === "question") void this.#serve(each);
      else this.#settle(each);
    }
  }

  close(reason: string): void {
    if (this.#closed !== undefined) return;
    this.#closed = new LinkClosedError(reason);
    for (const { reject } of this.#waiting.values()) reject(this.#closed);
    this.#waiting.clear();
  }

  async #serve({ id, name, asks }: Question): Promise<void> {
    // Both sides run the same build, so a request's argument has its handler's type.
    const handler: (asks: unknown) => unknown = this.#handlers[name as keyof Served];
    try {
      const given = handler(asks);
      const value = given instanceof Promise ? await given : given;
      if (id !== 0) this.#send({ kind: "answer", id, value });
    } catch (error) {
      if (id !== 0) this.#send({ kind: "failed", id, fault: faultOf(error) });
      else this.#log.error({ error, name }, "failed to handle IPC message");
    }
  }

  #settle(answer: Answer): void {
    const waiter = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (answer.kind === "answer") waiter?.resolve(answer.value);
    else waiter?.reject(errorOf(answer.fault));
  }

  #send(each: Question | Answer): void {
    if (this.#outbox.length === 0) process.nextTick(() => this.#flush());
    this.#outbox.push(each);
  }

  #flush(): void {
    const message = this.#outbox;
    this.#outbox = [];
    if (this.#closed === undefined) this.#post(message);
  }
}

function faultOf(error: unknown): LinkFault {
  const message =
    error instanceof Error ? error.message : "a value that is not an Error was thrown";
  if (isRetryable(error)) return { message, store: toWireError(error) };
  return error instanceof RequestError ? { message, failure: error.code } : { message };
}

function errorOf({ message, failure, store }: LinkFault): Error {
  if (store !== undefined) return storeError(store);
  return failure === undefined ? new Error(message) : new RequestError(failure, message);
}
