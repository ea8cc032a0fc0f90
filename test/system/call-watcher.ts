import assert from "node:assert/strict";
import { readEvents, type StreamedEvent } from "../api/contract/event-stream-reader.js";
import { Changes } from "../doubles/changes.js";

export interface WatcherOptions {
  readonly url: string;
  /** An API key, or the token of a user who has signed in. */
  readonly apiKey: string;
  /** Omitted: all calls of the organization. */
  readonly callId?: string;
}

/** A user with a page open that watches calls. */
export class CallWatcher {
  readonly #changes = new Changes();
  readonly #abort: AbortController;
  #text = "";
  #isOver = false;

  /** Resolves when the watch is established, so that no event is missed. */
  static async open({ url, apiKey, callId }: WatcherOptions): Promise<CallWatcher> {
    const abort = new AbortController();
    const path = callId === undefined ? "events" : `${callId}/events`;
    const response = await fetch(`${url}/api/dashboard/calls/${path}`, {
      headers: apiKey.startsWith("vk_")
        ? { "x-api-key": apiKey }
        : { authorization: `Bearer ${apiKey}` },
      signal: abort.signal,
    });
    assert.equal(response.status, 200);
    assert.ok(response.body);
    const watcher = new CallWatcher(abort, response.body);
    await watcher.until("watching");
    return watcher;
  }

  private constructor(abort: AbortController, body: ReadableStream<Uint8Array>) {
    this.#abort = abort;
    void this.#read(body);
  }

  get events(): readonly StreamedEvent[] {
    return readEvents(this.#text);
  }

  of(name: string): readonly Readonly<Record<string, unknown>>[] {
    return this.events.filter((event) => event.name === name).map(({ data }) => Object(data));
  }

  /** Resolves with the first event of that name for which `is` returns true. */
  until(
    name: string,
    is: (data: Readonly<Record<string, unknown>>) => boolean = () => true,
  ): Promise<Readonly<Record<string, unknown>>> {
    return this.#changes.until(`the event ${name}`, () => this.of(name).find(is));
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  over(): Promise<unknown> {
    return this.#changes.until("the end of the stream", () => this.#isOver);
  }

  close(): void {
    this.#abort.abort();
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const bytes of body) {
        this.#text += decoder.decode(bytes, { stream: true });
        this.#changes.tell();
      }
    } catch (error) {
      if (!this.#abort.signal.aborted) throw error;
    }
    this.#isOver = true;
    this.#changes.tell();
  }
}
