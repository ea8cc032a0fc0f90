/** When the people of a list are called, in their own time. */

import { type CallWindow, WEEKDAYS } from "../../../storage/calls/call-list-record.js";

const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;
const DAY_MINUTES = 24 * HOUR_MINUTES;
const DAY_MS = DAY_MINUTES * MINUTE_MS;
/** Windows repeat every week; one more day for zones that are a day ahead. */
const DAYS_AHEAD = 8;
/** By the number of time zones. Beyond it the ones that were used first are made again. */
const FORMATS_MAX = 600;
const OFFSETS_MAX = 10_000;

/** Minutes from midnight; 1,440 of `24:00`. */
export function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * HOUR_MINUTES + Number(time.slice(3));
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  });
  const [oldest] = formats.keys();
  if (formats.size >= FORMATS_MAX && oldest !== undefined) formats.delete(oldest);
  formats.set(zone, format);
  return format;
}

/** The one spelling of a zone of the IANA time zone database; undefined if this Node.js does not know it. */
export function timeZoneOf(name: string): string | undefined {
  try {
    return formatOf(name).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** What the zone is ahead of UTC. */
function exactOffsetMs(zone: string, atMs: number): number {
  const part = new Map(
    formatOf(zone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const of = (type: Intl.DateTimeFormatPartTypes) => part.get(type) ?? 0;
  const wall = Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"));
  return wall - Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
}

/** By zone and day: the offset at the beginning of the day in UTC. Asking the zone takes longer than all else here. */
const offsets = new Map<string, number>();

function offsetAtMidnightMs(zone: string, day: number): number {
  const key = `${zone} ${day}`;
  const known = offsets.get(key);
  if (known !== undefined) return known;
  const offsetMs = exactOffsetMs(zone, day * DAY_MS);
  if (offsets.size >= OFFSETS_MAX) offsets.clear();
  offsets.set(key, offsetMs);
  return offsetMs;
}

/** What a clock on the wall shows, as if it were UTC. */
function wallMs(zone: string, atMs: number): number {
  const day = Math.floor(atMs / DAY_MS);
  const offsetMs = offsetAtMidnightMs(zone, day);
  // On a day without a change of the clocks, it is the same all day.
  const isSame = offsetMs === offsetAtMidnightMs(zone, day + 1);
  return atMs + (isSame ? offsetMs : exactOffsetMs(zone, atMs));
}

/** The moment at which a clock on the wall shows this; before or after it if the clock jumps over it. */
function momentOf(zone: string, wall: number): number {
  const guess = wall - (wallMs(zone, wall) - wall);
  return guess - (wallMs(zone, guess) - wall);
}

function isWithin(windows: readonly CallWindow[], zone: string, atMs: number): boolean {
  const wall = wallMs(zone, atMs);
  // 1 January 1970 was a Thursday.
  const day = WEEKDAYS[(Math.floor(wall / DAY_MS) + 3) % WEEKDAYS.length];
  const minute = Math.floor((wall % DAY_MS) / MINUTE_MS);
  return windows.some(
    ({ days, from, to }) =>
      day !== undefined &&
      days.includes(day) &&
      minutesOf(from) <= minute &&
      minute < minutesOf(to),
  );
}

/** Whether it is within the windows in every one of the zones. `zones`: separated by blanks. */
export function isOpen(windows: readonly CallWindow[], zones: string, atMs: number): boolean {
  return zones.split(" ").every((zone) => isWithin(windows, zone, atMs));
}

/**
 * The first moment from `nowMs` on at which it is within the windows in every one of the zones; undefined if that never happens.
 * `zones`: separated by blanks.
 */
export function nextOpening(
  windows: readonly CallWindow[],
  zones: string,
  nowMs: number,
): number | undefined {
  if (isOpen(windows, zones, nowMs)) return nowMs;
  // All of them become open when the last one opens.
  const beginnings = [...new Set(windows.map(({ from }) => minutesOf(from)))];
  const openings = zones.split(" ").flatMap((zone) => {
    const today = Math.floor(wallMs(zone, nowMs) / DAY_MS) * DAY_MS;
    return Array.from({ length: DAYS_AHEAD + 1 }, (_, day) => today + day * DAY_MS).flatMap(
      (midnight) => beginnings.map((from) => momentOf(zone, midnight + from * MINUTE_MS)),
    );
  });
  return openings
    .filter((atMs) => atMs > nowMs)
    .sort((one, other) => one - other)
    .find((atMs) => isOpen(windows, zones, atMs));
}
