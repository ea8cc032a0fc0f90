import type { IncomingMessage } from "node:http";
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Exchange } from "./exchange.js";
import type { SandboxFaults } from "./faults.js";
import type { Journal } from "./journal.js";

/** The shared state of all simulators of one sandbox. */
export interface SandboxContext {
  readonly faults: SandboxFaults;
  readonly journal: Journal;
  /** The one valid key, or any if it is undefined. */
  readonly apiKey: string | undefined;
  /** A self-hosted server without a key. */
  readonly isOpen?: true;
}

export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  /** The path after the vendor's prefix, with the query. */
  readonly url: URL;
}

/** One vendor under its own path. It owns the sockets that it accepts until `close`. */
export interface Simulator {
  handleRequest?(exchange: Exchange): Promise<void>;
  handleUpgrade?(upgrade: Upgrade): void;
  close?(): void;
}

export function isGoodKey(context: SandboxContext, key: string | undefined): boolean {
  if (context.isOpen === true) return true;
  if (key === undefined || key === "") return false;
  return context.apiKey === undefined || context.apiKey === key;
}

/** Responds to an upgrade with an ordinary HTTP response. */
export function refuseUpgrade(
  { socket }: Upgrade,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`);
}
