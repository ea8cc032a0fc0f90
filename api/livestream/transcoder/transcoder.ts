import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as v from "valibot";
import type { Logger } from "../../../engine/log.js";
import type { CancelTimer, Clock } from "../../../engine/time/clock.js";
import type { EncodingBudget } from "./encoding-budget.js";
import { Ladder, type LadderParts } from "./ladder.js";
import { readingArguments } from "./ladder-arguments.js";
import { folderOf } from "./ladder-run.js";
import { LogRateLimiter } from "./log-rate-limiter.js";
import {
  type MediaServer,
  MediaServerUnreachableError,
  NO_TRACKS,
  type PublishedStream,
} from "./published-stream.js";
import { type Probed, SourceDescriber } from "./source-describer.js";
import type { LadderReport, StateApiClient } from "./state-api-client.js";
import { leftoverFolders } from "./stream-folder.js";

const REPORT_PERIOD_MS = 2_000;
/** As many as /health names. */
const REPORTED_MAX = 100;

export interface RefusedStreamsOptions {
  readonly api: StateApiClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly broadcastsMax: number;
  readonly leaseSec: number;
}

/**
 * Broadcasts beyond this machine's limit: reported in the log and to the state API until there is room for them,
 * or they leave.
 */
export class RefusedStreams {
  readonly #parts: RefusedStreamsOptions;
  readonly #lines: LogRateLimiter;
  #sessions: ReadonlyMap<string, string> = new Map();
  #reportAtMs = 0;

  constructor(parts: RefusedStreamsOptions) {
    this.#parts = parts;
    this.#lines = new LogRateLimiter(parts.clock);
  }

  /** `streams` are all that have no room now; `isPublished`: whether a session still exists, with room or without. */
  see(streams: readonly PublishedStream[], isPublished: (session: string) => boolean): void {
    const before = this.#sessions;
    this.#sessions = new Map(streams.map(({ streamKey, session }) => [streamKey, session]));
    for (const [streamKey, session] of before) {
      if (!isPublished(session)) this.#report(streamKey, session, "ended");
    }
    const nowMs = this.#parts.clock.monotonicMs();
    const isDue = nowMs >= this.#reportAtMs;
    if (isDue) this.#reportAtMs = nowMs + REPORT_PERIOD_MS;
    for (const { streamKey, session } of streams.slice(0, REPORTED_MAX)) {
      const isNew = before.get(streamKey) !== session;
      if (isNew) this.#reportRefusal(streamKey);
      if (isNew || isDue) this.#report(streamKey, session, "refused");
    }
  }

  #reportRefusal(streamKey: string): void {
    const { log, broadcastsMax } = this.#parts;
    if (!this.#lines.takes()) return;
    log.error(
      { streamKey, broadcastsMax },
      "refused a broadcast: this machine has reached BROADCASTS_MAX",
    );
  }

  #report(streamKey: string, session: string, state: LadderReport["state"]): void {
    const { api, leaseSec, broadcastsMax } = this.#parts;
    const reason = `this machine has reached its limit of ${broadcastsMax} broadcasts: see BROADCASTS_MAX`;
    const how = { speed: undefined, rungs: [], restarts: 0, leaseSec };
    void api.report({ streamKey, session, state, reason, ...how });
  }
}

const PROBE_TIMEOUT_MS = 20_000;
const ANSWER_BYTES_MAX = 256 * 1024;

const Answer = v.object({
  streams: v.array(
    v.object({
      codec_type: v.optional(v.string()),
      codec_name: v.optional(v.string(), "unknown"),
      width: v.optional(v.number(), 0),
      height: v.optional(v.number(), 0),
    }),
  ),
});

/** The RTMP name of codecs, in hexadecimal, that Debian's ffmpeg does not know. */
const UNKNOWN_CODEC = /Video codec \(([0-9a-f]+)\) is not implemented/;
const CODEC_NAMES: Readonly<Record<string, string>> = { c: "HEVC", d: "AV1" };
const NO_NAME = "HEVC or AV1";

const run = promisify(execFile);

/** The tracks that ffprobe finds in a broadcast, which costs about a group of pictures; empty if it cannot be read. */
export async function probeSource(sourceUrl: string, path: string): Promise<Probed> {
  const args = [
    ["-v", "warning", ...readingArguments(sourceUrl), "-analyzeduration", "3000000"],
    ["-probesize", "5000000", "-show_entries", "stream=codec_type,codec_name,width,height"],
    ["-of", "json", sourceUrl],
  ].flat();
  try {
    const { stdout, stderr } = await run("ffprobe", args, {
      timeout: PROBE_TIMEOUT_MS,
      maxBuffer: ANSWER_BYTES_MAX,
      env: { PATH: path },
    });
    const { streams } = v.parse(Answer, JSON.parse(stdout));
    const video = streams.find((stream) => stream.codec_type === "video");
    const audio = streams.find((stream) => stream.codec_type === "audio");
    const tracks = {
      video: video && { codec: video.codec_name, width: video.width, height: video.height },
      audioCodec: audio?.codec_name,
    };
    return { tracks, unreadableCodec: unreadableIn(stderr) };
  } catch (error) {
    // It found nothing, and has reported why.
    const failure = v.safeParse(v.object({ stderr: v.string() }), error);
    const words = failure.success ? failure.output.stderr : "";
    return { tracks: NO_TRACKS, unreadableCodec: unreadableIn(words) };
  }
}

function unreadableIn(words: string): string | undefined {
  const [, number] = UNKNOWN_CODEC.exec(words) ?? [];
  return number === undefined ? undefined : (CODEC_NAMES[number] ?? NO_NAME);
}

/** The media server also reports when a broadcaster leaves: this is the maximum delay for a new one. */
const POLL_PERIOD_MS = 200;
/** For this long a media server that hangs is assumed to have the same broadcasters. */
const SILENCE_MAX_MS = 5_000;

export interface TranscoderParts extends Omit<LadderParts, "admit" | "segmentEpochMs"> {
  readonly mediaServer: MediaServer;
  readonly budget: EncodingBudget;
  /** Maximum concurrent broadcasts; the next one waits until another ends. */
  readonly broadcastsMax: number;
}

/**
 * Keeps exactly one ladder per broadcaster that the media server reports. The server's current response decides,
 * never an earlier notification, so a broadcaster who leaves quickly leaves nothing behind.
 */
export class Transcoder {
  readonly #parts: TranscoderParts;
  readonly #ladders = new Map<string, Ladder>();
  readonly #removals = new Map<string, CancelTimer>();
  readonly #refused: RefusedStreams;
  readonly #log: Logger;
  readonly #clock: Clock;
  /** The machine's clock at the start, minus the monotonic clock. */
  readonly #monotonicZeroMs: number;
  readonly #stopPolling: CancelTimer;
  #polling: Promise<void> | undefined;
  #mustPollAgain = false;
  #answeredMs: number;
  #hasRecovered = false;
  #isStopped = false;
  #isSilent = false;

  constructor(parts: TranscoderParts) {
    this.#parts = parts;
    this.#log = parts.log;
    this.#clock = parts.clock;
    this.#refused = new RefusedStreams({ ...parts, leaseSec: parts.config.leaseSec });
    this.#answeredMs = parts.clock.monotonicMs();
    this.#monotonicZeroMs = parts.clock.epochMs() - parts.clock.monotonicMs();
    this.#stopPolling = parts.clock.every(POLL_PERIOD_MS, () => {
      this.#relieve();
      if (this.#polling === undefined) void this.poll();
    });
  }

  get ladders(): Iterable<Ladder> {
    return this.#ladders.values();
  }

  /** Polls the media server now, after a broadcaster came or left. Resolves when its response has been applied. */
  poll(): Promise<void> {
    // The response in progress may be older than this call.
    if (this.#polling !== undefined) this.#mustPollAgain = true;
    this.#polling ??= this.#pollUntilSettled().finally(() => {
      this.#polling = undefined;
    });
    return this.#polling;
  }

  /** Un-lists all streams and lets every ffmpeg finish. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopPolling();
    for (const cancel of this.#removals.values()) cancel();
    await Promise.allSettled(Array.from(this.#ladders.values(), (ladder) => ladder.leave(false)));
  }

  async #pollUntilSettled(): Promise<void> {
    do {
      this.#mustPollAgain = false;
      const published = await this.#published();
      if (published !== undefined && !this.#isStopped) this.#follow(published);
    } while (this.#mustPollAgain);
  }

  /** Undefined while unknown. A media server that is not running has no broadcasters. */
  async #published(): Promise<readonly PublishedStream[] | undefined> {
    try {
      const published = await this.#parts.mediaServer.published();
      this.#answeredMs = this.#clock.monotonicMs();
      if (this.#isSilent) this.#log.info({}, "the media server responds again");
      this.#isSilent = false;
      return published;
    } catch (error) {
      const silentMs = this.#clock.monotonicMs() - this.#answeredMs;
      if (!this.#isSilent && silentMs > SILENCE_MAX_MS) {
        this.#isSilent = true;
        this.#log.error({ error }, "the media server does not respond");
      }
      const isGone = error instanceof MediaServerUnreachableError && this.#hasRecovered;
      return isGone || silentMs > SILENCE_MAX_MS ? [] : undefined;
    }
  }

  #follow(published: readonly PublishedStream[]): void {
    const byKey = new Map(published.map((stream) => [stream.streamKey, stream]));
    if (!this.#hasRecovered) this.#recover(byKey);
    for (const ladder of this.#ladders.values()) {
      const stream = byKey.get(ladder.streamKey);
      if (stream?.session === ladder.session) ladder.see(stream.tracks);
      else void this.#end(ladder);
    }
    const refused: PublishedStream[] = [];
    for (const stream of byKey.values()) {
      if (this.#ladders.has(stream.streamKey)) continue;
      if (this.#ladders.size < this.#parts.broadcastsMax) this.#start(stream);
      else refused.push(stream);
    }
    const sessions = new Set(published.map(({ session }) => session));
    this.#refused.see(refused, (session) => sessions.has(session));
  }

  #start(stream: PublishedStream): void {
    const { streamKey, tracks } = stream;
    const { config, path, log, budget } = this.#parts;
    this.#removals.get(streamKey)?.();
    this.#removals.delete(streamKey);
    const sourceUrl = config.sourceUrl.replace("KEY", streamKey);
    const describer = new SourceDescriber(streamKey, () => probeSource(sourceUrl, path), log);
    describer.see(tracks);
    const ladder = new Ladder(stream, describer, {
      ...this.#parts,
      segmentEpochMs: () => this.#monotonicZeroMs + this.#clock.monotonicMs(),
      admit: (plans, one) => {
        const others = [...this.#ladders.values()].filter((other) => other !== one);
        return budget.admit(plans, others, this.#clock.monotonicMs(), one.megapixels);
      },
    });
    this.#ladders.set(streamKey, ladder);
  }

  /** The key is free for the next broadcast when all work for this one has ended. */
  async #end(ladder: Ladder): Promise<void> {
    const { streamKey } = ladder;
    try {
      await ladder.leave(true);
    } catch (error) {
      this.#log.error({ streamKey, error }, "a ladder failed to stop");
    }
    if (this.#ladders.get(streamKey) !== ladder) return;
    this.#ladders.delete(streamKey);
    if (this.#isStopped) return;
    const remove = () => {
      this.#removals.delete(streamKey);
      folderOf(this.#parts.config, streamKey).remove();
    };
    this.#removals.set(streamKey, this.#clock.after(this.#parts.config.endedKeepMs, remove));
    void this.poll();
  }

  /** An earlier transcoder's leftovers: streams that are no longer published are unlisted, and their files removed. */
  #recover(published: ReadonlyMap<string, PublishedStream>): void {
    this.#hasRecovered = true;
    const { config, records, api } = this.#parts;
    const left = new Set([...records.keys(), ...leftoverFolders(config.hlsRoot)]);
    for (const streamKey of left) {
      const record = records.read(streamKey);
      const isGoingOn =
        record !== undefined && published.get(streamKey)?.session === record.session;
      if (isGoingOn) continue;
      records.forget(streamKey);
      void api.unlist(streamKey, record?.session).then(() => {
        // Another broadcast may have started under the key.
        if (!this.#ladders.has(streamKey)) folderOf(config, streamKey).remove();
      });
    }
  }

  /** One ladder after another, the most expensive first: each reduction gives the others time. */
  #relieve(): void {
    const nowMs = this.#clock.monotonicMs();
    const slow = [...this.#ladders.values()].filter((ladder) => ladder.isTooSlow(nowMs));
    const [heaviest] = slow.sort((one, other) => other.megapixels - one.megapixels);
    if (this.#parts.budget.mayRelieve(nowMs, heaviest !== undefined)) heaviest?.stepDown();
    else this.#grow(nowMs);
  }

  /** Lets one ladder grow at a time, the cheapest first. */
  #grow(nowMs: number): void {
    const ladders = [...this.#ladders.values()];
    const reduced = ladders.filter((ladder) => ladder.mayGrow(nowMs));
    for (const ladder of reduced.sort((one, other) => one.megapixels - other.megapixels)) {
      const others = ladders.filter((other) => other !== ladder);
      const level = this.#parts.budget.growth(ladder.plans, ladder.level, others, nowMs);
      if (level !== undefined) return ladder.growTo(level);
    }
  }
}
