import type { CallerSocket } from "../../api/voice/web-leg.js";

/** A client's socket that records its data; a test sets how much of it is unread. */
export class RecordingSocket implements CallerSocket {
  readonly sent: (string | Uint8Array)[] = [];
  unreadBytes = 0;
  ended: { readonly code: number; readonly reason: string } | undefined;

  send(message: string | Uint8Array, isBinary: boolean): number {
    // Like the library: it throws for a use of a closed socket.
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
