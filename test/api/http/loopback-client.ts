import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { connect } from "node:net";

export interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON, or undefined if it is not JSON. */
  readonly body: unknown;
}

export interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged, instead of `body`. */
  readonly raw?: string | Buffer;
}

export type AnswerCheck = (method: string, path: string, received: Received) => void;

/** Speaks HTTP to a server on 127.0.0.1, and can send requests that `fetch` does not allow. */
export class LoopbackClient {
  readonly #port: number;
  readonly #check: AnswerCheck;
  readonly #agent = new Agent({ keepAlive: true });

  /** `check` gets every response before the test does. */
  constructor(port: number, check: AnswerCheck = () => undefined) {
    this.#port = port;
    this.#check = check;
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Received> {
    return this.send("GET", path, { headers });
  }

  post(
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Received> {
    return this.send("POST", path, { headers, body });
  }

  async send(method: string, path: string, sent: Sent = {}): Promise<Received> {
    const received = await this.#send(method, path, sent);
    this.#check(method, path, received);
    return received;
  }

  #send(method: string, path: string, sent: Sent): Promise<Received> {
    const payload = sent.raw ?? (sent.body === undefined ? undefined : JSON.stringify(sent.body));
    const headers: Record<string, string> = { ...sent.headers };
    if (sent.body !== undefined) headers["content-type"] ??= "application/json";
    if (payload !== undefined) headers["content-length"] = String(Buffer.byteLength(payload));
    return new Promise((resolve, reject) => {
      const options = { host: "127.0.0.1", port: this.#port, method, path, headers };
      const outgoing = request({ ...options, agent: this.#agent }, (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("end", () => {
          const text = Buffer.concat(parts).toString();
          const { headers: received, statusCode: status = 0 } = response;
          resolve({ status, headers: received, text, body: jsonOf(text) });
        });
        response.on("error", reject);
      });
      outgoing.on("error", reject);
      outgoing.end(payload);
    });
  }

  /**
   * Sends bytes on a separate connection. Resolves with the received bytes once they match `enough`, or the connection
   * ends.
   */
  exchange(bytes: string | Buffer, enough = /^$/): Promise<string> {
    return new Promise((resolve) => {
      const socket = connect(this.#port, "127.0.0.1");
      let text = "";
      socket.on("data", (part) => {
        text += part.toString();
        if (enough.test(text)) socket.destroy();
      });
      socket.on("error", () => undefined);
      socket.on("close", () => resolve(text));
      socket.write(bytes);
    });
  }

  /** Like `exchange`, but ends the client's side after sending. */
  exchangeAndHangUp(bytes: string | Buffer): Promise<string> {
    return new Promise((resolve) => {
      const socket = connect(this.#port, "127.0.0.1");
      let text = "";
      socket.on("data", (part) => {
        text += part.toString();
      });
      socket.on("error", () => undefined);
      socket.on("close", () => resolve(text));
      socket.end(bytes);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
