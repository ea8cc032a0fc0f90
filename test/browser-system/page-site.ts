import assert from "node:assert/strict";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";

export interface SiteFile {
  readonly contentType: string;
  readonly body: string;
  /** Headers that are sent in addition to the site's policy. */
  readonly headers?: Readonly<Record<string, string>>;
}

export type ServerBytes = (bytes: Buffer) => void;

/**
 * A customer's site: it serves some files with a strict policy, and forwards all other requests to a server, as a
 * customer's proxy does. The test can cut its connection to the server, and observe the data that the server sends.
 */
export class PageSite {
  readonly #files: Map<string, SiteFile>;
  readonly #policy: string;
  #target: URL;
  readonly #server = createServer((incoming, answer) => this.#answer(incoming, answer));
  readonly #lines = new Set<Duplex>();
  readonly #onServerBytes: ServerBytes;
  #isCut = false;

  static async start(
    target: string,
    files: Readonly<Record<string, SiteFile>>,
    policy: string,
    onServerBytes: ServerBytes = () => {},
  ): Promise<PageSite> {
    const site = new PageSite(target, { files, policy, onServerBytes });
    await new Promise<void>((listening) => site.#server.listen(0, "127.0.0.1", listening));
    return site;
  }

  private constructor(
    target: string,
    {
      files,
      policy,
      onServerBytes,
    }: {
      readonly files: Readonly<Record<string, SiteFile>>;
      readonly policy: string;
      readonly onServerBytes: ServerBytes;
    },
  ) {
    this.#target = new URL(target);
    this.#files = new Map(Object.entries(files));
    this.#policy = policy;
    this.#onServerBytes = onServerBytes;
    this.#server.on("upgrade", (incoming, socket, head) => this.#upgrade(incoming, socket, head));
  }

  get origin(): string {
    const address = this.#server.address();
    assert.ok(typeof address === "object" && address !== null);
    return `http://127.0.0.1:${address.port}`;
  }

  put(path: string, file: SiteFile): void {
    this.#files.set(path, file);
  }

  /** Forwards requests for other paths to this server from now on. */
  leadTo(target: string): void {
    this.#target = new URL(target);
  }

  /** Closes every WebSocket, and refuses new ones. */
  cut(): void {
    this.#isCut = true;
    for (const line of this.#lines) line.destroy();
  }

  mend(): void {
    this.#isCut = false;
  }

  close(): void {
    this.cut();
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(incoming: IncomingMessage, answer: ServerResponse): void {
    const file = this.#files.get(incoming.url ?? "");
    if (file !== undefined) {
      const headers = {
        "content-type": file.contentType,
        "content-security-policy": this.#policy,
        ...file.headers,
      };
      answer.writeHead(200, headers).end(file.body);
      return;
    }
    const { method, headers, url } = incoming;
    const passed = request(new URL(url ?? "/", this.#target), { method, headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(answer);
    });
    passed.on("error", () => answer.destroy());
    incoming.pipe(passed);
  }

  #upgrade({ url, rawHeaders }: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (this.#isCut) return void socket.destroy();
    const line: Socket = connect(Number(this.#target.port), this.#target.hostname);
    for (const [one, other] of [
      [socket, line],
      [line, socket],
    ] as const) {
      this.#lines.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        this.#lines.delete(one);
        other.destroy();
      });
    }
    const lines = [`GET ${url} HTTP/1.1`];
    for (let at = 0; at < rawHeaders.length; at += 2) {
      lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
    }
    line.write(`${lines.join("\r\n")}\r\n\r\n`);
    line.write(head);
    line.on("data", this.#onServerBytes);
    socket.pipe(line).pipe(socket);
  }
}
