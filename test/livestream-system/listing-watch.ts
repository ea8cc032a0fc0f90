import type { TestContext } from "node:test";
import * as v from "valibot";
import { EventListener } from "../api/livestream/event-listener.js";
import { inTime } from "./in-time.js";

const Stream = v.object({
  streamKey: v.string(),
  startedAt: v.string(),
  clientIp: v.string(),
  masterPlaylistUrl: v.string(),
  qualities: v.array(
    v.object({ name: v.string(), width: v.number(), height: v.number(), bandwidth: v.number() }),
  ),
});

export type ListedStream = v.InferOutput<typeof Stream>;

/** Reads the state API's events in order. */
export class ListingWatch {
  /** The number of streams that were live when it began to listen. */
  readonly countAtOpen: number;
  readonly #listener: EventListener;

  static async open(t: TestContext, port: number): Promise<ListingWatch> {
    const listener = await EventListener.open(port);
    t.after(() => listener.close());
    const { data } = await inTime(listener.next(), "the snapshot");
    return new ListingWatch(listener, v.parse(v.object({ count: v.number() }), data).count);
  }

  private constructor(listener: EventListener, countAtOpen: number) {
    this.#listener = listener;
    this.countAtOpen = countAtOpen;
  }

  /** Resolves with the next event of this name; skips others. */
  async until(name: string): Promise<void> {
    while ((await inTime(this.#listener.next(), `the event ${name}`)).name !== name);
  }
}

export async function listedStreams(port: number): Promise<readonly ListedStream[]> {
  const answer = await fetch(`http://127.0.0.1:${port}/streams`);
  const Listing = v.object({ data: v.object({ streams: v.array(Stream) }) });
  return v.parse(Listing, await answer.json()).data.streams;
}
