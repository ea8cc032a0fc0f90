import { once } from "node:events";
import { createServer } from "node:net";
import { cannotListen, ListenError } from "../server.js";

/**
 * Returns the port, or a free one if it is 0, for several processes to listen on. Rejects with ListenError if the port
 * is in use: port sharing does not report that, and a second server would get half of the first one's connections.
 */
export async function freePort(host: string, port: number): Promise<number> {
  const probe = createServer();
  try {
    probe.listen({ host, port, exclusive: true });
    await once(probe, "listening");
    const address = probe.address();
    return typeof address === "object" && address !== null ? address.port : port;
  } catch (cause) {
    throw new ListenError(cannotListen(host, port), { cause });
  } finally {
    probe.close();
  }
}
