import type { CallSocket } from "../../../api/client/call-socket.js";

/** A WebSocket whose other end is the test. */
export class ClientSocket implements CallSocket {
  /** All sockets that were opened, the oldest first. */
  static readonly opened: ClientSocket[] = [];
  /** Throws as a browser does when an https: page opens a ws: address. */
  static isRefused = false;

  binaryType = "blob";
  bufferedAmount = 0;
  onopen: ((event: never) => void) | null = null;
  onmessage: ((event: never) => void) | null = null;
  onerror: ((event: never) => void) | null = null;
  onclose: ((event: never) => void) | null = null;
  readonly address: URL;
  readonly sent: (string | Uint8Array)[] = [];
  closedWith: number | undefined;

  constructor(address: string) {
    if (ClientSocket.isRefused) throw new DOMException("not allowed", "SecurityError");
    this.address = new URL(address);
    ClientSocket.opened.push(this);
  }

  /** Must be called before each test. */
  static forgetAll(): void {
    ClientSocket.opened.splice(0);
    ClientSocket.isRefused = false;
  }

  static get last(): ClientSocket {
    const last = ClientSocket.opened.at(-1);
    if (last === undefined) throw new Error("no socket was opened");
    return last;
  }

  send(data: string | Uint8Array): void {
    this.sent.push(data);
  }

  close(code = 1005): void {
    this.closedWith = code;
  }

  /** The server accepts the call. */
  accept(historyKey = "key-1"): void {
    this.onopen?.({} as never);
    this.say({ type: "connected", agentName: "Reception", historyKey });
  }

  say(message: object): void {
    this.onmessage?.({ data: JSON.stringify(message) } as never);
  }

  transcript(role: "user" | "assistant", text: string, isFinal: boolean): void {
    this.say({ type: "transcript", payload: { role, text, isFinal } });
  }

  sendAudio(samples: number, amplitude = 0): void {
    this.onmessage?.({ data: new Int16Array(samples).fill(amplitude).buffer } as never);
  }

  breakOff(code = 1006, reason = ""): void {
    this.onclose?.({ code, reason } as never);
  }
}
