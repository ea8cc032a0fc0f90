import type { EventStream, StreamEvents } from "../contract/event-stream.js";
import type { HeaderLine, StreamedAnswer } from "./answer.js";

const EVENT_STREAM_TYPE = "text/event-stream; charset=utf-8";
/** Proxies that collect answers before they pass them on are asked not to. */
const UNBUFFERED: readonly HeaderLine[] = [["x-accel-buffering", "no"]];

/** Writes events as the HTML standard wants server-sent events; JSON has no line breaks, so `data` is one line. */
export function eventStreamAnswer(
  status: number,
  { produce }: EventStream<StreamEvents>,
): StreamedAnswer {
  return {
    status,
    contentType: EVENT_STREAM_TYPE,
    headers: UNBUFFERED,
    produce: (write, signal) =>
      produce((name, data) => write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`), signal),
  };
}
