import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Changes } from "../../doubles/changes.js";

export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** An HTTP server that keeps what it is asked, and answers as the test says. */
export class ScriptedWebServer {
  readonly requests: ReceivedRequest[] = [];
  readonly changes = new Changes();
  answer: (response: ServerResponse, request: ReceivedRequest) => void = (response) => {
    response.end();
  };
  readonly #server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const received = { method, url, headers, body };
      this.requests.push(received);
      this.changes.tell();
      this.answer(response, received);
    });
  });

  async start(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, "127.0.0.1", resolve);
    });
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("not started");
    return `http://127.0.0.1:${address.port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }
}
