import type { Dispatcher } from "undici";
import type { CancelTimer, Clock } from "../../time/clock.js";
import { VendorError } from "../contracts.js";
import { type AnswerHeaders, connectionFault } from "../vendor-fault.js";
import type { RequestDispatcher } from "./organization-connections.js";

/** Vendors' explanations are shorter; the rest of a proxy's error page is of no use. */
const ERROR_BODY_MAX_BYTES = 16 * 1024;

/** How long the end of a body may lag behind its last message before its connection is given up. */
const DRAIN_TIMEOUT_MS = 1_000;

export interface StreamLimits {
  /** From the request to the first byte of the response body, including the connection. */
  readonly firstByteMs: number;
  readonly betweenBytesMs: number;
  readonly totalMs: number;
  readonly replyMaxBytes: number;
}

export interface RefusedAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  /** The body's first 16 KiB, at most. */
  readonly body: string;
  readonly nowMs: number;
}

export interface StreamRequest {
  readonly vendor: string;
  readonly dispatcher: RequestDispatcher;
  readonly clock: Clock;
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  readonly limits: StreamLimits;
  /** Turns a status other than 2xx into an error. */
  readonly refuse: (answer: RefusedAnswer) => VendorError;
  /** Checks a 2xx response; an exception ends the request. */
  readonly accept?: (headers: AnswerHeaders, status: number) => void;
}

export interface MethodRequest extends Omit<StreamRequest, "body"> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly body: string | Uint8Array | undefined;
}

/** Posts; otherwise as `requestStream`. */
export function postStream(
  request: StreamRequest,
  onData: (chunk: Buffer) => boolean,
  signal: AbortSignal,
): Promise<void> {
  return requestStream({ ...request, method: "POST" }, onData, signal);
}

/**
 * Passes on the response body as it arrives. Resolves when `onData` returns true (the message is complete, though
 * the body may not be) or when the body ends. After the promise has settled `onData` is not called again.
 */
export function requestStream(
  request: MethodRequest,
  onData: (chunk: Buffer) => boolean,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(new VendorError(request.vendor, "aborted", `${request.vendor}: aborted`));
      return;
    }
    const exchange = new Exchange(request, onData, signal, resolve, reject);
    try {
      request.dispatcher.dispatch(
        {
          origin: request.origin,
          path: request.path,
          method: request.method,
          headers: request.headers,
          body: request.body ?? null,
        },
        exchange,
      );
    } catch (error) {
      exchange.fail(connectionFault(request.vendor, error));
    }
  });
}

/** One request and its response: it settles once, and then keeps nothing and makes no callback. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: MethodRequest;
  readonly #onData: (chunk: Buffer) => boolean;
  readonly #signal: AbortSignal;
  readonly #resolve: () => void;
  readonly #reject: (error: Error) => void;
  readonly #startedMs: number;
  readonly #onAbort = () => this.fail(this.#error("aborted", "aborted"));
  #controller: Dispatcher.DispatchController | undefined;
  #settled: "no" | "done" | "failed" = "no";
  #failure: Error | undefined;
  #refused: { status: number; headers: AnswerHeaders; chunks: Buffer[] } | undefined;
  #lastByteMs: number | undefined;
  #receivedBytes = 0;
  #cancelTimer: CancelTimer;

  constructor(
    request: MethodRequest,
    onData: (chunk: Buffer) => boolean,
    signal: AbortSignal,
    resolve: () => void,
    reject: (error: Error) => void,
  ) {
    this.#request = request;
    this.#onData = onData;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#startedMs = request.clock.monotonicMs();
    this.#cancelTimer = request.clock.after(request.limits.firstByteMs, () => this.#checkTime());
    signal.addEventListener("abort", this.#onAbort);
  }

  fail(error: Error): void {
    if (this.#settled !== "no") return;
    this.#settle("failed");
    this.#failure = error;
    // Destroys the connection: the vendor sees it as a cancellation.
    this.#controller?.abort(error);
    this.#reject(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Aborted while it waited for a connection.
    if (this.#failure !== undefined) controller.abort(this.#failure);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: AnswerHeaders,
  ): void {
    if (status < 200 || this.#settled !== "no") return;
    if (status >= 300) {
      this.#refused = { status, headers, chunks: [] };
      return;
    }
    try {
      this.#request.accept?.(headers, status);
    } catch (error) {
      this.fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled !== "no") return;
    this.#lastByteMs = this.#request.clock.monotonicMs();
    if (this.#receivedBytes === 0) this.#rearm(this.#request.limits.betweenBytesMs);
    this.#receivedBytes += chunk.length;
    if (this.#refused !== undefined) {
      this.#refused.chunks.push(chunk);
      if (this.#receivedBytes >= ERROR_BODY_MAX_BYTES) this.fail(this.#refusal(this.#refused));
      return;
    }
    if (this.#receivedBytes > this.#request.limits.replyMaxBytes) {
      this.fail(this.#error("badAnswer", "the answer is too large"));
      return;
    }
    try {
      if (this.#onData(chunk)) this.#complete();
    } catch (error) {
      this.fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  onResponseEnd(): void {
    this.#cancelTimer();
    if (this.#settled !== "no") return;
    if (this.#refused !== undefined) this.fail(this.#refusal(this.#refused));
    else {
      this.#settle("done");
      this.#resolve();
    }
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#cancelTimer();
    // A received status is more specific than a later disconnect.
    if (this.#refused !== undefined) this.fail(this.#refusal(this.#refused));
    else this.fail(connectionFault(this.#request.vendor, error, this.#controller !== undefined));
  }

  #complete(): void {
    if (this.#settled !== "no") return;
    this.#settle("done");
    this.#cancelTimer = this.#request.clock.after(DRAIN_TIMEOUT_MS, () =>
      this.#controller?.abort(this.#error("timeout", "the body did not end")),
    );
    this.#resolve();
  }

  #settle(how: "done" | "failed"): void {
    this.#settled = how;
    this.#cancelTimer();
    this.#signal.removeEventListener("abort", this.#onAbort);
  }

  /** One lazily renewed timer, because a timer for every chunk would cost more than the chunk. */
  #checkTime(): void {
    const { clock, limits } = this.#request;
    const nowMs = clock.monotonicMs();
    const idleLimitMs = this.#lastByteMs === undefined ? limits.firstByteMs : limits.betweenBytesMs;
    const idleDueMs = (this.#lastByteMs ?? this.#startedMs) + idleLimitMs;
    const dueMs = Math.min(idleDueMs, this.#startedMs + limits.totalMs);
    if (nowMs < dueMs) this.#rearm(dueMs - nowMs);
    else if (this.#refused !== undefined) this.fail(this.#refusal(this.#refused));
    else if (this.#lastByteMs === undefined) this.fail(this.#error("timeout", "no answer in time"));
    else this.fail(this.#error("timeout", "the answer stalled"));
  }

  #rearm(delayMs: number): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#request.clock.after(delayMs, () => this.#checkTime());
  }

  #refusal(refused: { status: number; headers: AnswerHeaders; chunks: Buffer[] }): VendorError {
    const body = Buffer.concat(refused.chunks).subarray(0, ERROR_BODY_MAX_BYTES).toString();
    const nowMs = this.#request.clock.epochMs();
    return this.#request.refuse({ status: refused.status, headers: refused.headers, body, nowMs });
  }

  #error(fault: "aborted" | "badAnswer" | "timeout", message: string): VendorError {
    return new VendorError(this.#request.vendor, fault, `${this.#request.vendor}: ${message}`);
  }
}
