import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** Vendors accept large conversations; this is far above any that fits a voice call. */
const BODY_BYTES_MAX = 8 * 1024 * 1024;

/** The client has left: no response can be sent. */
export class ExchangeAbortedError extends Error {
  override readonly name = "ExchangeAbortedError";
}

/** One HTTP request to a simulator, and its response. */
export class Exchange {
  readonly request: IncomingMessage;
  /** The path after the vendor's prefix, with the query. */
  readonly url: URL;
  readonly #response: ServerResponse;
  readonly #aborted = new AbortController();

  constructor(request: IncomingMessage, response: ServerResponse, url: URL) {
    this.request = request;
    this.url = url;
    this.#response = response;
    response.on("error", () => this.#aborted.abort());
    response.on("close", () => {
      if (!response.writableFinished) this.#aborted.abort();
    });
  }

  get isAborted(): boolean {
    return this.#aborted.signal.aborted;
  }

  /** Called once if the other side disconnects before the whole response is sent. */
  whenAborted(action: () => void): void {
    this.#aborted.signal.addEventListener("abort", action, { once: true });
  }

  get hasStarted(): boolean {
    return this.#response.headersSent;
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return Array.isArray(value) ? value[0] : value;
  }

  get bearer(): string | undefined {
    return /^Bearer +(\S+)$/i.exec(this.header("authorization") ?? "")?.[1];
  }

  /** The parsed body, or undefined if it is not JSON or too large. */
  async readJson(): Promise<unknown> {
    try {
      return JSON.parse((await this.readText()) ?? "");
    } catch (error) {
      if (error instanceof ExchangeAbortedError) throw error;
      return undefined;
    }
  }

  /** Undefined if it is too large. */
  async readText(): Promise<string | undefined> {
    return (await this.readBytes(BODY_BYTES_MAX))?.toString("utf8");
  }

  /** Undefined if the body is longer than `sizeBytesMax`. */
  async readBytes(sizeBytesMax: number): Promise<Buffer | undefined> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of this.request) {
        if (!Buffer.isBuffer(chunk)) continue;
        bytes += chunk.length;
        if (bytes <= sizeBytesMax) chunks.push(chunk);
      }
    } catch (cause) {
      throw new ExchangeAbortedError("the request broke off", { cause });
    }
    return bytes > sizeBytesMax ? undefined : Buffer.concat(chunks);
  }

  /** The fields and files of a multipart body, or undefined if it is not one or longer than `sizeBytesMax`. */
  async readForm(sizeBytesMax: number): Promise<FormData | undefined> {
    const body = await this.readBytes(sizeBytesMax);
    if (body === undefined) return undefined;
    const headers = { "content-type": this.header("content-type") ?? "" };
    // A body that cannot be parsed is not a form.
    return new Response(Uint8Array.from(body), { headers }).formData().catch(() => undefined);
  }

  answerJson(status: number, body: unknown, headers: Record<string, string> = {}): void {
    this.#response.writeHead(status, { "content-type": "application/json", ...headers });
    this.#response.end(JSON.stringify(body));
  }

  answerText(status: number, body: string, headers: Record<string, string> = {}): void {
    this.#response.writeHead(status, { "content-type": "text/plain", ...headers });
    this.#response.end(body);
  }

  start(headers: Record<string, string>): void {
    this.#response.writeHead(200, headers);
    this.#response.flushHeaders();
  }

  /** Waits for a slow reader. Throws ExchangeAbortedError if it has gone. */
  async write(chunk: string | Uint8Array): Promise<void> {
    if (this.isAborted) throw new ExchangeAbortedError();
    if (this.#response.write(chunk)) return;
    await this.#orAborted(
      new Promise<void>((resolve) => {
        this.#response.once("drain", resolve);
      }),
    );
  }

  end(): void {
    this.#response.end();
  }

  /** Breaks the connection as a crashing vendor would; written data still arrives. */
  disconnect(): void {
    if (this.hasStarted) this.#response.socket?.destroySoon();
    else this.#response.destroy();
  }

  async pause(delayMs: number): Promise<void> {
    if (delayMs <= 0) return;
    await sleep(delayMs, undefined, { signal: this.#aborted.signal }).catch((cause: unknown) => {
      throw new ExchangeAbortedError("gone", { cause });
    });
  }

  /** Sends nothing more until the other side gives up. */
  async stall(): Promise<never> {
    await this.#orAborted(new Promise<never>(() => undefined));
    throw new ExchangeAbortedError();
  }

  async #orAborted(wait: Promise<void>): Promise<void> {
    const { signal } = this.#aborted;
    if (signal.aborted) throw new ExchangeAbortedError();
    let onAbort: (() => void) | undefined;
    const aborted = new Promise<never>((_, reject) => {
      onAbort = () => reject(new ExchangeAbortedError());
      signal.addEventListener("abort", onAbort);
    });
    try {
      await Promise.race([wait, aborted]);
    } finally {
      if (onAbort !== undefined) signal.removeEventListener("abort", onAbort);
    }
  }
}
