import type { Logger } from "../../../engine/log.js";
import type { Clock } from "../../../engine/time/clock.js";
import { within } from "../../../engine/time/deadline.js";
import { ladderArguments } from "./ladder-arguments.js";
import type { LadderPlan } from "./ladder-plan.js";
import { LadderProcess } from "./ladder-process.js";
import { LogRateLimiter } from "./log-rate-limiter.js";
import type { Tracks } from "./published-stream.js";
import { freeBytes, StreamFolder } from "./stream-folder.js";
import { TrackFlow, type TrackKind } from "./track-flow.js";
import type { TranscoderConfig } from "./transcoder-config.js";

/** ffmpeg reports its progress twice a second. */
const SILENT_MS = 1_600;
/** The time window of the measurement. */
const WINDOW_MS = 5_000;
/** A shorter span is not enough for a measurement. */
const SPAN_MIN_MS = 3_000;

interface Sample {
  readonly atMs: number;
  readonly madeMs: number;
}

/** How fast one ffmpeg produces its video, as a share of real time. */
export class RealtimeFactorMonitor {
  readonly #speedMin: number;
  #samples: Sample[] = [];

  /** A ladder below `speedMin`, a share of real time, is slow. */
  constructor(speedMin: number) {
    this.#speedMin = speedMin;
  }

  /** `madeMs`: how much video ffmpeg has produced since its start; `atMs` on the monotonic clock. */
  note(madeMs: number, atMs: number): void {
    this.#samples = this.#samples.filter((sample) => atMs - sample.atMs <= WINDOW_MS);
    this.#samples.push({ atMs, madeMs });
  }

  /**
   * Undefined until it has been measured for some seconds. The speed of an ffmpeg without reports decreases with
   * time.
   */
  speed(nowMs: number): number | undefined {
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (first === undefined || last === undefined) return undefined;
    const spanMs = Math.max(last.atMs, nowMs - 1_000) - first.atMs;
    return spanMs < SPAN_MIN_MS ? undefined : (last.madeMs - first.madeMs) / spanMs;
  }

  /** It works, but not fast enough. An ffmpeg without any reports hangs, and fewer renditions would not help it. */
  isSlow(nowMs: number): boolean {
    const speed = this.speed(nowMs);
    const saidMs = this.#samples.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY;
    return speed !== undefined && speed < this.#speedMin && nowMs - saidMs < SILENT_MS;
  }
}

/** How long ffmpeg may take to finish by itself, and again after our signal. */
const FINISH_MAX_MS = 5_000;
/** The longest pause before ffmpeg is restarted. */
const RESTART_PAUSE_MAX_MS = 10_000;
const FAILING_MS = 6_000;
/** A new ffmpeg has to wait for a keyframe and fill a segment, and for longer if keyframes are rare. */
const FIRST_SEGMENT_MAX_MS = 8_000;
/** An ffmpeg that ran for this long is restarted immediately. */
const RUN_IS_GOOD_MS = 30_000;

/** The input and the output of one ffmpeg. */
export interface LadderContent {
  readonly plan: LadderPlan;
  readonly tracks: Tracks;
  /** Tracks whose packets are watched: those in the ladder, and those that may return. */
  readonly watched: readonly TrackKind[];
}

export interface LadderRunParts {
  readonly streamKey: string;
  readonly folder: StreamFolder;
  readonly config: TranscoderConfig;
  readonly path: string;
  readonly clock: Clock;
  /** The time since 1970, unaffected by steps of the machine's clock. Names of segments derive from it. */
  readonly segmentEpochMs: () => number;
  readonly log: Logger;
  /** Default: the file system's free space for the folder. */
  readonly freeBytes?: (folder: string) => number;
}

/**
 * Keeps one ffmpeg producing the playlists of one broadcast: restarts it when it ends or stalls, and when the disk
 * has room again.
 */
export class LadderRun {
  readonly #parts: LadderRunParts;
  readonly #lines: LogRateLimiter;
  #content: LadderContent;
  #flow: TrackFlow;
  /** ffmpeg was killed so that another one can start immediately. */
  #isReplaced = false;
  #process: LadderProcess | undefined;
  #speed: RealtimeFactorMonitor;
  #startedMs = 0;
  #seen: ReadonlyMap<string, string> = new Map();
  #progressedMs = 0;
  #restarts = 0;
  #restartAtMs: number | undefined;
  #restartPauseMs = 0;
  #isWaitingForSpace = false;
  /** The space that must be free before it continues; undefined until its own files are gone. */
  #neededBytes: number | undefined;
  #isFinishing = false;
  /**
   * Renditions of an earlier plan stay on disk until the new ffmpeg has written its master: the old master names
   * them.
   */
  #hasOldRungs = false;

  constructor(parts: LadderRunParts, content: LadderContent) {
    this.#parts = parts;
    this.#content = content;
    this.#flow = new TrackFlow([], () => undefined);
    this.#lines = new LogRateLimiter(parts.clock);
    this.#speed = new RealtimeFactorMonitor(parts.config.speedMin);
  }

  get plan(): LadderPlan {
    return this.#content.plan;
  }

  get content(): LadderContent {
    return this.#content;
  }

  /** The tracks that the current ffmpeg reads. */
  get flow(): TrackFlow {
    return this.#flow;
  }

  get restarts(): number {
    return this.#restarts;
  }

  /**
   * When every rendition last had a new segment, on the monotonic clock; 0: not yet, or not since the disk was
   * full.
   */
  get progressedMs(): number {
    return this.#progressedMs;
  }

  /** Produces nothing, though there is a source and ffmpeg was restarted. */
  isFailing(nowMs: number): boolean {
    return (
      this.#isWaitingForSpace || (this.#restarts > 0 && nowMs - this.#progressedMs > FAILING_MS)
    );
  }

  /** Is slow, or one of its tracks may have ended. A new ffmpeg would wait for that track. */
  isUnsteady(nowMs: number): boolean {
    return this.isSlow(nowMs) || this.#flow.isUnsure(nowMs);
  }

  speed(nowMs: number): number | undefined {
    return this.#process === undefined ? undefined : this.#speed.speed(nowMs);
  }

  isSlow(nowMs: number): boolean {
    return this.#process !== undefined && this.#speed.isSlow(nowMs);
  }

  /** `isResumed`: continues in the playlists of a transcoder that was killed. */
  start(isResumed: boolean): void {
    const newest = isResumed ? this.#parts.folder.newest(this.plan.names) : undefined;
    // The files of the killed one are no progress of ours.
    if (newest !== undefined) this.#seen = newest;
    this.#start(newest !== undefined);
  }

  /** Restarts ffmpeg with other content. Renditions that are in both plans continue in their playlists. */
  change(content: LadderContent): void {
    this.#content = content;
    this.#restarts += 1;
    this.#restartPauseMs = 0;
    this.#restartAtMs = this.#parts.clock.monotonicMs();
    this.#replace();
  }

  /** Checks the files; true if every rendition has a newer segment than before. */
  advance(nowMs: number): boolean {
    const newest = this.#parts.folder.newest(this.plan.names);
    if (newest === undefined || this.#process === undefined) return false;
    for (const [rung, segment] of newest) if (this.#seen.get(rung) === segment) return false;
    this.#seen = newest;
    this.#progressedMs = nowMs;
    if (nowMs - this.#startedMs >= RUN_IS_GOOD_MS) this.#restartPauseMs = 0;
    return true;
  }

  /** Repairs what is wrong. */
  checkProgress(nowMs: number): void {
    if (this.#isFinishing) return;
    const { config } = this.#parts;
    if (this.#isWaitingForSpace) return this.#restartWithSpace();
    if (this.#isDiskFull()) return this.#waitForSpace();
    if (this.#restartAtMs !== undefined) {
      const isGone = this.#process?.hasEnded ?? true;
      if (isGone && nowMs >= this.#restartAtMs) this.#start(true);
      return;
    }
    if (this.#hasOldRungs && this.#progressedMs > this.#startedMs) {
      this.#hasOldRungs = !this.#parts.folder.dropRungsExcept(this.plan.names);
    }
    const quietMs = nowMs - Math.max(this.#progressedMs, this.#startedMs);
    const hasBegun = this.#progressedMs > this.#startedMs;
    if (quietMs > config.stallMs + (hasBegun ? 0 : FIRST_SEGMENT_MAX_MS)) {
      this.#process?.signal("SIGKILL");
      this.#restartLater(`produced no segment for ${config.stallMs / 1_000} s`);
    }
  }

  /** Resolves when ffmpeg has ended and players know that nothing more follows. */
  async finish(isSourceGone: boolean): Promise<void> {
    this.#isFinishing = true;
    const running = this.#process;
    if (running !== undefined && !running.hasEnded) {
      const { clock } = this.#parts;
      // After the end of its source ffmpeg ends by itself, and a signal in the middle of that would
      // cost a segment.
      if (isSourceGone) await within(clock, FINISH_MAX_MS, running.ended);
      running.signal("SIGINT");
      await within(clock, FINISH_MAX_MS, running.ended);
      running.signal("SIGKILL");
      await running.ended;
    }
    this.#parts.folder.end();
  }

  #start(isResumed: boolean): void {
    const { folder, config, path, clock, streamKey, segmentEpochMs } = this.#parts;
    const { names } = this.plan;
    const sequences = isResumed ? names.flatMap((name) => folder.mediaSequence(name) ?? []) : [];
    this.#hasOldRungs = sequences.length > 0;
    if (this.#hasOldRungs) folder.dropLeftovers();
    else folder.clear();
    // Existing playlists keep their numbers unless the given one is above them.
    const firstNumber =
      sequences.length > 0 ? Math.min(...sequences) : StreamFolder.freshNumber(segmentEpochMs());
    const args = ladderArguments({
      ...config,
      ...this.#content,
      sourceUrl: config.sourceUrl.replace("KEY", streamKey),
      folder: folder.path,
      firstNumber,
      isResumed: sequences.length > 0,
    });
    this.#startedMs = clock.monotonicMs();
    this.#restartAtMs = undefined;
    const speed = new RealtimeFactorMonitor(config.speedMin);
    this.#speed = speed;
    const flow = new TrackFlow(this.#content.watched, () => {
      if (this.#process === started) this.#jumped();
    });
    this.#flow = flow;
    this.#isReplaced = false;
    const started: LadderProcess = new LadderProcess(args, config, path, {
      onProgress: (madeMs) => speed.note(madeMs, clock.monotonicMs()),
      onLine: (line) => {
        flow.noteLine(line);
        this.#relay(line);
      },
      onPackets: (kind, chunk) => flow.note(kind, chunk, clock.monotonicMs()),
      onEnded: (how) => {
        if (this.#process === started) this.#ended(how);
      },
    });
    this.#process = started;
  }

  /** After a jump of the timestamps players get a discontinuity. */
  #jumped(): void {
    if (this.#isFinishing || this.#isWaitingForSpace || this.#restartAtMs !== undefined) return;
    this.#restartLater("its timestamps have jumped");
    this.#replace();
  }

  #replace(): void {
    this.#isReplaced = true;
    this.#process?.signal("SIGKILL");
  }

  #ended(how: string): void {
    if (this.#isFinishing) return;
    const isDue =
      (this.#restartAtMs ?? Number.POSITIVE_INFINITY) <= this.#parts.clock.monotonicMs();
    if (this.#isReplaced && isDue && !this.#isWaitingForSpace && !this.#isDiskFull())
      return this.#restart();
    // Immediately: the other ladders need not stop then.
    if (this.#isWaitingForSpace) this.#neededBytes ??= this.#freeSpace();
    if (this.#isWaitingForSpace || this.#restartAtMs !== undefined) return;
    this.#restartLater(`ffmpeg ${how}`);
  }

  #restart(): void {
    try {
      this.#start(true);
    } catch (error) {
      const { log, streamKey } = this.#parts;
      log.error({ streamKey, error }, "ffmpeg cannot be started: retrying in 1 s");
    }
  }

  /** Immediately after a long run, otherwise with growing pauses. */
  #restartLater(reason: string): void {
    const { clock, log, streamKey } = this.#parts;
    const afterSec = this.#restartPauseMs / 1_000;
    log.warn({ streamKey, reason, afterSec }, "the ladder starts again");
    this.#restarts += 1;
    this.#restartAtMs = clock.monotonicMs() + this.#restartPauseMs;
    this.#restartPauseMs = Math.min(this.#restartPauseMs * 2 + 1_000, RESTART_PAUSE_MAX_MS);
  }

  #isDiskFull(): boolean {
    return this.#freeBytes() < this.#parts.config.diskFreeMinBytes;
  }

  /** No half-written segments. */
  #waitForSpace(): void {
    const { config, log, streamKey } = this.#parts;
    const neededKiB = config.diskFreeMinBytes / 1_024;
    log.error(
      { streamKey, folder: config.hlsRoot, neededKiB },
      "disk full: stopped until there is room",
    );
    this.#isWaitingForSpace = true;
    this.#neededBytes = undefined;
    this.#restartAtMs = undefined;
    this.#progressedMs = 0;
    this.#process?.signal("SIGKILL");
  }

  #restartWithSpace(): void {
    if (this.#process !== undefined && !this.#process.hasEnded) return;
    this.#neededBytes ??= this.#freeSpace();
    if (this.#freeBytes() < this.#neededBytes) return;
    this.#isWaitingForSpace = false;
    this.#parts.log.info({ streamKey: this.#parts.streamKey }, "has room again");
    this.#start(false);
  }

  /**
   * Removes its unlisted files, because if all ladders waited with their files none would ever have room. Returns
   * the space that must be free: with only its own space it would fill the disk again.
   */
  #freeSpace(): number {
    const { config, folder } = this.#parts;
    const freeBeforeBytes = this.#freeBytes();
    folder.clear();
    return config.diskFreeMinBytes + Math.max(0, this.#freeBytes() - freeBeforeBytes);
  }

  #freeBytes(): number {
    const { config, freeBytes: readFreeBytes = freeBytes } = this.#parts;
    return readFreeBytes(config.hlsRoot);
  }

  #relay(line: string): void {
    const { log, streamKey } = this.#parts;
    if (this.#lines.takes())
      log.warn({ streamKey, ffmpeg: line.slice(0, 300) }, "ffmpeg complains");
  }
}

/** The folder of a stream's files. */
export function folderOf(config: TranscoderConfig, streamKey: string): StreamFolder {
  return new StreamFolder(config.hlsRoot, streamKey, config);
}
