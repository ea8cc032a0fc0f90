import assert from "node:assert/strict";
import { test } from "node:test";
import {
  LiveStreamMetrics,
  type LiveStreamMetricsSources,
} from "../../../engine/metrics/livestream-metrics.js";
import { VERSION } from "../../../engine/version.js";

const NOTHING: LiveStreamMetricsSources = {
  streams: () => 0,
  listeners: () => 0,
  viewers: () => [],
  ladders: () => [],
};

async function told(metrics: LiveStreamMetrics, prefix = "parley_livestream_") {
  return (await metrics.text()).split("\n").filter((line) => line.startsWith(prefix));
}

test("streams, listeners, viewers and ladders have their current values", async () => {
  let viewers: (readonly [string, number])[] = [
    ["one", 5],
    ["two", 6],
  ];
  const metrics = new LiveStreamMetrics({
    streams: () => 3,
    listeners: () => 4,
    viewers: () => viewers,
    ladders: () => [
      { streamKey: "one", speed: 0.5, rungs: ["360p", "720p"], restarts: 7 },
      { streamKey: "two", speed: undefined, rungs: [], restarts: 0 },
    ],
  });
  const laddersTold = [
    'parley_livestream_ladder_speed{stream="one"} 0.5',
    'parley_livestream_ladder_rungs{stream="one"} 2',
    'parley_livestream_ladder_rungs{stream="two"} 0',
    'parley_livestream_ladder_restarts{stream="one"} 7',
    'parley_livestream_ladder_restarts{stream="two"} 0',
  ];
  assert.deepEqual(await told(metrics), [
    "parley_livestream_streams 3",
    "parley_livestream_listeners 4",
    'parley_livestream_viewers{stream="one"} 5',
    'parley_livestream_viewers{stream="two"} 6',
    ...laddersTold,
  ]);
  viewers = [["two", 1]];
  assert.deepEqual(await told(metrics, "parley_livestream_viewers"), [
    'parley_livestream_viewers{stream="two"} 1',
  ]);
});

test("each kind of request is counted by its outcome", async () => {
  const metrics = new LiveStreamMetrics(NOTHING);
  for (const name of ["publishes", "unpublishes", "authentications", "playlistReads"] as const) {
    metrics.count(name, "ok");
  }
  metrics.count("listenersEnded", "left");
  metrics.count("publishes", "ok");
  metrics.count("publishes", "refused");
  const counts = (await told(metrics)).filter((line) => line.includes("_total"));
  assert.deepEqual(counts, [
    'parley_livestream_publishes_total{outcome="ok"} 2',
    'parley_livestream_publishes_total{outcome="refused"} 1',
    'parley_livestream_unpublishes_total{outcome="ok"} 1',
    'parley_livestream_authentications_total{outcome="ok"} 1',
    'parley_livestream_listeners_ended_total{outcome="left"} 1',
    'parley_livestream_playlist_reads_total{outcome="ok"} 1',
  ]);
});

test("the page contains the build, but no figures of the library's event loop monitor", async () => {
  const metrics = new LiveStreamMetrics(NOTHING);
  assert.deepEqual(await told(metrics, "parley_build_info"), [
    `parley_build_info{version="${VERSION}",node="${process.version}"} 1`,
  ]);
  const lag = await told(metrics, "nodejs_eventloop_lag_");
  assert.deepEqual(
    lag.map((line) => line.replace(/ .*/, "")),
    ["nodejs_eventloop_lag_seconds"],
  );
});
