import { randomFillSync } from "node:crypto";
import type { Duplex } from "node:stream";
import { type Dispatcher, WebSocket } from "undici";
import type { Clock } from "../../time/clock.js";
import { VendorError } from "../contracts.js";
import { type AnswerHeaders, connectionFault } from "../vendor-fault.js";

// By hand, since undici takes twice as long for a frame, of which every call sends up to fifty a second.

/** Mask keys are drawn from the system in lots: a call into it for every frame would cost more than the frame. */
const MASK_POOL_BYTES = 8 * 1024;

const MASK_KEY_BYTES = 4;
/** The header with its key, for any message that is short enough to have kept memory. */
const HEADER_MAX_BYTES = 4 + MASK_KEY_BYTES;

/** Where lengths that do not fit the header's seven bits, or its sixteen, begin (RFC 6455, section 5.2). */
const SHORT_LENGTH_MAX = 125;
const MEDIUM_LENGTH_MAX = 0xffff;

const FINAL_BINARY = 0x82;
const MASKED = 0x80;
const MEDIUM_LENGTH = 126;
const LONG_LENGTH = 127;

const maskPool = Buffer.alloc(MASK_POOL_BYTES);
let maskPoolAt = MASK_POOL_BYTES;

/** The part of a connection that a frame is written to. */
export interface FrameConnection {
  /** Bytes that were written and that the system has not taken. */
  readonly writableLength: number;
  write(frame: Uint8Array): unknown;
}

/** A larger message, of which a call has few, has memory of its own. */
const KEPT_MAX_BYTES = 2 * 1024;

/**
 * Writes the binary messages of one connection, each whole. A frame of 20 ms is made in the memory of the one before it, unless the
 * system has not taken that yet. The memory is the connection's own because TLS takes a frame only after the turn of the event
 * loop: of one memory for all, every frame of every call would need its own; a pool that write callbacks fill was no faster.
 */
export class FrameWriter {
  readonly #connection: FrameConnection;
  #memory: Buffer | undefined;

  constructor(connection: FrameConnection) {
    this.#connection = connection;
  }

  /** The payload may be reused afterwards. */
  write(payload: Uint8Array): void {
    this.#connection.write(binaryFrame(payload, this.#freeMemory(payload.length)));
  }

  #freeMemory(payloadBytes: number): Buffer | undefined {
    const sizeBytes = payloadBytes + HEADER_MAX_BYTES;
    if (this.#connection.writableLength > 0 || sizeBytes > KEPT_MAX_BYTES) return undefined;
    if (this.#memory === undefined || this.#memory.length < sizeBytes) {
      this.#memory = Buffer.allocUnsafeSlow(sizeBytes);
    }
    return this.#memory;
  }
}

/** A whole client-to-server binary message, masked as section 5.3 wants it: in `memory` if it fits, else in its own. */
export function binaryFrame(payload: Uint8Array, memory?: Buffer): Buffer {
  const { length } = payload;
  const keyAt = length <= SHORT_LENGTH_MAX ? 2 : length <= MEDIUM_LENGTH_MAX ? 4 : 10;
  const payloadAt = keyAt + MASK_KEY_BYTES;
  const sizeBytes = payloadAt + length;
  const fits = memory !== undefined && sizeBytes <= memory.length;
  const frame = fits ? memory.subarray(0, sizeBytes) : Buffer.allocUnsafe(sizeBytes);
  frame[0] = FINAL_BINARY;
  if (length <= SHORT_LENGTH_MAX) {
    frame[1] = MASKED | length;
  } else if (length <= MEDIUM_LENGTH_MAX) {
    frame[1] = MASKED | MEDIUM_LENGTH;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = MASKED | LONG_LENGTH;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  const keyFrom = takeMaskKey();
  for (let i = 0; i < MASK_KEY_BYTES; i++) frame[keyAt + i] = maskPool[keyFrom + i] ?? 0;
  for (let i = 0; i < length; i++) {
    frame[payloadAt + i] = (payload[i] ?? 0) ^ (maskPool[keyFrom + (i & 3)] ?? 0);
  }
  return frame;
}

function takeMaskKey(): number {
  if (maskPoolAt === MASK_POOL_BYTES) {
    randomFillSync(maskPool);
    maskPoolAt = 0;
  }
  const from = maskPoolAt;
  maskPoolAt += MASK_KEY_BYTES;
  return from;
}

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
