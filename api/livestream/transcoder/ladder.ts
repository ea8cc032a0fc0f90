import type { Logger } from "../../../engine/log.js";
import type { CancelTimer, Clock } from "../../../engine/time/clock.js";
import { within } from "../../../engine/time/deadline.js";
import { type LadderPlan, ladderPlans, levelBelow } from "./ladder-plan.js";
import { folderOf, type LadderContent, LadderRun } from "./ladder-run.js";
import { areSameTracks, type PublishedStream, type Tracks } from "./published-stream.js";
import type { RecordedRung, Recording } from "./recording/recording.js";
import type { SessionRecords } from "./session-records.js";
import type { SourceDescriber } from "./source-describer.js";
import type { LadderReport, ListedBroadcast, StateApiClient } from "./state-api-client.js";
import { TRACK_KINDS, type TrackKind } from "./track-flow.js";
import type { TranscoderConfig } from "./transcoder-config.js";

const RETRY_MS = 1_000;

/** Keeps one broadcast listed: on-publish, again as a heartbeat, and on-unpublish. */
export class ListingKeeper {
  readonly #broadcast: ListedBroadcast;
  readonly #api: StateApiClient;
  readonly #heartbeatMs: number;
  readonly #log: Logger;
  #isListed = false;
  #isRefused = false;
  #nextMs = 0;
  #isHurried = false;
  #asking: { readonly done: Promise<void>; readonly abort: AbortController } | undefined;

  constructor(broadcast: ListedBroadcast, api: StateApiClient, heartbeatMs: number, log: Logger) {
    this.#broadcast = broadcast;
    this.#api = api;
    this.#heartbeatMs = heartbeatMs;
    this.#log = log;
  }

  get isListed(): boolean {
    return this.#isListed;
  }

  /** Does not wait for the next heartbeat: the files that the state API reads have changed. */
  hurry(): void {
    this.#isHurried = true;
  }

  /** Call it while there is something to play; it sends a request when one is due. */
  keep(nowMs: number, rungs: readonly string[]): void {
    if (this.#asking !== undefined || (nowMs < this.#nextMs && !this.#isHurried)) return;
    this.#isHurried = false;
    const abort = new AbortController();
    const done = this.#api.list(this.#broadcast, abort.signal).then((isTaken) => {
      this.#asking = undefined;
      this.#note(isTaken, rungs, nowMs, abort.signal.aborted);
    });
    this.#asking = { done, abort };
  }

  /** Resolves when it is unlisted, or the attempts have failed: then its lease ends the listing. */
  async withdraw(): Promise<void> {
    const asking = this.#asking;
    if (!this.#isListed && asking === undefined) return;
    this.#isListed = false;
    asking?.abort.abort();
    await asking?.done;
    const { streamKey, session } = this.#broadcast;
    if (!(await this.#api.unlist(streamKey, session))) {
      this.#log.error({ streamKey }, "failed to unlist a stream: its lease will expire");
    }
  }

  #note(isTaken: boolean, rungs: readonly string[], nowMs: number, isAborted: boolean): void {
    if (isAborted) return;
    const { streamKey } = this.#broadcast;
    if (isTaken) {
      if (!this.#isListed) this.#log.info({ streamKey, rungs: rungs.join(" ") }, "listed");
      this.#isListed = true;
      this.#isRefused = false;
      this.#nextMs = nowMs + this.#heartbeatMs;
    } else {
      if (!this.#isRefused) {
        this.#log.error({ streamKey }, "not taken by the state API: asking every second");
      }
      this.#isRefused = true;
      this.#nextMs = nowMs + RETRY_MS;
    }
  }
}

/** How often the playlists are checked, before and after the stream is listed. */
const CHECK_PERIOD_MS = 100;
const PROGRESS_CHECK_PERIOD_MS = 1_000;
const REPORT_PERIOD_MS = 2_000;
/**
 * The pause between restarts of a ladder whose tracks change repeatedly. It doubles with each change, and starts
 * over when no track has changed for a minute longer than the pause.
 */
const CHANGE_PAUSE_MIN_MS = 2_000;
const CHANGE_PAUSE_MAX_MS = 60_000;
const CHANGES_FORGOTTEN_MS = 60_000;
/** A reduced ladder waits for this long before it grows. The pause doubles with each reduction, and starts over after an hour without one. */
export const GROWTH_PAUSE_MIN_MS = 30_000;
export const GROWTH_PAUSE_MAX_MS = 30 * 60_000;
export const REDUCTIONS_FORGOTTEN_MS = 60 * 60_000;

/** A disk that hangs must not block the key's next broadcast. */
const LAST_SEGMENTS_MAX_MS = 5_000;

export interface LadderParts {
  readonly config: TranscoderConfig;
  readonly api: StateApiClient;
  readonly records: SessionRecords;
  /** Starts the recording of a broadcast; undefined if it is not recorded. */
  readonly record: (streamKey: string, startedAtMs: number) => Recording | undefined;
  /** The PATH in which ffmpeg is looked up. */
  readonly path: string;
  readonly clock: Clock;
  /** The time since 1970, unaffected by steps of the machine's clock. Names of segments derive from it. */
  readonly segmentEpochMs: () => number;
  readonly log: Logger;
  /**
   * The level of the largest plan that this machine can encode in addition to the other ladders; the whole ladder
   * is at 0.
   */
  readonly admit: (plans: readonly LadderPlan[], ladder: Ladder) => number;
}

/** One broadcast, from its beginning to its end: its tracks, its ffmpeg, and its listing. */
export class Ladder {
  readonly streamKey: string;
  readonly session: string;
  readonly #parts: LadderParts;
  readonly #listing: ListingKeeper;
  readonly #source: SourceDescriber;
  readonly #clientIp: string | undefined;
  readonly #startedAtMs: number;
  readonly #stopChecking: CancelTimer;
  readonly #oldRungs: string;
  #plans: readonly LadderPlan[] = [];
  #level = 0;
  #run: LadderRun | undefined;
  #recording: Recording | undefined;
  /** All tracks of the broadcast, including those that are silent at the moment. */
  #tracks: Tracks | undefined;
  /** The tracks that are silent at the moment. */
  readonly #ended = new Set<TrackKind>();
  #changedMs = Number.NEGATIVE_INFINITY;
  #changePauseMs = 0;
  readonly #growthPause = new GrowthPause();
  #progressCheckedMs = 0;
  /** Not started before, because it could not be. */
  #startAtMs = 0;
  #reason: string | undefined;
  #reportAtMs = 0;
  #reportedState: LadderReport["state"] | undefined;
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
    this.#stopChecking = clock.every(CHECK_PERIOD_MS, () => this.#check());
  }

  /** The megapixels a second that it encodes now. */
  get megapixels(): number {
    return this.#run?.plan.megapixels ?? 0;
  }

  /** All plans, from the whole ladder down to the smallest. */
  get plans(): readonly LadderPlan[] {
    return this.#plans;
  }

  /** The level of the current plan. */
  get level(): number {
    return this.#level;
  }

  /** The media server reports the tracks as they appear. */
  see(tracks: Tracks): void {
    this.#source.see(tracks);
  }

  /**
   * Falls behind real time and can drop a rendition. False while a track may have ended, because a new ffmpeg
   * would wait for that track until the stream is unlisted.
   */
  isTooSlow(nowMs: number): boolean {
    if (this.#run?.flow.isUnsure(nowMs) === true) return false;
    return this.#level < this.#plans.length - 1 && (this.#run?.isSlow(nowMs) ?? false);
  }

  /** Drops the top rendition, and more of them if its speed requires it; finally copies the source. */
  stepDown(): void {
    const run = this.#run;
    const { log, clock } = this.#parts;
    const made = run?.speed(clock.monotonicMs()) ?? 1;
    const level = levelBelow(this.#plans, this.#level, made);
    const plan = this.#plans[level];
    if (run === undefined || plan === undefined || this.#leaving !== undefined) return;
    const speed = made.toFixed(2);
    this.#level = level;
    this.#growthPause.noteReduced(clock.monotonicMs());
    this.#reason = `made at ${speed} of real time: reduced to ${plan.names.join(" ")}`;
    log.warn(
      { streamKey: this.streamKey, speed, rungs: plan.names.join(" ") },
      "overload: dropping rungs",
    );
    run.change({ ...run.content, plan });
    this.#remember(plan);
  }

  /** Was reduced, and keeps up with its current plan. */
  mayGrow(nowMs: number): boolean {
    const run = this.#run;
    if (run === undefined || this.#level === 0 || this.#leaving !== undefined) return false;
    const isWell = this.#listing.isListed && !run.isFailing(nowMs) && !run.isUnsteady(nowMs);
    return isWell && this.#growthPause.isOver(nowMs);
  }

  /** Restarts ffmpeg with the larger plan at this level. */
  growTo(level: number): void {
    const run = this.#run;
    const plan = this.#plans[level];
    if (run === undefined || plan === undefined || this.#leaving !== undefined) return;
    this.#level = level;
    const rungs = plan.names.join(" ");
    if (level === 0) this.#reason = undefined;
    else this.#reason = `the machine has no room for all rungs: ${rungs}`;
    const { log } = this.#parts;
    log.info({ streamKey: this.streamKey, rungs }, "there is room again: rungs are added");
    run.change({ ...run.content, plan });
    this.#remember(plan);
  }

  /** The broadcaster has gone, or this service stops. Resolves when all work for the stream has ended. */
  leave(isSourceGone: boolean): Promise<void> {
    this.#leaving ??= this.#end(isSourceGone);
    return this.#leaving;
  }

  /** Its state, for the decisions about the whole machine. */
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

  #check(): void {
    if (this.#leaving !== undefined) return;
    try {
      const nowMs = this.#parts.clock.monotonicMs();
      if (this.#run !== undefined) this.#watch(this.#run, nowMs);
      else if (nowMs >= this.#startAtMs) this.#start(nowMs);
      this.#report(nowMs);
    } catch (error) {
      // The disk fails: the next check is a second away.
      this.#progressCheckedMs = this.#parts.clock.monotonicMs();
      this.#startAtMs = this.#progressCheckedMs + PROGRESS_CHECK_PERIOD_MS;
      this.#parts.log.error({ streamKey: this.streamKey, error }, "failed to supervise a ladder");
    }
  }

  #start(nowMs: number): void {
    const tracks = this.#source.describe(nowMs);
    const { config, admit, log } = this.#parts;
    const { streamKey } = this;
    if (this.#source.unreadable !== undefined) this.#reason = this.#source.unreadable;
    if (tracks === undefined) return;
    this.#plans = ladderPlans(tracks, config);
    this.#level = admit(this.#plans, this);
    const plan = this.#plans[this.#level];
    if (plan === undefined) return;
    if (this.#level > 0) {
      this.#growthPause.noteReduced(nowMs);
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
    this.#tracks = tracks;
    const folder = folderOf(config, streamKey);
    const content = this.#contentOf(plan, tracks);
    this.#run = new LadderRun({ ...this.#parts, streamKey, folder }, content);
    this.#run.start(this.#oldRungs === plan.names.join(" "));
    this.#recording = this.#parts.record(streamKey, this.#startedAtMs);
  }

  #watch(run: LadderRun, nowMs: number): void {
    this.#followTracks(run, nowMs);
    const isDue = nowMs - this.#progressCheckedMs >= PROGRESS_CHECK_PERIOD_MS;
    if (!isDue && this.#listing.isListed) return;
    const { config, log } = this.#parts;
    run.advance(nowMs);
    if (isDue) {
      this.#progressCheckedMs = nowMs;
      run.checkProgress(nowMs);
      void this.#recording?.take(this.#recordable(run));
    }
    const isAlive = run.progressedMs > 0 && nowMs - run.progressedMs <= config.deadMs;
    if (isAlive) return this.#listing.keep(nowMs, run.plan.names);
    if (!this.#listing.isListed) return;
    log.error({ streamKey: this.streamKey }, "unlisted: no new segment");
    void this.#listing.withdraw();
  }

  /** Restarts ffmpeg when a track has ended, returned or changed. */
  #followTracks(run: LadderRun, nowMs: number): void {
    if (this.#tracks === undefined) return;
    const { tracks } = run.content;
    const whole = this.#source.now(this.#tracks, nowMs);
    const ended = new Set(this.#ended);
    for (const kind of TRACK_KINDS) {
      if (run.flow.hasEnded(kind, nowMs)) ended.add(kind);
      else if (run.flow.isBack(kind, nowMs)) ended.delete(kind);
    }
    const playing = withoutTracks(whole, ended);
    if (areSameTracks(playing, tracks) || nowMs - this.#changedMs < this.#changePauseMs) return;
    this.#tracks = whole;
    this.#ended.clear();
    for (const kind of ended) this.#ended.add(kind);
    this.#change(run, playing, nowMs);
  }

  #change(run: LadderRun, playing: Tracks, nowMs: number): void {
    const { config, admit, log } = this.#parts;
    const held = run.plan.megapixels;
    const isReduced = this.#level > 0;
    const plans = ladderPlans(playing, config);
    const admitted = admit(plans, this);
    // A reduced ladder stays reduced.
    const within = plans.findIndex(({ megapixels }) => megapixels <= held);
    const level = isReduced && within !== -1 ? Math.max(within, admitted) : admitted;
    const plan = plans[level];
    if (plan === undefined) return;
    const isCalm = nowMs - this.#changedMs > this.#changePauseMs + CHANGES_FORGOTTEN_MS;
    this.#changePauseMs = isCalm
      ? CHANGE_PAUSE_MIN_MS
      : Math.min(this.#changePauseMs * 2, CHANGE_PAUSE_MAX_MS);
    this.#changedMs = nowMs;
    this.#plans = plans;
    this.#level = level;
    const { video, audioCodec } = playing;
    const size = video === undefined ? undefined : `${video.width}x${video.height}`;
    const rungs = plan.names.join(" ");
    log.info(
      { streamKey: this.streamKey, size, video: video?.codec, audio: audioCodec, rungs },
      "the tracks of a broadcast have changed",
    );
    run.change(this.#contentOf(plan, playing));
    this.#remember(plan);
  }

  /** Over RTMP ffmpeg reports a track that returns as a new one. Over other protocols its packets are watched. */
  #contentOf(plan: LadderPlan, playing: Tracks): LadderContent {
    const isRtmp = this.#parts.config.sourceUrl.startsWith("rtmp:");
    const { video, audioCodec } = isRtmp ? playing : (this.#tracks ?? playing);
    const watched = TRACK_KINDS.filter(
      (kind) => (kind === "video" ? video?.codec : audioCodec) !== undefined,
    );
    return { plan, tracks: playing, watched };
  }

  /** At each change of its state, and periodically. */
  #report(nowMs: number): void {
    const { report } = this;
    if (nowMs < this.#reportAtMs && report.state === this.#reportedState) return;
    this.#reportAtMs = nowMs + REPORT_PERIOD_MS;
    this.#reportedState = report.state;
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

  /** The best rendition. */
  #recordable({ plan }: LadderRun): RecordedRung {
    const [best = ""] = plan.names;
    return folderOf(this.#parts.config, this.streamKey).recordable(best);
  }

  async #end(isSourceGone: boolean): Promise<void> {
    this.#stopChecking();
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

function withoutTracks(tracks: Tracks, kinds: ReadonlySet<TrackKind>): Tracks {
  const hasAudio = !kinds.has("audio");
  return {
    video: kinds.has("video") ? undefined : tracks.video,
    audioCodec: hasAudio ? tracks.audioCodec : undefined,
    audioFormat: hasAudio ? tracks.audioFormat : undefined,
  };
}

/** Prevents a ladder from growing into the same overload repeatedly. */
export class GrowthPause {
  #pauseMs = 0;
  #reducedMs = Number.NEGATIVE_INFINITY;

  noteReduced(nowMs: number): void {
    const isForgotten = nowMs - this.#reducedMs > REDUCTIONS_FORGOTTEN_MS;
    const pauseMs = isForgotten ? 0 : this.#pauseMs * 2;
    this.#pauseMs = Math.min(Math.max(pauseMs, GROWTH_PAUSE_MIN_MS), GROWTH_PAUSE_MAX_MS);
    this.#reducedMs = nowMs;
  }

  isOver(nowMs: number): boolean {
    return nowMs - this.#reducedMs >= this.#pauseMs;
  }
}
