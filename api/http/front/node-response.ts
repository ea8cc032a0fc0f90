import type { IncomingMessage, ServerResponse } from "node:http";
import { addressBytes } from "../request/client-address.js";
import type { HttpResponse } from "./front.js";

/** What uWebSockets.js gives a client that neither sends the rest of its body nor reads its answer. */
export const STALL_MAX_MS = 10_000;

const NOTHING = new ArrayBuffer(0);

/** An answer of node:http, in the words of the port. */
export class NodeResponse implements HttpResponse {
  readonly #message: IncomingMessage;
  readonly #raw: ServerResponse;
  #statusLine = "200 OK";
  readonly #headers: string[] = [];
  #sentBytes = 0;
  #writeCount = 0;
  #hasUnread = false;
  #isOver = false;
  readonly #onOver: () => void;
  #onWritable: (sentBytes: number) => unknown = () => undefined;
  #onAborted: () => void = () => undefined;

  /** `onOver`: called when it is ended or its connection broken. */
  constructor(message: IncomingMessage, raw: ServerResponse, onOver: () => void) {
    this.#message = message;
    this.#raw = raw;
    this.#onOver = onOver;
  }

  getRemoteAddress(): ArrayBuffer {
    return addressBytes(this.#message.socket.remoteAddress ?? "");
  }

  /** Node sends what is written in one turn together without being asked. */
  cork(whole: () => void): void {
    whole();
  }

  writeStatus(line: string): void {
    this.#statusLine = line;
  }

  writeHeader(name: string, value: string): void {
    const [first = "", ...lines] = value.split("\r\n");
    this.#headers.push(name, first);
    for (const line of lines) {
      const colon = line.indexOf(":");
      this.#headers.push(line.slice(0, colon), line.slice(colon + 2));
    }
  }

  write(text: string): boolean {
    this.#writeHead();
    if (text !== "") return this.#send((onSent) => this.#raw.write(text, onSent));
    this.#raw.flushHeaders();
    return true;
  }

  end(body = "", closes = false): void {
    if (!this.#raw.headersSent) this.writeHeader("content-length", `${Buffer.byteLength(body)}`);
    if (closes) this.writeHeader("connection", "close");
    this.#end(body);
  }

  endWithoutBody(): void {
    this.#end("");
  }

  tryEnd(bytes: Uint8Array, totalBytes: number): [isTaken: boolean, isWhole: boolean] {
    if (!this.#raw.headersSent) this.writeHeader("content-length", String(totalBytes));
    this.#writeHead();
    if (bytes.length > 0) this.#send((onSent) => this.#raw.write(bytes, onSent));
    this.#sentBytes += bytes.length;
    const isWhole = !this.#hasUnread && this.#sentBytes >= totalBytes;
    if (isWhole) this.#end("");
    return [!this.#hasUnread, isWhole];
  }

  onWritable(handler: (sentBytes: number) => boolean): void {
    this.#onWritable = handler;
  }

  onAborted(handler: () => void): void {
    this.#onAborted = handler;
  }

  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): void {
    const { socket } = this.#message;
    socket.setTimeout(STALL_MAX_MS);
    this.#message.on("data", (part: Buffer) => handler(ownBuffer(part), false));
    this.#message.on("end", () => {
      // After its answer, Node times the connection by itself.
      if (!this.#isOver && !this.#hasUnread) socket.setTimeout(0);
      handler(NOTHING, true);
    });
  }

  close(): void {
    this.#message.socket.destroy();
    this.connectionClosed();
  }

  connectionClosed(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onAborted();
    this.#onOver();
  }

  #writeHead(): void {
    if (this.#raw.headersSent) return;
    const space = this.#statusLine.indexOf(" ");
    const status = Number(this.#statusLine.slice(0, space));
    this.#raw.writeHead(status, this.#statusLine.slice(space + 1), this.#headers);
  }

  #end(body: string): void {
    this.#writeHead();
    this.#isOver = true;
    this.#raw.end(body);
    if (isUnread(this.#raw)) this.#message.socket.setTimeout(STALL_MAX_MS);
    this.#onOver();
  }

  /** Passes on at once, past Node's own corking: only then is known what the system takes. */
  #send(write: (onSent: () => void) => void): boolean {
    const { socket } = this.#raw;
    this.#writeCount += 1;
    const count = this.#writeCount;
    socket?.cork();
    write(() => this.#sent(count));
    socket?.uncork();
    if (!isUnread(this.#raw)) return !this.#hasUnread;
    this.#hasUnread = true;
    this.#message.socket.setTimeout(STALL_MAX_MS);
    return false;
  }

  #sent(count: number): void {
    if (this.#isOver || !this.#hasUnread || count !== this.#writeCount) return;
    this.#hasUnread = false;
    this.#message.socket.setTimeout(0);
    this.#onWritable(this.#sentBytes);
  }
}

/** Without a socket it waits behind an earlier answer, of which something is unread. */
function isUnread({ socket }: ServerResponse): boolean {
  return socket === null || socket.writableLength > 0;
}

/** The bytes alone: Node's piece may be a part of something larger. */
export function ownBuffer({ buffer, byteOffset, byteLength }: Uint8Array): ArrayBuffer {
  const copy = new ArrayBuffer(byteLength);
  new Uint8Array(copy).set(new Uint8Array(buffer, byteOffset, byteLength));
  return copy;
}
