import type { IncomingMessage } from "node:http";
import type { HttpRequest } from "./front.js";

export interface SplitAddress {
  readonly path: string;
  readonly queryString: string;
}

export function splitAddress(address: string): SplitAddress {
  const mark = address.indexOf("?");
  return mark === -1
    ? { path: address, queryString: "" }
    : { path: address.slice(0, mark), queryString: address.slice(mark + 1) };
}

/** A request of node:http, in the words of the port. */
export class NodeRequest implements HttpRequest {
  readonly #message: IncomingMessage;
  readonly #queryString: string;
  readonly #parameters: readonly string[];

  constructor(message: IncomingMessage, queryString: string, parameters: readonly string[]) {
    this.#message = message;
    this.#queryString = queryString;
    this.#parameters = parameters;
  }

  getMethod(): string {
    return (this.#message.method ?? "").toLowerCase();
  }

  getHeader(lowerCaseName: string): string {
    return this.#message.headersDistinct[lowerCaseName]?.[0] ?? "";
  }

  getParameter(index: number): string | undefined {
    return this.#parameters[index];
  }

  getQuery(key?: string): string | undefined {
    if (key === undefined) return this.#queryString;
    return new URLSearchParams(this.#queryString).get(key) ?? undefined;
  }

  forEach(each: (name: string, value: string) => void): void {
    const { rawHeaders } = this.#message;
    for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
      each((rawHeaders[at] ?? "").toLowerCase(), rawHeaders[at + 1] ?? "");
    }
  }
}
