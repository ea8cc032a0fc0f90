import type { Duplex } from "node:stream";
import { type Dispatcher, WebSocket } from "undici";
import type { Clock } from "../../time/clock.js";
import { VendorError } from "../contracts.js";
import { type AnswerHeaders, connectionFault } from "../vendor-fault.js";
import { FrameWriter } from "./web-socket-frame.js";

/** The refusal's reason is one JSON object; more is not read. */
const REFUSAL_MAX_BYTES = 4 * 1024;

export interface SocketListener {
  onText(text: string): void;
  /** The bytes belong to the callee. */
  onBinary(bytes: Uint8Array): void;
  /** 1006 when the connection broke. Not called after `destroy`. */
  onClosed(code: number, reason: string): void;
}

export interface RefusedUpgrade {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: string;
}

export interface SocketRequest {
  readonly vendor: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  readonly openTimeoutMs: number;
  /** Offering compression costs each socket an inflater, and speech does not shrink. */
  readonly offersCompression: boolean;
  /** An answer other than 101, as the error to fail with. */
  readonly refuse: (answer: RefusedUpgrade) => VendorError;
}

/** An open WebSocket to a vendor. */
export class VendorSocket {
  readonly #webSocket: WebSocket;
  readonly #connection: Duplex;
  readonly #frames: FrameWriter;
  #listener: SocketListener | undefined;

  constructor(webSocket: WebSocket, connection: Duplex) {
    this.#webSocket = webSocket;
    this.#connection = connection;
    this.#frames = new FrameWriter(connection);
    webSocket.addEventListener("message", ({ data }: { readonly data: unknown }) => {
      if (typeof data === "string") this.#listener?.onText(data);
      else if (data instanceof ArrayBuffer) this.#listener?.onBinary(new Uint8Array(data));
    });
    webSocket.addEventListener("close", ({ code, reason }) => {
      this.#listener?.onClosed(code, reason);
    });
  }

  /** One listener at a time; without one, messages are dropped. */
  listen(listener: SocketListener): void {
    this.#listener = listener;
  }

  get isOpen(): boolean {
    return this.#webSocket.readyState === WebSocket.OPEN;
  }

  /** Bytes that were sent but that the system has not taken. */
  get bufferedBytes(): number {
    return this.#connection.writableLength;
  }

  /** Does nothing on a closed socket. */
  sendText(text: string): void {
    this.#webSocket.send(text);
  }

  /**
   * Copies the bytes before it returns; does nothing on a closed socket. The frame is made here because undici takes
   * twice as long, and fifty frames a second are the largest part of what a call costs.
   */
  sendBinary(bytes: Uint8Array): void {
    if (this.isOpen) this.#frames.write(bytes);
  }

  /** Breaks the connection at once; the listener hears nothing more. */
  destroy(): void {
    this.#listener = undefined;
    this.#connection.destroy();
  }
}

/** Resolves when the upgrade is done. Rejects with a VendorError that tells a refusal (by its status) from an outage. */
export function openSocket(request: SocketRequest, signal: AbortSignal): Promise<VendorSocket> {
  const { vendor } = request;
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(new VendorError(vendor, "aborted", `${vendor}: aborted`));
      return;
    }
    const upgrade = new UpgradeWatch(request);
    let webSocket: WebSocket;
    try {
      webSocket = new WebSocket(request.url, {
        headers: request.headers,
        dispatcher: request.dispatcher.compose((dispatch) => upgrade.intercept(dispatch)),
      });
    } catch {
      // The error would carry the address, with what stands in its query.
      reject(new VendorError(vendor, "refused", `${vendor}: invalid request`));
      return;
    }
    webSocket.binaryType = "arraybuffer";
    const settle = (error: VendorError | undefined): void => {
      cancelTimer();
      signal.removeEventListener("abort", onAbort);
      webSocket.removeEventListener("open", onOpen);
      webSocket.removeEventListener("error", onError);
      const { connection } = upgrade;
      if (error === undefined && connection !== undefined) {
        resolve(new VendorSocket(webSocket, connection));
        return;
      }
      // An error event without a listener is no fault here: it is the close of what was given up.
      webSocket.close();
      connection?.destroy();
      reject(error ?? new VendorError(vendor, "badAnswer", `${vendor}: upgraded without a socket`));
    };
    const onOpen = (): void => settle(undefined);
    const onError = (): void => settle(upgrade.failure());
    const onAbort = (): void => settle(new VendorError(vendor, "aborted", `${vendor}: aborted`));
    const cancelTimer = request.clock.after(request.openTimeoutMs, () => {
      settle(new VendorError(vendor, "timeout", `${vendor}: no connection in time`));
    });
    webSocket.addEventListener("open", onOpen);
    webSocket.addEventListener("error", onError);
    signal.addEventListener("abort", onAbort);
  });
}

/**
 * Looks at the upgrade from below, since a WebSocket's own error event names neither the status nor the reason of a
 * refusal. The connection itself is kept for `destroy`, since a WebSocket's close waits for the peer.
 */
class UpgradeWatch {
  connection: Duplex | undefined;
  readonly #request: SocketRequest;
  #refused: { status: number; headers: AnswerHeaders; body: Buffer } | undefined;
  #error: Error | undefined;
  #wasOpen = false;

  constructor(request: SocketRequest) {
    this.#request = request;
  }

  failure(): VendorError {
    if (this.#refused !== undefined) {
      const { status, headers, body } = this.#refused;
      return this.#request.refuse({ status, headers, body: body.toString() });
    }
    return connectionFault(this.#request.vendor, this.#error, this.#wasOpen);
  }

  intercept(dispatch: Dispatcher["dispatch"]): Dispatcher["dispatch"] {
    return (options, handler) => {
      const dispatched = this.#request.offersCompression
        ? options
        : { ...options, headers: withoutExtensions(options.headers ?? null) };
      return dispatch(dispatched, this.#watch(handler));
    };
  }

  #watch(handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
    const fail = (controller: Dispatcher.DispatchController, error: Error): void => {
      handler.onResponseError?.(controller, error);
    };
    return {
      onRequestStart: (controller, context) => {
        this.#wasOpen = true;
        handler.onRequestStart?.(controller, context);
      },
      onRequestUpgrade: (controller, status, headers, socket) => {
        this.connection = socket;
        handler.onRequestUpgrade?.(controller, status, headers, socket);
      },
      // The refusal is read to its end here; the WebSocket would break it off at the status line.
      onResponseStart: (_controller, status, headers) => {
        if (status >= 200) this.#refused = { status, headers, body: Buffer.alloc(0) };
      },
      onResponseData: (controller, chunk) => {
        if (this.#refused === undefined) return;
        this.#refused.body = Buffer.concat([this.#refused.body, chunk]);
        if (this.#refused.body.length >= REFUSAL_MAX_BYTES) controller.abort(new Error("enough"));
      },
      onResponseEnd: (controller) => fail(controller, new Error("the upgrade was refused")),
      onResponseError: (controller, error) => {
        this.#error = error;
        fail(controller, error);
      },
    };
  }
}

type RequestHeaders = NonNullable<Dispatcher.DispatchOptions["headers"]> | null;

function withoutExtensions(headers: RequestHeaders): RequestHeaders {
  if (headers === null || Array.isArray(headers)) return headers;
  if (Symbol.iterator in headers) return headers;
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.toLowerCase() !== "sec-websocket-extensions"),
  );
}
