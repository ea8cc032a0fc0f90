import { STATUS_CODES } from "node:http";
import type { Pace } from "./paced-stream.js";

export type HeaderLine = readonly [name: string, value: string];

/** A response with its whole body, so that its length is known before the first byte is sent. */
export interface Answer {
  readonly status: number;
  readonly contentType: string;
  /** A body of bytes can be shared by many responses: nothing is copied for a slow client. */
  readonly body: string | Uint8Array;
  readonly headers?: readonly HeaderLine[];
  /** A content security policy that replaces the default, which forbids everything; only pages need it. */
  readonly policy?: string;
  /** The `cache-control` of a cacheable response; without it the response must not be cached. */
  readonly cacheControl?: string;
  /** The request's body was not read to its end, so the connection is closed after the response. */
  readonly closesConnection?: boolean;
}

/** A response whose body is generated while it is sent. */
export interface StreamedAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly headers?: readonly HeaderLine[];
  /**
   * The pacing of texts that many clients receive; a client that is dropped gets a `SlowClientError` on its
   * `signal`.
   */
  readonly pace?: Pace;
  /**
   * Called once; the response ends when it resolves, and is aborted when it rejects. `write` sends text; unread text is
   * bounded, and beyond the limit the client counts as disconnected. `signal` aborts when the client disconnects.
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
