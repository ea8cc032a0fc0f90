import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { TestContext } from "node:test";

/** A server behind the front proxy that lasts as long as the test and records its requests. */
export class RecordingUpstream {
  /** The method and path of every request, in order. */
  readonly requests: string[] = [];

  static async start(
    context: TestContext,
    port: number,
    answer: (request: IncomingMessage, response: ServerResponse) => void,
  ): Promise<RecordingUpstream> {
    const upstream = new RecordingUpstream();
    const server = createServer((request, response) => {
      upstream.requests.push(`${request.method} ${request.url}`);
      answer(request, response);
    });
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    context.after(async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    });
    return upstream;
  }
}
