import { Counter, Gauge, Registry } from "prom-client";
import { collectProcessMetrics } from "./process-metrics.js";

/** One broadcast that is transcoded. */
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
  /** By stream key; bounded by the streams that may be live. */
  readonly viewers: () => Iterable<readonly [streamKey: string, viewers: number]>;
  /** Bounded by the ladders that the state API keeps. */
  readonly ladders: () => readonly LadderNumbers[];
}

type CounterName =
  | "publishes"
  | "unpublishes"
  | "authentications"
  | "listenersEnded"
  | "playlistReads";

/** The live-stream state API in numbers, for Prometheus. Labels come from small fixed sets, but for `stream`. */
export class LiveStreamMetrics {
  readonly #registry = new Registry();
  readonly #counters: Readonly<Record<CounterName, Counter<"outcome">>> = {
    publishes: this.#counter("publishes", "Accepted or refused calls of on-publish"),
    unpublishes: this.#counter("unpublishes", "Calls of on-unpublish"),
    authentications: this.#counter("authentications", "Calls of on-auth"),
    listenersEnded: this.#counter("listeners_ended", "Listeners to events that left"),
    playlistReads: this.#counter("playlist_reads", "Master playlists that were looked at"),
  };

  constructor({ streams, listeners, viewers, ladders }: LiveStreamMetricsSources) {
    collectProcessMetrics(this.#registry);
    this.#gauge("parley_livestream_streams", "Streams that are live", streams);
    this.#gauge("parley_livestream_listeners", "Listeners to events", listeners);
    this.#streamGauge("viewers", "Players that ask for a stream's playlists", viewers);
    this.#streamGauge("ladder_speed", "How fast a stream is made, as a part of real time", () =>
      ladders().flatMap(({ streamKey, speed }) =>
        speed === undefined ? [] : [[streamKey, speed] as const],
      ),
    );
    this.#streamGauge("ladder_rungs", "Playlists that are made of a stream", () =>
      ladders().map(({ streamKey, rungs }) => [streamKey, rungs.length] as const),
    );
    this.#streamGauge("ladder_restarts", "How often a stream's ffmpeg was started again", () =>
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
