import type { LiveStream } from "./live-stream.js";

/** The live streams in the order of their start. */
export class StreamBoard {
  #streams = new Map<string, LiveStream>();
  /** Counts the changes, so that a response to an earlier request can be recognized as outdated. */
  #version = 0;

  get version(): number {
    return this.#version;
  }

  all(): readonly LiveStream[] {
    return [...this.#streams.values()].sort((one, other) => one.startedMs - other.startedMs);
  }

  reset(streams: readonly LiveStream[]): void {
    this.#version += 1;
    this.#streams = new Map(streams.map((stream) => [stream.streamKey, stream]));
  }

  put(stream: LiveStream): void {
    this.#version += 1;
    this.#streams.set(stream.streamKey, stream);
  }

  count(viewersByStream: ReadonlyMap<string, number>): void {
    this.#version += 1;
    for (const [streamKey, viewers] of viewersByStream) {
      const stream = this.#streams.get(streamKey);
      if (stream !== undefined) this.#streams.set(streamKey, { ...stream, viewers });
    }
  }

  remove(streamKey: string): void {
    this.#version += 1;
    this.#streams.delete(streamKey);
  }
}
