import { accessSync, constants } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { ConfigError, readEnvironment } from "../../config.js";
import { type Logger, newLogger } from "../../engine/log.js";
import { type Clock, SystemClock } from "../../engine/time/clock.js";
import { ChangeNotifier } from "../livestream/transcoder/change-notifier.js";
import { EncodingBudget } from "../livestream/transcoder/encoding-budget.js";
import { measureEncoding } from "../livestream/transcoder/encoding-measure.js";
import { MachineLoad } from "../livestream/transcoder/machine-load.js";
import { MediaMtxPaths } from "../livestream/transcoder/mediamtx-paths.js";
import { NginxStatistics } from "../livestream/transcoder/nginx-statistics.js";
import { remuxToMp4 } from "../livestream/transcoder/recording/mp4-remuxer.js";
import { RecordingArchive } from "../livestream/transcoder/recording/recording-archive.js";
import { SessionRecords } from "../livestream/transcoder/session-records.js";
import { StateApiClient } from "../livestream/transcoder/state-api-client.js";
import { Transcoder } from "../livestream/transcoder/transcoder.js";
import {
  parseTranscoderConfig,
  type TranscoderConfig,
} from "../livestream/transcoder/transcoder-config.js";

/** The capacity until it is measured: about one 720p ladder, which every current machine can encode. */
const UNMEASURED_MEGAPIXELS = 60;

/**
 * The cores that a passed-through stream uses, including its share of media server, proxy and this process: 0.015, or
 * 0.03 if its audio is encoded (720p30).
 */
const BROADCASTS_PER_CORE = 20;

/**
 * Makes HLS of the streams that a media server on this machine receives. Runs as a process beside that server and ends
 * on SIGTERM or SIGINT.
 */
async function main(): Promise<void> {
  const environment = readEnvironment();
  const config = parseTranscoderConfig(environment);
  requireFolder("HLS_ROOT", config.hlsRoot);
  const log = newLogger(config.logLevel);
  const path = environment["PATH"] ?? "";
  const clock = new SystemClock();
  const isMeasured = config.encodeMegapixelsMax === 0;
  const budget = new EncodingBudget(
    isMeasured ? UNMEASURED_MEGAPIXELS : config.encodeMegapixelsMax,
    new MachineLoad(coreTimes),
  );
  const mediaServer =
    config.nginxStatUrl === undefined
      ? new MediaMtxPaths(config.mediaMtxApiUrl)
      : new NginxStatistics(config.nginxStatUrl);
  const shelf = recordingShelf(config, path, clock, log);
  const { recordedKeys } = config;
  const isRecorded = (streamKey: string) =>
    recordedKeys.length === 0 || recordedKeys.includes(streamKey);
  const transcoder = new Transcoder({
    config,
    record: (streamKey, startedAtMs) =>
      isRecorded(streamKey) ? shelf?.record(streamKey, startedAtMs) : undefined,
    api: new StateApiClient(config.stateApiUrl),
    records: new SessionRecords(config.runFolder),
    mediaServer,
    budget,
    broadcastsMax: config.broadcastsMax || BROADCASTS_PER_CORE * availableParallelism(),
    path,
    clock,
    log,
  });
  const bell = await ChangeNotifier.open(config.port, () => void transcoder.poll());
  let isStopping = false;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (isStopping) return;
      isStopping = true;
      bell.close();
      void transcoder.stop().then(() => process.exit());
    });
  }
  if (isMeasured) {
    const megapixels = await measureEncoding(config.preset, availableParallelism(), path);
    if (megapixels === undefined)
      log.error({}, "failed to measure this machine's encoding capacity");
    else budget.measured = megapixels;
    log.info(
      { megapixelsPerSec: Math.round(budget.megapixelsMax) },
      "measured this machine's encoding capacity",
    );
  }
}

function coreTimes(): { busyMs: number; idleMs: number } {
  let busyMs = 0;
  let idleMs = 0;
  for (const { times } of cpus()) {
    busyMs += times.user + times.nice + times.sys + times.irq;
    idleMs += times.idle;
  }
  return { busyMs, idleMs };
}

/** Returns undefined if nothing is recorded. */
function recordingShelf(
  config: TranscoderConfig,
  path: string,
  clock: Clock,
  log: Logger,
): RecordingArchive | undefined {
  const { recordings, remuxesToMp4 } = config;
  if (recordings === undefined) return undefined;
  requireFolder("RECORD_DIR", recordings.root);
  const mp4 = (folder: string) => remuxToMp4(folder, { owner: config, path });
  return new RecordingArchive(recordings, clock, log, remuxesToMp4 ? mp4 : undefined);
}

function requireFolder(setting: string, path: string): void {
  try {
    accessSync(path, constants.W_OK);
  } catch {
    throw new ConfigError([`${setting}: expected a folder that can be written to, not ${path}`]);
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof ConfigError ? error.message : error);
  process.exit(1);
});
