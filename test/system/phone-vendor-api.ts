import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { Changes } from "../doubles/changes.js";

export interface ApiRequest {
  readonly line: string;
  readonly authorization: string;
  readonly body: string;
}

/** A telephony vendor's REST API. Records its requests, and sends the given responses. */
export class PhoneVendorApi {
  readonly requests: ApiRequest[] = [];
  /** The next responses; after these, 200. */
  readonly answers: (readonly [status: number, body: string])[] = [];
  readonly #changes = new Changes();
  #held: Promise<void> | undefined;
  readonly #server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      this.requests.push({
        line: `${request.method} ${request.url}`,
        authorization: request.headers.authorization ?? "",
        body: Buffer.concat(chunks).toString(),
      });
      this.#changes.tell();
      const [status, body] = this.answers.shift() ?? [200, "{}"];
      const answer = () => {
        response.writeHead(status, { "content-type": "application/json" }).end(body);
      };
      if (this.#held === undefined) answer();
      else void this.#held.then(answer);
    });
  });

  static async start(): Promise<PhoneVendorApi> {
    const api = new PhoneVendorApi();
    api.#server.listen(0, "127.0.0.1");
    await once(api.#server, "listening");
    return api;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("not listening");
    return `http://127.0.0.1:${address.port}`;
  }

  asked(count: number): Promise<true> {
    return this.#changes.until(`${count} requests`, () => this.requests.length >= count);
  }

  /** Holds all responses until the returned function is called. */
  hold(): () => void {
    let release: () => void = () => undefined;
    this.#held = new Promise((resolve) => {
      release = resolve;
    });
    return release;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
