import { Counter, Gauge, Registry } from "prom-client";
import { collectProcessMetrics } from "./process-metrics.js";

/** A live stream that is transcoded. */
interface LadderNumbers {
  readonly streamKey: string;
  readonly speed: number | undefined;
  readonly rungs: readonly string[];
  readonly restarts: number;
}

/** Values that are read at each scrape. */
export interface LiveStreamMetricsSources {
  readonly streams: () => number;
  readonly listeners: () => number;
  /** Viewers by stream key; limited by the number of live streams. */
  readonly viewers: () => Iterable<readonly [streamKey: string, viewers: number]>;
  /** Limited by the number of ladders that the state API keeps. */
  readonly ladders: () => readonly LadderNumbers[];
}

type CounterName =
  | "publishes"
  | "unpublishes"
  | "authentications"
  | "listenersEnded"
  | "playlistReads";

/** The metrics of the live-stream state API for Prometheus. Labels have small fixed sets of values, except `stream`. */
export class LiveStreamMetrics {
  readonly #registry = new Registry();
  readonly #counters: Readonly<Record<CounterName, Counter<"outcome">>> = {
    publishes: this.#counter("publishes", "Accepted or refused calls of on-publish"),
    unpublishes: this.#counter("unpublishes", "Calls of on-unpublish"),
    authentications: this.#counter("authentications", "Calls of on-auth"),
    listenersEnded: this.#counter("listeners_ended", "Event listeners that disconnected"),
    playlistReads: this.#counter("playlist_reads", "Reads of master playlists by outcome"),
  };

  constructor({ streams, listeners, viewers, ladders }: LiveStreamMetricsSources) {
    collectProcessMetrics(this.#registry);
    this.#gauge("parley_livestream_streams", "Streams that are live", streams);
    this.#gauge("parley_livestream_listeners", "Connected event listeners", listeners);
    this.#streamGauge("viewers", "Players that request a stream's playlists", viewers);
    this.#streamGauge("ladder_speed", "Encoding speed of a stream relative to real time", () =>
      ladders().flatMap(({ streamKey, speed }) =>
        speed === undefined ? [] : [[streamKey, speed] as const],
      ),
    );
    this.#streamGauge("ladder_rungs", "Playlists that are encoded for a stream", () =>
      ladders().map(({ streamKey, rungs }) => [streamKey, rungs.length] as const),
    );
    this.#streamGauge("ladder_restarts", "Restarts of a stream's ffmpeg", () =>
      ladders().map(({ streamKey, restarts }) => [streamKey, restarts] as const),
    );
  }

  count(name: CounterName, outcome: string): void {
    this.#counters[name].inc({ outcome });
  }

  /** The metrics in Prometheus' text format. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  #counter(name: string, help: string): Counter<"outcome"> {
    const registers = [this.#registry];
    const full = `parley_livestream_${name}_total`;
    return new Counter({ name: full, help, labelNames: ["outcome"], registers });
  }

  #gauge(name: string, help: string, read: () => number): void {
    const gauge = new Gauge({
      name,
      help,
      registers: [],
      collect() {
        this.set(read());
      },
    });
    this.#registry.registerMetric(gauge);
  }

  #streamGauge(
    name: string,
    help: string,
    read: () => Iterable<readonly [streamKey: string, value: number]>,
  ): void {
    const gauge = new Gauge({
      name: `parley_livestream_${name}`,
      help,
      labelNames: ["stream"],
      registers: [],
      collect() {
        this.reset();
        for (const [stream, value] of read()) this.set({ stream }, value);
      },
    });
    this.#registry.registerMetric(gauge);
  }
}
