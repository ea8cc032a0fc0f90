import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { Duplex } from "node:stream";
import type { buildConnector } from "undici";
import { WebSocket } from "ws";
import type { Clock } from "../../time/clock.js";
import { VendorError } from "../contracts.js";
import { type AnswerHeaders, connectionFault } from "../vendor-fault.js";

/** The largest message that a vendor has reason to send; a larger one closes the socket. */
const MESSAGE_MAX_BYTES = 1024 * 1024;

/** A vendor may send messages in the packet of the upgrade, before a listener is set; more than this are dropped. */
const EARLY_MESSAGES_MAX = 16;

/** The refusal's reason is one JSON object; no more is read. */
const REFUSAL_MAX_BYTES = 4 * 1024;

export interface SocketListener {
  onText(text: string): void;
  /** The callee owns the bytes. */
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
  /** Opens the connection below the WebSocket, with the TLS sessions, lookups and limits that apply to the request. */
  readonly connect: buildConnector.connector;
  readonly clock: Clock;
  readonly openTimeoutMs: number;
  /** Offering compression costs each socket an inflater, and speech does not shrink. */
  readonly offersCompression: boolean;
  /** Converts a response other than 101 to the error to fail with. */
  readonly refuse: (answer: RefusedUpgrade) => VendorError;
}

/** An open WebSocket to a vendor. */
export class VendorSocket {
  readonly #webSocket: WebSocket;
  /** Messages that arrived before a listener was set; undefined once they are delivered. */
  #early: ((listener: SocketListener) => void)[] | undefined = [];
  #listener: SocketListener | undefined;

  constructor(webSocket: WebSocket) {
    this.#webSocket = webSocket;
    webSocket.on("message", (data: unknown, isBinary: boolean) => {
      const deliver = (listener: SocketListener) => {
        if (!isBinary) listener.onText(String(data));
        else if (data instanceof ArrayBuffer) listener.onBinary(new Uint8Array(data));
      };
      if (this.#early === undefined) {
        if (this.#listener !== undefined) deliver(this.#listener);
      } else if (this.#early.length < EARLY_MESSAGES_MAX) this.#early.push(deliver);
    });
    webSocket.on("close", (code, reason) => {
      this.#listener?.onClosed(code, reason.toString());
    });
  }

  /** One listener at a time; messages that arrived before the first are delivered to it after this call. */
  listen(listener: SocketListener): void {
    this.#listener = listener;
    if (this.#early !== undefined) queueMicrotask(() => this.#deliverEarly());
  }

  #deliverEarly(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const deliver of early) {
      // A message may end the conversation that the next one belongs to.
      if (this.#listener !== undefined) deliver(this.#listener);
    }
  }

  get isOpen(): boolean {
    return this.#webSocket.readyState === WebSocket.OPEN;
  }

  /** Bytes that were sent but are not yet accepted by the system. */
  get bufferedBytes(): number {
    return this.#webSocket.bufferedAmount;
  }

  /** Does nothing on a closed socket. */
  sendText(text: string): void {
    if (this.isOpen) this.#webSocket.send(text);
  }

  /** Copies the bytes before it returns; does nothing on a closed socket. */
  sendBinary(bytes: Uint8Array): void {
    if (this.isOpen) this.#webSocket.send(bytes);
  }

  /** Destroys the connection immediately; the listener is not called again. */
  destroy(): void {
    this.#listener = undefined;
    this.#webSocket.terminate();
  }
}

/**
 * Resolves when the upgrade is done. Rejects with a VendorError that distinguishes a refusal (by its status) from
 * an outage.
 */
export function openSocket(request: SocketRequest, signal: AbortSignal): Promise<VendorSocket> {
  const { vendor } = request;
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(new VendorError(vendor, "aborted", `${vendor}: aborted`));
      return;
    }
    let wasConnected = false;
    const connect: buildConnector.connector = (options, callback) => {
      request.connect(options, (...outcome) => {
        wasConnected = outcome[0] === null;
        callback(...outcome);
      });
    };
    let webSocket: WebSocket;
    try {
      webSocket = new WebSocket(request.url, {
        headers: request.headers,
        agent: agentFor(request.url, connect),
        perMessageDeflate: request.offersCompression,
        maxPayload: MESSAGE_MAX_BYTES,
      });
    } catch {
      // The error would contain the address, including its query.
      reject(new VendorError(vendor, "refused", `${vendor}: invalid request`));
      return;
    }
    webSocket.binaryType = "arraybuffer";
    const settle = (error: VendorError | undefined): void => {
      cancelTimer();
      signal.removeEventListener("abort", onAbort);
      webSocket.removeAllListeners();
      // An error is followed by a close, which the listener gets; without this handler it would be thrown.
      webSocket.on("error", () => undefined);
      if (error === undefined) {
        resolve(new VendorSocket(webSocket));
        return;
      }
      webSocket.terminate();
      reject(error);
    };
    const onAbort = (): void => settle(new VendorError(vendor, "aborted", `${vendor}: aborted`));
    const cancelTimer = request.clock.after(request.openTimeoutMs, () => {
      settle(new VendorError(vendor, "timeout", `${vendor}: no connection in time`));
    });
    signal.addEventListener("abort", onAbort);
    webSocket.on("open", () => settle(undefined));
    webSocket.on("error", (error) => settle(connectionFault(vendor, error, wasConnected)));
    webSocket.on("unexpected-response", (_upgrade, response) => {
      let body = Buffer.alloc(0);
      response.on("data", (chunk: Buffer) => {
        body = Buffer.concat([body, chunk]);
        if (body.length >= REFUSAL_MAX_BYTES) response.destroy();
      });
      // The part that was received is the reason, even if the vendor disconnects.
      response.on("error", () => undefined);
      response.on("close", () => {
        const { statusCode: status = 0, headers } = response;
        settle(request.refuse({ status, headers, body: body.toString() }));
      });
    });
  });
}

/** Accompanies an error, where Node reads no stream. */
const NO_STREAM = new Duplex();

/** An agent of one connection, which `connect` opens. */
function agentFor(url: string, connect: buildConnector.connector): HttpAgent {
  const { protocol, hostname, host, port } = new URL(url.replace(/^ws/, "http"));
  const agent = protocol === "https:" ? new HttpsAgent() : new HttpAgent();
  agent.createConnection = (_options, callback) => {
    connect({ protocol, hostname, host, port }, (error, socket) => {
      if (error === null) callback?.(null, socket);
      else callback?.(error, NO_STREAM);
    });
    return undefined;
  };
  return agent;
}
