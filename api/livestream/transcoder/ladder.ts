import type { Logger } from "../../../engine/log.js";
import type { CancelTimer, Clock } from "../../../engine/time/clock.js";
import { within } from "../../../engine/time/deadline.js";
import { type LadderPlan, ladderPlans, levelBelow } from "./ladder-plan.js";
import { folderOf, LadderRun } from "./ladder-run.js";
import { ListingKeeper } from "./listing-keeper.js";
import type { PublishedStream, Tracks } from "./published-stream.js";
import type { RecordedRung, Recording } from "./recording/recording.js";
import type { SessionRecords } from "./session-records.js";
import type { SourceDescriber } from "./source-describer.js";
import type { LadderReport, StateApiClient } from "./state-api-client.js";
import type { TranscoderConfig } from "./transcoder-config.js";

/** How often the playlists are looked at, until the stream is listed and then. */
const LOOK_PERIOD_MS = 100;
const MEND_PERIOD_MS = 1_000;
const REPORT_PERIOD_MS = 2_000;
/** A disk that hangs may not keep the key from its next broadcast. */
const LAST_SEGMENTS_MAX_MS = 5_000;

export interface LadderParts {
  readonly config: TranscoderConfig;
  readonly api: StateApiClient;
  readonly records: SessionRecords;
  /** Begins to keep a broadcast; undefined where it is not to be kept. */
  readonly record: (streamKey: string, startedAtMs: number) => Recording | undefined;
  /** Where PATH is looked up for ffmpeg. */
  readonly path: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Which of the plans, the whole one first, this machine has room for. */
  readonly admit: (plans: readonly LadderPlan[]) => number;
}

/** One broadcast, from its beginning to its end: what it holds, its ffmpeg, and that it is listed. */
export class Ladder {
  readonly streamKey: string;
  readonly session: string;
  readonly #parts: LadderParts;
  readonly #listing: ListingKeeper;
  readonly #source: SourceDescriber;
  readonly #clientIp: string | undefined;
  readonly #startedAtMs: number;
  readonly #stopLooking: CancelTimer;
  readonly #oldRungs: string;
  #plans: readonly LadderPlan[] = [];
  #level = 0;
  #run: LadderRun | undefined;
  #recording: Recording | undefined;
  #mendedMs = 0;
  /** Not begun before, since it could not be. */
  #beginAtMs = 0;
  #reason: string | undefined;
  #reportAtMs = 0;
  #toldState: LadderReport["state"] | undefined;
  #leaving: Promise<void> | undefined;

  constructor(stream: PublishedStream, source: SourceDescriber, parts: LadderParts) {
    const { records, clock, config, api, log } = parts;
    const { streamKey, session } = stream;
    this.streamKey = streamKey;
    this.session = session;
    this.#parts = parts;
    this.#source = source;
    const old = records.read(streamKey);
    const isTakenOver = old?.session === session;
    this.#oldRungs = isTakenOver ? old.rungs.join(" ") : "";
    this.#startedAtMs = isTakenOver ? old.startedAtMs : clock.epochMs();
    this.#clientIp = stream.clientIp ?? (isTakenOver ? old.clientIp : undefined);
    const { leaseSec, heartbeatMs } = config;
    this.#listing = new ListingKeeper(
      {
        streamKey,
        session,
        clientIp: this.#clientIp,
        startedAtMs: this.#startedAtMs,
        leaseSec,
      },
      api,
      heartbeatMs,
      log,
    );
    this.#stopLooking = clock.every(LOOK_PERIOD_MS, () => this.#look());
  }

  /** Megapixels a second that it encodes now. */
  get megapixels(): number {
    return this.#run?.plan.megapixels ?? 0;
  }

  /** The media server tells of the tracks as they come. */
  see(tracks: Tracks): void {
    this.#source.see(tracks);
  }

  /** Falls behind, and has something that it can drop. */
  isTooSlow(nowMs: number): boolean {
    return this.#level < this.#plans.length - 1 && (this.#run?.isSlow(nowMs) ?? false);
  }

  /** Drops the top rung, and more of them where its speed says so; at last passes on what came. */
  stepDown(): void {
    const run = this.#run;
    const { log, clock } = this.#parts;
    const made = run?.speed(clock.monotonicMs()) ?? 1;
    const level = levelBelow(this.#plans, this.#level, made);
    const plan = this.#plans[level];
    if (run === undefined || plan === undefined || this.#leaving !== undefined) return;
    const speed = made.toFixed(2);
    this.#level = level;
    this.#reason = `made at ${speed} of real time: reduced to ${plan.names.join(" ")}`;
    log.warn(
      { streamKey: this.streamKey, speed, rungs: plan.names.join(" ") },
      "overload: rungs are dropped",
    );
    run.change(plan);
    this.#remember(plan);
  }

  /** The broadcaster has gone, or this service stops. Resolves when nothing of the stream runs any more. */
  leave(isSourceGone: boolean): Promise<void> {
    this.#leaving ??= this.#end(isSourceGone);
    return this.#leaving;
  }

  /** How it does, for those who look at the whole machine. */
  get report(): LadderReport {
    const nowMs = this.#parts.clock.monotonicMs();
    const run = this.#run;
    return {
      streamKey: this.streamKey,
      session: this.session,
      state: this.#state(nowMs),
      speed: run?.speed(nowMs),
      rungs: run?.plan.names ?? [],
      restarts: run?.restarts ?? 0,
      reason: this.#recording?.problem ?? this.#reason,
      leaseSec: this.#parts.config.leaseSec,
    };
  }

  #state(nowMs: number): LadderReport["state"] {
    if (this.#source.unreadable !== undefined) return "unreadable";
    if (this.#run?.isFailing(nowMs) === true) return "failing";
    if (this.#run === undefined || this.#run.progressedMs === 0) return "starting";
    if (this.#run.isSlow(nowMs)) return "slow";
    if (this.#recording?.problem !== undefined) return "unrecorded";
    return this.#level > 0 ? "reduced" : "running";
  }

  #look(): void {
    if (this.#leaving !== undefined) return;
    try {
      const nowMs = this.#parts.clock.monotonicMs();
      if (this.#run !== undefined) this.#watch(this.#run, nowMs);
      else if (nowMs >= this.#beginAtMs) this.#begin(nowMs);
      this.#tell(nowMs);
    } catch (error) {
      // A disk that fails: the next look is a second away.
      this.#mendedMs = this.#parts.clock.monotonicMs();
      this.#beginAtMs = this.#mendedMs + MEND_PERIOD_MS;
      this.#parts.log.error(
        { streamKey: this.streamKey, error },
        "a ladder cannot be looked after",
      );
    }
  }

  #begin(nowMs: number): void {
    const tracks = this.#source.describe(nowMs);
    const { config, admit, log, path, clock } = this.#parts;
    const { streamKey } = this;
    if (this.#source.unreadable !== undefined) this.#reason = this.#source.unreadable;
    if (tracks === undefined) return;
    this.#plans = ladderPlans(tracks, config);
    this.#level = admit(this.#plans);
    const plan = this.#plans[this.#level];
    if (plan === undefined) return;
    if (this.#level > 0) {
      this.#reason = `the machine has no room for all rungs: ${plan.names.join(" ")}`;
      log.warn({ streamKey, rungs: plan.names.join(" ") }, "no room for the whole ladder");
    }
    const { video, audioCodec } = tracks;
    const size = video === undefined ? undefined : `${video.width}x${video.height}`;
    const { session } = this;
    log.info(
      { streamKey, session, size, video: video?.codec, audio: audioCodec },
      "broadcast begins",
    );
    this.#remember(plan);
    const folder = folderOf(config, streamKey);
    this.#run = new LadderRun({ streamKey, tracks, folder, config, path, clock, log }, plan);
    this.#run.start(this.#oldRungs === plan.names.join(" "));
    this.#recording = this.#parts.record(streamKey, this.#startedAtMs);
  }

  #watch(run: LadderRun, nowMs: number): void {
    const isDue = nowMs - this.#mendedMs >= MEND_PERIOD_MS;
    if (!isDue && this.#listing.isListed) return;
    const { config, log } = this.#parts;
    run.advance(nowMs);
    if (isDue) {
      this.#mendedMs = nowMs;
      run.mend(nowMs);
      void this.#recording?.take(this.#recordable(run));
    }
    const isAlive = run.progressedMs > 0 && nowMs - run.progressedMs <= config.deadMs;
    if (isAlive) return this.#listing.keep(nowMs, run.plan.names);
    if (!this.#listing.isListed) return;
    log.error({ streamKey: this.streamKey }, "un-listed: no new segment");
    void this.#listing.withdraw();
  }

  /** At each change of how it does, and from time to time. */
  #tell(nowMs: number): void {
    const { report } = this;
    if (nowMs < this.#reportAtMs && report.state === this.#toldState) return;
    this.#reportAtMs = nowMs + REPORT_PERIOD_MS;
    this.#toldState = report.state;
    void this.#parts.api.report(report);
  }

  #remember({ names }: LadderPlan): void {
    this.#parts.records.write(this.streamKey, {
      session: this.session,
      startedAtMs: this.#startedAtMs,
      clientIp: this.#clientIp,
      rungs: [...names],
    });
    this.#listing.hurry();
  }

  /** The best rung. */
  #recordable({ plan }: LadderRun): RecordedRung {
    const [best = ""] = plan.names;
    return folderOf(this.#parts.config, this.streamKey).recordable(best);
  }

  async #end(isSourceGone: boolean): Promise<void> {
    this.#stopLooking();
    const { api, log, records } = this.#parts;
    const last = this.report;
    await this.#listing.withdraw();
    void api.report({ ...last, state: "ended" });
    await this.#run?.finish(isSourceGone);
    if (this.#recording !== undefined && this.#run !== undefined) {
      const ended = this.#recording.end(this.#recordable(this.#run));
      await within(this.#parts.clock, LAST_SEGMENTS_MAX_MS, ended);
    }
    records.forget(this.streamKey);
    log.info({ streamKey: this.streamKey }, "broadcast ended");
  }
}
