/** The part of a WebSocket that is used: a browser's own, Node's, or that of the package `ws`. */
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

export interface SocketListener {
  text(message: string): void;
  audio(bytes: ArrayBuffer): void;
  /** Told once, also when `close` was called. */
  closed(code: number, reason: string): void;
}

/** Two seconds of the microphone: a line that takes nothing for so long is broken, though nobody has said so yet. */
const UNSENT_BYTES_MAX = 64_000;
const BROKEN = 1006;

/** One connection to the voice WebSocket. */
export class CallConnection {
  readonly #socket: CallSocket;
  readonly #listener: SocketListener;
  #isOpen = false;
  #isOver = false;

  constructor(socketClass: CallSocketClass, address: string, listener: SocketListener) {
    this.#listener = listener;
    const socket = new socketClass(address);
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => (this.#isOpen = true);
    // What there is to say of an error is said by the close that follows it.
    socket.onerror = () => {};
    socket.onmessage = ({ data }: { readonly data: unknown }) => {
      if (this.#isOver) return;
      if (typeof data === "string") listener.text(data);
      else if (data instanceof ArrayBuffer) listener.audio(data);
    };
    socket.onclose = ({ code, reason }: { readonly code: number; readonly reason: string }) =>
      this.#over(code, reason);
  }

  sendAudio(samples: Int16Array<ArrayBuffer>): void {
    if (!this.#isOpen || this.#isOver) return;
    if (this.#socket.bufferedAmount > UNSENT_BYTES_MAX) return this.breakOff();
    this.#socket.send(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength));
  }

  sendText(message: string): void {
    if (this.#isOpen && !this.#isOver) this.#socket.send(message);
  }

  close(): void {
    this.#socket.close(1000);
    this.#over(1000, "");
  }

  /** The network is gone: its own close would come much later. */
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
