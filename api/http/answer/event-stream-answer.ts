import { type EventStream, eventText, type StreamEvents } from "../../contract/event-stream.js";
import type { HeaderLine, StreamedAnswer } from "./answer.js";

const EVENT_STREAM_TYPE = "text/event-stream; charset=utf-8";
/** Proxies that collect answers before they pass them on are asked not to. */
const UNBUFFERED: readonly HeaderLine[] = [["x-accel-buffering", "no"]];

export function eventStreamAnswer<Events extends StreamEvents>(
  status: number,
  { produce }: EventStream<Events>,
): StreamedAnswer {
  return {
    status,
    contentType: EVENT_STREAM_TYPE,
    headers: UNBUFFERED,
    produce: (write, signal) =>
      produce(
        {
          event: (name, data) => write(eventText(name, data)),
          batch: ({ text }) => write(text),
        },
        signal,
      ),
  };
}
