import { once } from "node:events";
import { WebSocket } from "ws";
import { AwaitedEvents } from "../awaited-events.js";
import { type FromTelephone, parseToTelephone, type ToTelephone } from "./telephone-message.js";

/** This process's telephone at a number of the sandbox's exchange: calls to the number ring only here. */
export class TelephoneConnection {
  readonly #socket: WebSocket;
  readonly #events: AwaitedEvents<ToTelephone>;

  /** `twilioUrl` is the simulated Twilio's. Rejects if there is none, or the number is taken. */
  static async connect(
    twilioUrl: string,
    number: string,
    onEvent?: (event: ToTelephone) => void,
  ): Promise<TelephoneConnection> {
    const url = `${twilioUrl.replace(/^http/, "ws")}/phones/${number}`;
    const plug = new TelephoneConnection(new WebSocket(url, { perMessageDeflate: false }), onEvent);
    await once(plug.#socket, "open");
    return plug;
  }

  private constructor(socket: WebSocket, onEvent?: (event: ToTelephone) => void) {
    this.#socket = socket;
    this.#events = new AwaitedEvents(({ event }) => event, onEvent);
    socket.on("message", (data: Buffer) => {
      const message = parseToTelephone(data.toString("utf8"));
      if (message !== undefined) this.#events.add(message);
    });
    // The close that follows reports it; before the socket is open, `connect` rejects.
    socket.on("error", () => undefined);
    socket.on("close", () => this.#events.end());
  }

  /** See AwaitedEvents.until. */
  until(predicate: (event: ToTelephone) => boolean, timeoutMs?: number): Promise<ToTelephone> {
    return this.#events.until(predicate, timeoutMs);
  }

  send(message: FromTelephone): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  close(): void {
    this.#socket.close();
  }
}
