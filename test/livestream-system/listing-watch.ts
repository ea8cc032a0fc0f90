import type { TestContext } from "node:test";
import * as v from "valibot";
import { EventListener } from "../api/livestream/event-listener.js";

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

/** Reads the state API's events in their order. */
export class ListingWatch {
  readonly #listener: EventListener;

  static async open(t: TestContext, port: number): Promise<ListingWatch> {
    const listener = await EventListener.open(port);
    t.after(() => listener.close());
    const watch = new ListingWatch(listener);
    await watch.until("snapshot");
    return watch;
  }

  private constructor(listener: EventListener) {
    this.#listener = listener;
  }

  /** Skips the events in between, and names them with the one that was waited for. */
  async until(
    name: string,
  ): Promise<{ readonly data: unknown; readonly skipped: readonly string[] }> {
    const skipped: string[] = [];
    for (;;) {
      const event = await this.#listener.next();
      if (event.name === name) return { data: event.data, skipped };
      skipped.push(event.name);
    }
  }
}

export async function listedStreams(port: number): Promise<readonly ListedStream[]> {
  const answer = await fetch(`http://127.0.0.1:${port}/streams`);
  const Listing = v.object({ data: v.object({ streams: v.array(Stream) }) });
  return v.parse(Listing, await answer.json()).data.streams;
}
