import type { CallerSocket } from "../../api/voice/web-leg.js";

/** A client's socket that keeps what it is given; a test says how much of it was not read. */
export class RecordingSocket implements CallerSocket {
  readonly sent: (string | Uint8Array)[] = [];
  unreadBytes = 0;
  ended: { readonly code: number; readonly reason: string } | undefined;

  send(message: string | Uint8Array, isBinary: boolean): number {
    // As the library: it breaks whoever uses a socket that is gone.
    if (this.ended !== undefined) throw new Error("the socket is closed");
    if (isBinary !== (typeof message !== "string")) throw new Error("wrong kind of frame");
    this.sent.push(message);
    return 1;
  }

  end(code: number, reason: string): void {
    if (this.ended !== undefined) throw new Error("the socket is closed");
    this.ended = { code, reason };
  }

  getBufferedAmount(): number {
    return this.unreadBytes;
  }
}
