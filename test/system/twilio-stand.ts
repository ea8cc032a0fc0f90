import { once } from "node:events";
import { createServer } from "node:http";
import { connect, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { Exchange } from "../../engine/sandbox/exchange.js";
import { noFaults } from "../../engine/sandbox/faults.js";
import {
  type TwilioCall,
  TwilioSimulator,
} from "../../engine/sandbox/telephone/twilio-simulator.js";
import { eventually } from "./eventually.js";

export const ACCOUNT_SID = `AC${"1".repeat(32)}`;
export const AUTH_TOKEN = "the-vendors-auth-token";

/** The telephony vendor on a socket, and a public address of the server that is known before the server's port. */
export class TwilioStand {
  readonly faults = noFaults();
  readonly simulator = new TwilioSimulator({ faults: this.faults });
  readonly #api = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://twilio");
    void this.simulator.handleRequest(new Exchange(request, response, url));
  });
  readonly #sockets = new Set<Socket>();
  #serverPort = 0;
  readonly #public: Server = createTcpServer((near) => {
    const far = connect(this.#serverPort, "127.0.0.1");
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
      one.pipe(other);
    }
  });

  static async start(): Promise<TwilioStand> {
    const stand = new TwilioStand();
    stand.#api.listen(0, "127.0.0.1");
    stand.#public.listen(0, "127.0.0.1");
    await Promise.all([once(stand.#api, "listening"), once(stand.#public, "listening")]);
    return stand;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${portOf(this.#api)}`;
  }

  get environment(): Record<string, string> {
    return {
      TWILIO_ACCOUNT_SID: ACCOUNT_SID,
      TWILIO_AUTH_TOKEN: AUTH_TOKEN,
      TWILIO_BASE_URL: this.baseUrl,
      PUBLIC_BASE_URL: `http://127.0.0.1:${portOf(this.#public)}`,
      VENDOR_REQUESTS_PER_MINUTE: "10000",
    };
  }

  leadTo(serverPort: number): void {
    this.#serverPort = serverPort;
  }

  /** The call to that number, once `has` gives something of it. */
  of<T>(to: string, what: string, has: (call: TwilioCall) => T | undefined): Promise<T> {
    return eventually(what, () => {
      const call = this.simulator.calls.find(({ form }) => form.get("To") === to);
      return call === undefined ? undefined : has(call);
    });
  }

  close(): void {
    this.simulator.close();
    this.#api.close();
    this.#api.closeAllConnections();
    this.#public.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening");
  return address.port;
}
