import type { Socket } from "node:net";
import { WebSocket } from "ws";
import { type FrontSocket, REFUSED_MESSAGE, type SocketDoor } from "./front.js";
import { ownBuffer } from "./node-response.js";

/** A client that was silent is pinged so long before it is broken off, as by uWebSockets.js. */
const PING_BEFORE_SEC = 8;
const NO_CODE = 1005;
const BROKEN = 1006;

/**
 * The library closes by itself for two reasons. An answer to the client's close is sent as it wants. A message that breaks the
 * protocol or is too large is not answered: the connection breaks, as it does with uWebSockets.js.
 */
export class AnsweringSocket extends WebSocket {
  #isBroken = false;
  onConcluded: (code: number, reason: string) => void = () => undefined;

  /** Called by the library only. What was wrong is told right after this. */
  override close(code?: number, reason?: string | Buffer): void {
    const words = reason?.toString() ?? "";
    queueMicrotask(() => {
      if (this.#isBroken) return;
      super.close(code, words);
      this.onConcluded(code ?? NO_CODE, words);
    });
  }

  closeWith(code: number, reason: string): void {
    super.close(code, reason);
  }

  breakOff(): void {
    this.#isBroken = true;
    this.terminate();
  }
}

interface NodeSocketParts<Visitor extends object> {
  readonly raw: AnsweringSocket;
  readonly connection: Socket;
  readonly visitor: Visitor;
  readonly door: SocketDoor<Visitor>;
}

/** A WebSocket of the library `ws`, in the words of the port. */
export class NodeSocket<Visitor extends object> implements FrontSocket<Visitor> {
  readonly #raw: AnsweringSocket;
  readonly #connection: Socket;
  readonly #visitor: Visitor;
  readonly #door: SocketDoor<Visitor>;
  readonly #onTaken: (() => void) | undefined;
  #isOpen = true;
  #readBytes: number;
  #silentSec = 0;

  constructor({ raw, connection, visitor, door }: NodeSocketParts<Visitor>) {
    this.#raw = raw;
    this.#connection = connection;
    this.#readBytes = connection.bytesRead;
    this.#visitor = visitor;
    this.#door = door;
    // The connection's own event tells only of what was more than its buffer holds.
    this.#onTaken = door.drained && (() => this.#isOpen && door.drained?.(this));
    raw.on("message", (message: Buffer, isBinary) => {
      if (this.#isOpen) door.message(this, ownBuffer(message), isBinary);
    });
    raw.onConcluded = (code, reason) => this.#closed(code, reason);
    raw.on("error", (error) => this.#failed(error));
    raw.on("close", () => this.#closed(BROKEN, ""));
  }

  getUserData(): Visitor {
    return this.#visitor;
  }

  send(message: string | Uint8Array, isBinary: boolean): number {
    this.#raw.send(message, { binary: isBinary }, this.#onTaken);
    return 1;
  }

  end(code: number, reason: string): void {
    if (!this.#isOpen) return;
    this.#raw.closeWith(code, reason);
    this.#closed(code, reason);
  }

  getBufferedAmount(): number {
    return this.#raw.bufferedAmount;
  }

  /** Also of a socket whose close is still on its way. */
  breakOff(reason: string): void {
    this.#raw.breakOff();
    this.#closed(BROKEN, reason);
  }

  check(passedSec: number): void {
    if (!this.#isOpen) return;
    const { bytesRead } = this.#connection;
    this.#silentSec = bytesRead === this.#readBytes ? this.#silentSec + passedSec : 0;
    this.#readBytes = bytesRead;
    if (this.#silentSec >= this.#door.silenceMaxSec) this.breakOff("");
    else if (this.#silentSec >= this.#door.silenceMaxSec - PING_BEFORE_SEC) this.#raw.ping();
  }

  #failed(error: Error): void {
    if (!isTooBig(error)) return this.breakOff("");
    if (this.#isOpen) this.#door.refused?.(this);
    // The library's own wish to close comes right after this, and does nothing to what is closed.
    if (this.#isOpen) this.breakOff(REFUSED_MESSAGE);
  }

  #closed(code: number, reason: string): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#door.close(this, code, reason);
  }
}

function isTooBig(error: Error): boolean {
  return "code" in error && error.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH";
}
