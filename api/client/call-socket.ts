import { CallError } from "./call-error.js";
import type { ClientClock } from "./client-clock.js";

export const NOT_OPENED = "this page cannot open a connection to the server's address";

/** The part of a WebSocket that a call uses: a browser's own, Node's, or the one of the package `ws`. */
export interface CallSocket {
  binaryType: string;
  readonly bufferedAmount: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
}

export type CallSocketClass = new (address: string) => CallSocket;

export interface CallLine {
  /** Default: the environment's own. */
  readonly WebSocket: CallSocketClass | undefined;
  readonly address: string;
  readonly clock: ClientClock;
}

/** Throws a CallError if there is none. */
function defaultSocketClass(): CallSocketClass {
  const found: { WebSocket?: CallSocketClass } = globalThis;
  if (found.WebSocket !== undefined) return found.WebSocket;
  throw new CallError("protocol", "this environment has no WebSocket: pass one as an option");
}

export interface SocketListener {
  text(message: string): void;
  audio(bytes: ArrayBuffer): void;
  /** Called once, also after `close`. */
  closed(code: number, reason: string): void;
}

/** Two seconds of the microphone; beyond this nothing is sent. */
const UNSENT_BYTES_MAX = 64_000;
/** A connection that has accepted no data for two seconds has been above half of that limit for one second. */
const STUCK_MS = 1_000;
const BROKEN = 1006;

/** One connection to the voice WebSocket. */
export class CallConnection {
  readonly #socket: CallSocket;
  readonly #clock: ClientClock;
  readonly #listener: SocketListener;
  /** When the last sent data was accepted, as far as known. */
  #drainedAtMs = 0;
  #isOpen = false;
  #isOver = false;

  constructor(
    { WebSocket = defaultSocketClass(), address, clock }: CallLine,
    listener: SocketListener,
  ) {
    this.#clock = clock;
    this.#listener = listener;
    const socket = new WebSocket(address);
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.#isOpen = true;
      this.#drainedAtMs = clock.monotonicMs();
    };
    // The close that follows reports the error.
    socket.onerror = () => {};
    socket.onmessage = ({ data }: { readonly data: unknown }) => {
      if (this.#isOver) return;
      if (typeof data === "string") listener.text(data);
      else if (data instanceof ArrayBuffer) listener.audio(data);
    };
    socket.onclose = ({ code, reason }: { readonly code: number; readonly reason: string }) =>
      this.#over(code, reason);
  }

  /**
   * Audio that a full connection does not accept is lost. A connection that has accepted nothing for two seconds
   * is closed, even if no error was reported.
   */
  sendAudio(samples: Int16Array<ArrayBuffer>): void {
    if (!this.#isOpen || this.#isOver) return;
    const unsentBytes = this.#socket.bufferedAmount;
    const nowMs = this.#clock.monotonicMs();
    if (unsentBytes <= UNSENT_BYTES_MAX / 2) this.#drainedAtMs = nowMs;
    if (unsentBytes > UNSENT_BYTES_MAX) {
      // A page that was suspended sends a lot at once over a good connection; only the elapsed time tells the two cases
      // apart.
      if (nowMs - this.#drainedAtMs >= STUCK_MS) this.breakOff();
      return;
    }
    this.#socket.send(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength));
  }

  sendText(message: string): void {
    if (this.#isOpen && !this.#isOver) this.#socket.send(message);
  }

  close(): void {
    this.#socket.close(1000);
    this.#over(1000, "");
  }

  /** The network is unavailable: the socket's own close event would arrive much later. */
  breakOff(): void {
    this.#socket.close();
    this.#over(BROKEN, "");
  }

  #over(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener.closed(code, reason);
  }
}
