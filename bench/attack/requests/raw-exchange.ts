import { connect } from "node:net";

/** Beyond the server's own limits of a request that does not come. */
const EXCHANGE_MAX_MS = 25_000;

type Write = (bytes: string | Uint8Array) => void;
type Script = (write: Write, end: () => void) => Promise<void>;

/**
 * Sends bytes on a connection of their own, all at once or as the script says; resolves with all that came back once the
 * server has closed it, or with undefined when it did not in 25 s.
 */
export function exchangeWithin(
  port: number,
  sent: string | Uint8Array | Script,
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    const timer = setTimeout(() => {
      resolve(undefined);
      socket.destroy();
    }, EXCHANGE_MAX_MS);
    socket.on("data", (part) => {
      text += part.toString("latin1");
    });
    // A reset is an end too.
    socket.on("error", () => undefined);
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(text);
    });
    const write = (bytes: string | Uint8Array) => void socket.write(bytes);
    if (typeof sent === "function") sent(write, () => socket.end()).catch(reject);
    else write(sent);
  });
}
