import type { Caller } from "../../engine/sandbox/caller.js";
import type { Received } from "../../engine/sandbox/caller-events.js";

/** Conditions for the events that a test waits for on a caller's side. */
export const ended = ({ type }: Received): boolean => type === "audioEnd";
export const spoke = ({ type }: Received): boolean => type === "audio";
export const stopped = ({ type }: Received): boolean => type === "audioStop";
export const closed = ({ type }: Received): boolean => type === "closed";

/** The text of a transcript; empty for any other event. */
export const textOf = (event: Received): string =>
  event.type === "transcript" ? event.payload.text : "";

/** Whether the caller's turn has ended. */
export const understood = (event: Received): boolean =>
  event.type === "transcript" && event.payload.role === "user" && event.payload.isFinal;

export interface Close {
  readonly code: number;
  readonly reason: string;
  /** The message of the last `error` event; undefined when there was none. */
  readonly error: string | undefined;
}

/**
 * Waits until the call is over, and returns the close code, its reason and the error message that the client received.
 */
export async function closeOf(caller: Caller, timeoutMs?: number): Promise<Close> {
  if (!caller.events.some(closed)) await caller.until(closed, timeoutMs);
  const last = caller.events.findLast((event) => event.type === "closed");
  const error = caller.events.findLast((event) => event.type === "error");
  return {
    code: last?.code ?? 0,
    reason: last?.reason ?? "",
    error: error?.payload.message,
  };
}

/** The assistant's final transcripts, one per turn. */
export function repliesOf(caller: Caller): readonly string[] {
  return caller.events.flatMap((event) =>
    event.type === "transcript" && event.payload.role === "assistant" && event.payload.isFinal
      ? [event.payload.text]
      : [],
  );
}
