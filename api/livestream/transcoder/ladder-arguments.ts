import { THUMBNAIL_FILE } from "../playlist-reader.js";
import type { LadderPlan, Rung } from "./ladder-plan.js";
import { PACKET_LISTS } from "./ladder-process.js";
import type { Tracks } from "./published-stream.js";
import type { TrackKind } from "./track-flow.js";

export interface LadderOrder {
  readonly plan: LadderPlan;
  readonly tracks: Tracks;
  /** The tracks whose packets are listed: those in the ladder, and those that may return. */
  readonly watched?: readonly TrackKind[];
  readonly sourceUrl: string;
  /** The stream's folder. */
  readonly folder: string;
  readonly firstNumber: number;
  /** Continues in existing playlists. */
  readonly isResumed: boolean;
  readonly segmentSec: number;
  readonly groupSec: number;
  readonly preset: string;
  readonly framesPerSecondMax: number;
  /** Seconds between two thumbnails; 0: none. */
  readonly thumbnailSec: number;
}

const THUMBNAIL_SHORT_SIDE = 360;
/** A JPEG quantizer, 2 (best) to 31; this one makes 10 to 30 kB. */
const THUMBNAIL_QUANTIZER = "6";

/** More than half a second, because ffmpeg rounds it, and a playlist with a TARGETDURATION of 0 is invalid. */
const FIRST_SEGMENTS_SHARE = 0.6;
/** ffmpeg computes a cut from its number: without this the segments after the short ones would be two groups long. */
const LATER_CUTS_SHARE = 0.75;

/**
 * A machine without room to encode has little for requests and pages, too: half as many segments are half of their
 * work.
 */
const PASSED_ON_SEGMENT_SEC = 2;

const LOOKAHEAD_FRAMES = "4";
const WITHOUT_LOOKAHEAD = new Set(["ultrafast", "superfast"]);

/** How long the muxer waits for a silent track before it writes the others. ffmpeg's default is 10 s. */
const INTERLEAVING_MAX_US = "1000000";

const KNOWN_TRACKS_MAX_US = "10000000";
const ONE_TRACK_MAX_US = "500000";

/** ffmpeg's arguments for one ladder; the last one names its playlists, and with them the stream. */
export function ladderArguments(order: LadderOrder): readonly string[] {
  const { plan, tracks, folder } = order;
  const graph = filterGraph(order);
  const pictures = [...(plan.copied === undefined ? [] : [plan.copied]), ...plan.encoded];
  const rungs = pictures.flatMap((rung, index) => rungArguments(order, rung, index));
  const streamMap = pictures.map(({ name }, index) =>
    tracks.audioCodec === undefined
      ? `v:${index},name:${name}`
      : `v:${index},a:${index},name:${name}`,
  );
  if (plan.names.includes("audio")) streamMap.push(`a:${pictures.length},name:audio`);
  return [
    // Without -y a restarted ladder would stop at the existing thumbnail.
    ["-hide_banner", "-nostdin", "-y", "-loglevel", "warning"],
    ["-progress", "pipe:1", "-stats_period", "0.5"],
    sourceArguments(order),
    graph === undefined ? [] : ["-filter_complex", graph],
    (order.watched ?? []).flatMap(packetList),
    hasThumbnail(order) ? thumbnailArguments(folder) : [],
    rungs,
    plan.names.includes("audio") ? audioRung(order, pictures.length) : [],
    muxerArguments(order),
    ["-master_pl_name", "master.m3u8", "-var_stream_map", streamMap.join(" ")],
    [`${folder}/%v/index.m3u8`],
  ].flat();
}

/**
 * ffmpeg gives up a silent source after ten seconds. A filter limits the frame rate, so ffmpeg does not have to read 20 frames
 * to estimate it, over any protocol.
 */
export function readingArguments(sourceUrl: string): readonly string[] {
  const uncounted = ["-fpsprobesize", "0"];
  if (sourceUrl.startsWith("rtsp:"))
    return ["-rtsp_transport", "tcp", "-timeout", "10000000", ...uncounted];
  if (!sourceUrl.startsWith("rtmp:")) return uncounted;
  return ["-rtmp_live", "live", "-rw_timeout", "10000000", ...uncounted];
}

function sourceArguments(order: LadderOrder): readonly string[] {
  const { plan, tracks, sourceUrl } = order;
  // It ends as soon as both tracks are known; audio may precede the first keyframe by a whole group of pictures.
  const hasBoth = tracks.video !== undefined && tracks.audioCodec !== undefined;
  return [
    readingArguments(sourceUrl),
    // Then only a thumbnail is decoded, for which keyframes are enough.
    hasThumbnail(order) && plan.encoded.length === 0
      ? ["-skip_frame:v", "nokey", "-threads:v", "1"]
      : [],
    ["-analyzeduration", hasBoth ? KNOWN_TRACKS_MAX_US : ONE_TRACK_MAX_US],
    ["-probesize", "5000000", "-fflags", "+genpts", "-i", sourceUrl],
  ].flat();
}

/**
 * An encoder cannot change its picture size. If the broadcaster rotates the picture, it is fitted into the first
 * frame size until the ladder restarts. x264 requires even sides.
 */
function rungSize({ video }: Tracks, shortSide: number): { width: number; height: number } {
  const { width, height } = video ?? { width: shortSide, height: shortSide };
  const longSide = (shortSide * Math.max(width, height)) / Math.min(width, height);
  const evenLongSide = Math.round(longSide / 2) * 2;
  return width > height
    ? { width: evenLongSide, height: shortSide }
    : { width: shortSide, height: evenLongSide };
}

/** nginx-rtmp reports some sizes slightly wrong, such as odd ones in yuv444p. Within this tolerance ffmpeg's own size is used. */
const SHAPE_TOLERANCE = 0.025;

/**
 * Removes jumps of the timestamps, because the `fps` filter would fill a jump ahead with frames. The transcoder restarts the
 * ladder after a jump, which takes some milliseconds.
 */
const JUMP_SEC = 5;
const JOINED = `setpts='PTS-st(0,ld(0)+if(gt(abs(PTS-PREV_INPTS)*TB,${JUMP_SEC}),PTS-PREV_INPTS-0.03/TB,0))'`;

/** One decoder, one scaler per rendition. The short side is limited, so that a portrait stays one. */
function filterGraph(order: LadderOrder): string | undefined {
  const { plan, framesPerSecondMax } = order;
  const { encoded } = plan;
  const thumbnail = hasThumbnail(order) ? thumbnailFilter(order) : undefined;
  if (encoded.length === 0) return thumbnail === undefined ? undefined : `[0:v:0]${thumbnail}`;
  const fps = `fps=fps='if(gt(source_fps,1),min(source_fps,${framesPerSecondMax}),${framesPerSecondMax})'`;
  const pads = encoded.map((_, index) => `[s${index}]`).join("");
  const scalers = encoded.map(({ shortSide }, index) => {
    const { width, height } = rungSize(order.tracks, shortSide);
    const isOfShape = `lt(abs(iw*${height}/(ih*${width})-1),${SHAPE_TOLERANCE})`;
    const [ownWidth, ownHeight] = width > height ? [-2, height] : [width, -2];
    const fitted = [
      `w='if(${isOfShape},${ownWidth},trunc(min(${width},${height}*iw/ih)/2)*2)'`,
      `h='if(${isOfShape},${ownHeight},trunc(min(${height},${width}*ih/iw)/2)*2)'`,
    ].join(":");
    const isNear = (side: string, px: number) =>
      `lt(abs(${side}-${px}),${px}*${SHAPE_TOLERANCE}+2)`;
    const isWhole = `${isNear("iw", width)}*${isNear("ih", height)}`;
    const frame = `pad=w='if(${isWhole},iw,${width})':h='if(${isWhole},ih,${height})':x=-1:y=-1`;
    return `[s${index}]scale=${fitted}:flags=fast_bilinear,format=yuv420p,${frame}[v${index}]`;
  });
  const outputs =
    thumbnail === undefined
      ? `split=${encoded.length}${pads}`
      : `split=${encoded.length + 1}${pads}[whole]`;
  const others = thumbnail === undefined ? [] : [`[whole]${thumbnail}`];
  return [`[0:v:0]${JOINED},${fps},${outputs}`, ...scalers, ...others].join(";");
}

/** Each list is a separate output, so that a silent track cannot delay the list of the other one. */
function packetList(kind: TrackKind): readonly string[] {
  const list = `pipe:${PACKET_LISTS[kind]}`;
  return ["-map", `0:${kind === "video" ? "v" : "a"}:0`, "-c", "copy", "-f", "framecrc", list];
}

function hasThumbnail({ plan, thumbnailSec }: LadderOrder): boolean {
  return thumbnailSec > 0 && !plan.isAudioAlone;
}

/** Selected before scaling: only one picture in ten seconds costs anything. */
function thumbnailFilter({ thumbnailSec }: LadderOrder): string {
  const side = THUMBNAIL_SHORT_SIDE;
  const due = `select='isnan(prev_selected_t)+gte(t-prev_selected_t,${thumbnailSec})'`;
  const width = `w='if(gt(iw,ih),-2,min(iw,${side}))'`;
  const height = `h='if(gt(iw,ih),min(ih,${side}),-2)'`;
  return `${due},scale=${width}:${height}:out_range=pc,format=yuv420p[thumbnail]`;
}

/** A separate file next to the playlists, so that readers never see it half-written. */
function thumbnailArguments(folder: string): readonly string[] {
  return [
    ["-map", "[thumbnail]", "-c:v", "mjpeg", "-threads", "1", "-q:v", THUMBNAIL_QUANTIZER],
    // Full range is declared apart from the pixel format, otherwise ffmpeg warns.
    ["-strict", "unofficial", "-color_range", "pc"],
    ["-fps_mode", "passthrough", "-f", "image2", "-update", "1", "-atomic_writing", "1"],
    [`${folder}/${THUMBNAIL_FILE}`],
  ].flat();
}

function rungArguments(order: LadderOrder, rung: Rung, index: number): readonly string[] {
  const { plan, tracks, preset, groupSec, framesPerSecondMax } = order;
  const rate = `${rung.videoKbps}k`;
  const copied = plan.copied === undefined ? 0 : 1;
  const picture =
    index < copied
      ? // The rate is declared, since a copied rung without one is left out of the master.
        ["-map", "0:v:0", `-c:v:${index}`, "copy", `-b:v:${index}`, rate]
      : [
          [
            "-map",
            `[v${index - copied}]`,
            `-c:v:${index}`,
            "libx264",
            `-preset:v:${index}`,
            preset,
          ],
          [`-profile:v:${index}`, "main", `-sc_threshold:v:${index}`, "0", `-bf:v:${index}`, "0"],
          lookaheadArguments(preset, index),
          [`-b:v:${index}`, rate, `-maxrate:v:${index}`, rate, `-bufsize:v:${index}`, rate],
          [`-g:v:${index}`, String(groupSec * framesPerSecondMax * 2)],
          // By time, hence aligned whatever the frame rate; next to a copied rendition at the broadcaster's own.
          [
            `-force_key_frames:v:${index}`,
            copied === 1 ? "source" : `expr:gte(t,${keyframeSec(order)})`,
          ],
        ].flat();
  if (tracks.audioCodec === undefined) return picture;
  const codec = tracks.audioCodec === "aac" ? "copy" : "aac";
  const sound = ["-map", "0:a:0", `-c:a:${index}`, codec, `-b:a:${index}`, `${rung.audioKbps}k`];
  return [...picture, ...sound];
}

/**
 * Each of its frames delays by a frame; with keyframes every second or two, more of them did not improve the
 * picture.
 */
function lookaheadArguments(preset: string, index: number): readonly string[] {
  return WITHOUT_LOOKAHEAD.has(preset) ? [] : [`-rc-lookahead:v:${index}`, LOOKAHEAD_FRAMES];
}

/** When the next keyframe is due, as an ffmpeg expression; `n_forced` is the number of earlier ones. */
function keyframeSec(order: LadderOrder): string {
  const { groupSec } = order;
  if (!hasShortBeginning(order)) return `n_forced*${groupSec}`;
  const first = groupSec * FIRST_SEGMENTS_SHARE;
  return `if(lt(n_forced,3),n_forced*${first},(n_forced-1)*${groupSec})`;
}

/** The first two segments are half as long, so that playback can start half a segment sooner. */
function hasShortBeginning({ plan, isResumed, segmentSec, groupSec }: LadderOrder): boolean {
  const isAllEncoded = plan.copied === undefined && plan.encoded.length > 0;
  return isAllEncoded && !isResumed && segmentSec === groupSec;
}

/** The broadcaster's own picture if there was no room for another. */
function passedOnAlone({ copied, encoded }: LadderPlan): Rung | undefined {
  return encoded.length === 0 ? copied : undefined;
}

/** A machine without room to encode pictures has none for audio: with a copied picture, its audio is copied, too. */
function audioRung({ plan, tracks }: LadderOrder, index: number): readonly string[] {
  const passedOn = passedOnAlone(plan);
  if (passedOn !== undefined && tracks.audioCodec === "aac") {
    const rate = `${passedOn.audioKbps}k`;
    return ["-map", "0:a:0", `-c:a:${index}`, "copy", `-b:a:${index}`, rate];
  }
  const encoding = [`-c:a:${index}`, "aac", `-b:a:${index}`, "64k"];
  return ["-map", "0:a:0", ...encoding, `-ac:a:${index}`, "2", `-ar:a:${index}`, "48000"];
}

function muxerArguments(order: LadderOrder): readonly string[] {
  const { isResumed, segmentSec, firstNumber, folder } = order;
  const flags = "independent_segments+delete_segments+temp_file+program_date_time+omit_endlist";
  const first = String(segmentSec * FIRST_SEGMENTS_SHARE);
  return [
    ["-f", "hls", "-hls_time", String(cutAfterSec(order)), "-hls_list_size", "6"],
    hasShortBeginning(order) ? ["-hls_init_time", first] : [],
    ["-hls_delete_threshold", "3", "-start_number", String(firstNumber)],
    ["-hls_flags", isResumed ? `${flags}+append_list` : flags],
    ["-hls_segment_filename", `${folder}/%v/%d.ts`],
    ["-max_interleave_delta", INTERLEAVING_MAX_US],
  ].flat();
}

/** Pictures are cut at the next keyframe after it, audio immediately. */
function cutAfterSec(order: LadderOrder): number {
  const { plan, segmentSec } = order;
  if (hasShortBeginning(order)) return segmentSec * LATER_CUTS_SHARE;
  if (plan.copied === undefined) return segmentSec;
  const isAlone = passedOnAlone(plan) !== undefined;
  const wantedSec = isAlone ? Math.max(segmentSec, PASSED_ON_SEGMENT_SEC) : segmentSec;
  // A tenth shorter with a copied rendition, because otherwise the first segment would be a group longer.
  return wantedSec - 0.1;
}
