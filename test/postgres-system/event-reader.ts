import type { TestContext } from "node:test";
import * as v from "valibot";
import { readEvents } from "../api/contract/event-stream-reader.js";
import { Changes } from "../doubles/changes.js";

const Data = v.record(v.string(), v.unknown());

interface ReadEvent {
  readonly name: string;
  readonly data: v.InferOutput<typeof Data>;
}

/** Reads server-sent events as they come, until the test is over. */
export class EventReader {
  readonly #changes = new Changes();
  #events: readonly ReadEvent[] = [];
  /** The stream has broken. */
  #fault: { readonly error: unknown } | undefined;

  static async open(context: TestContext, url: string, apiKey: string): Promise<EventReader> {
    const abort = new AbortController();
    context.after(() => abort.abort());
    const response = await fetch(url, { headers: { "x-api-key": apiKey }, signal: abort.signal });
    if (!response.ok || response.body === null) throw new Error(await response.text());
    const reader = new EventReader();
    reader.#read(response.body).catch((error: unknown) => {
      reader.#fault = { error };
      reader.#changes.tell();
    });
    return reader;
  }

  get events(): readonly ReadEvent[] {
    return this.#events;
  }

  /** The first such event, also one that has come already. */
  until(isIt: (event: ReadEvent) => boolean): Promise<ReadEvent> {
    return this.#changes.until("an event", () => {
      if (this.#fault !== undefined) throw this.#fault.error;
      return this.#events.find(isIt);
    });
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let text = "";
    for await (const bytes of body) {
      text += decoder.decode(bytes, { stream: true });
      this.#events = readEvents(text).map(({ name, data }) => ({
        name,
        data: v.parse(Data, data),
      }));
      this.#changes.tell();
    }
  }
}
