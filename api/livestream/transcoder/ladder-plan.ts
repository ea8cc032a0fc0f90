import type { Tracks } from "./published-stream.js";

/** One quality that is encoded. */
export interface Rung {
  readonly name: string;
  /** The shorter side: the height of a landscape picture, the width of a portrait one. */
  readonly shortSide: number;
  readonly videoKbps: number;
  readonly audioKbps: number;
}

/** The output of one ffmpeg for a broadcast. */
export interface LadderPlan {
  /** The broadcaster's own picture, not encoded again. */
  readonly copied: Rung | undefined;
  readonly encoded: readonly Rung[];
  readonly isAudioAlone: boolean;
  /** The megapixels a second that it encodes, including decoding. */
  readonly megapixels: number;
  /** The playlists' names, in the master's order. */
  readonly names: readonly string[];
}

export interface LadderSettings {
  readonly ladder: readonly Rung[];
  readonly rungsMax: number;
  readonly framesPerSecondMax: number;
  readonly hasAudioRung: boolean;
  readonly isPassthrough: boolean;
}

/** The cost of decoding a picture relative to encoding it (measured with libx264's veryfast: 0.1 to 0.2). */
const DECODING_SHARE = 0.15;
/** The bitrate that a master playlist declares for a copied picture; its real one is the broadcaster's. */
const COPIED_KBPS = 6_000;
const AUDIO_KBPS = 128;

/**
 * All ladders for a broadcast, from the whole one down to the cheapest: each has one rendition less from the top,
 * then comes the broadcaster's own picture if it is H.264. A picture in another codec is encoded in the ladder's
 * smallest rendition; audio alone is for a machine that is too slow for that. Empty if the broadcast has neither
 * picture nor audio.
 */
export function ladderPlans(tracks: Tracks, settings: LadderSettings): readonly LadderPlan[] {
  const hasSound = tracks.audioCodec !== undefined;
  const { video } = tracks;
  if (video === undefined) return hasSound ? [soundAlone()] : [];
  const shortSide = Math.min(video.width, video.height);
  const own: Rung | undefined =
    video.codec === "h264"
      ? { name: `${shortSide}p`, shortSide, videoKbps: COPIED_KBPS, audioKbps: AUDIO_KBPS }
      : undefined;
  const copied = settings.isPassthrough ? own : undefined;
  const rungs = rungsOf(shortSide, settings, copied);
  const aspect = Math.max(video.width, video.height) / shortSide;
  const planOf = (top: Rung | undefined, encoded: readonly Rung[]) =>
    planned({ top, encoded, shortSide, aspect, hasSound, settings });
  const plans: LadderPlan[] = [];
  for (let dropped = 0; dropped < rungs.length; dropped += 1) {
    plans.push(planOf(copied, rungs.slice(dropped)));
  }
  if (own !== undefined) plans.push(planOf(own, []));
  else {
    const smallest = smallestRung(shortSide, settings);
    const isThere = rungs.at(-1)?.shortSide === smallest?.shortSide;
    if (smallest !== undefined && !isThere) plans.push(planOf(copied, [smallest]));
    if (hasSound) plans.push(soundAlone());
  }
  return plans;
}

/**
 * The level that a ladder at `speed` of real time is reduced to: the largest that it could make, otherwise the
 * smallest picture, and audio alone only after that. Beyond the plans if there is nothing below.
 */
export function levelBelow(plans: readonly LadderPlan[], level: number, speed: number): number {
  const could = (plans[level]?.megapixels ?? 0) * speed;
  const isBelow = (plan: LadderPlan, place: number) => place > level && !plan.isAudioAlone;
  const within = plans.findIndex((plan, at) => isBelow(plan, at) && plan.megapixels <= could);
  if (within !== -1) return within;
  const least = plans.findLastIndex(isBelow);
  return least === -1 ? level + 1 : least;
}

/** The largest that are not above the source; below all of them, one of its own size, made even for x264. */
function rungsOf(
  shortSide: number,
  { ladder, rungsMax }: LadderSettings,
  copied: Rung | undefined,
): readonly Rung[] {
  const fitting = ladder.filter((rung) => rung.shortSide <= shortSide);
  if (copied !== undefined) {
    return fitting.filter((rung) => rung.shortSide < shortSide).slice(0, rungsMax - 1);
  }
  if (fitting.length > 0) return fitting.slice(0, rungsMax);
  const smallest = smallestRung(shortSide, { ladder });
  return smallest === undefined ? [] : [smallest];
}

/** The ladder's last rendition, or one of the source's size if that is smaller still. */
function smallestRung(
  shortSide: number,
  { ladder }: Pick<LadderSettings, "ladder">,
): Rung | undefined {
  const last = ladder.at(-1);
  if (last === undefined || last.shortSide <= shortSide) return last;
  const even = Math.floor(shortSide / 2) * 2;
  return { ...last, name: `${even}p`, shortSide: even };
}

interface PlanParts {
  readonly top: Rung | undefined;
  readonly encoded: readonly Rung[];
  readonly shortSide: number;
  readonly aspect: number;
  readonly hasSound: boolean;
  readonly settings: LadderSettings;
}

function planned(parts: PlanParts): LadderPlan {
  const { top, encoded, shortSide, aspect, hasSound, settings } = parts;
  const perSecond = (side: number) =>
    (side * side * aspect * settings.framesPerSecondMax) / 1_000_000;
  const decoded = encoded.length === 0 ? 0 : perSecond(shortSide) * DECODING_SHARE;
  const hasAudioRung = hasSound && settings.hasAudioRung;
  const pictures = [...(top === undefined ? [] : [top]), ...encoded];
  return {
    copied: top,
    encoded,
    isAudioAlone: false,
    megapixels: encoded.reduce((sum, rung) => sum + perSecond(rung.shortSide), decoded),
    names: [...pictures.map(({ name }) => name), ...(hasAudioRung ? ["audio"] : [])],
  };
}

function soundAlone(): LadderPlan {
  return {
    copied: undefined,
    encoded: [],
    isAudioAlone: true,
    megapixels: 0,
    names: ["audio"],
  };
}
