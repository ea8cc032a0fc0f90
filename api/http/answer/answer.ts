import { STATUS_CODES } from "node:http";
import type { Pace } from "./paced-stream.js";

export type HeaderLine = readonly [name: string, value: string];

/** What is sent back: the whole body, so that its length is known before the first byte leaves. */
export interface Answer {
  readonly status: number;
  readonly contentType: string;
  /** As bytes it is shared by many answers: nothing of it is copied for a client that reads slowly. */
  readonly body: string | Uint8Array;
  readonly headers?: readonly HeaderLine[];
  /** A content security policy in place of the one that forbids everything; only a page needs it. */
  readonly policy?: string;
  /** The `cache-control` of a cacheable answer; without it the answer must not be cached. */
  readonly cacheControl?: string;
  /** The request was not read to its end and will not be: its connection serves nothing after this. */
  readonly closesConnection?: boolean;
}

/** An answer whose body is made while it is sent. */
export interface StreamedAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly headers?: readonly HeaderLine[];
  /** The pace of texts that many clients are sent; a client that is given up gets a `SlowClientError` on its `signal`. */
  readonly pace?: Pace;
  /**
   * Called once; the answer ends when it settles, and is broken off when it rejects. `write` sends text; what a client
   * leaves unread is bounded, and past it the client counts as gone. `signal` aborts when it has gone.
   */
  readonly produce: (write: (text: string) => void, signal: AbortSignal) => Promise<void>;
}

export const JSON_TYPE = "application/json; charset=utf-8";

const STATUS_LINES: readonly string[] = Array.from(
  { length: 600 },
  (_, status) => `${status} ${STATUS_CODES[status] ?? "Unknown"}`,
);

export function statusLine(status: number): string {
  return STATUS_LINES[status] ?? `${status} Unknown`;
}

export function jsonAnswer(
  status: number,
  value: unknown,
  headers?: readonly HeaderLine[],
): Answer {
  const body = JSON.stringify(value);
  return headers === undefined
    ? { status, contentType: JSON_TYPE, body }
    : { status, contentType: JSON_TYPE, body, headers };
}
