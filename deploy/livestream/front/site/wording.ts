import type { LiveStream } from "./live-stream.js";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** A readable name for a stream key: `evening-news_2` becomes "Evening news 2". */
export function titleOf(streamKey: string): string {
  const words = streamKey.replaceAll(/[-_]+/g, " ").trim();
  if (words === "") return streamKey;
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** One or two letters for the drawn poster. */
export function initialsOf(streamKey: string): string {
  const [first = "", second = ""] = titleOf(streamKey).split(" ");
  return (first.charAt(0) + second.charAt(0)).toUpperCase();
}

/** If the viewer's clock is behind the server's, the result is the start, not a negative time. */
export function liveForText(startedMs: number, nowMs: number): string {
  const passedMs = nowMs - startedMs;
  return passedMs < MINUTE_MS ? "Started just now" : `Live for ${durationText(passedMs)}`;
}

function durationText(passedMs: number): string {
  if (passedMs < HOUR_MS) return `${Math.floor(passedMs / MINUTE_MS)} min`;
  const hours = Math.floor(passedMs / HOUR_MS);
  const minutes = Math.floor((passedMs % HOUR_MS) / MINUTE_MS);
  if (passedMs < DAY_MS) return minutes === 0 ? `${hours} h` : `${hours} h ${minutes} min`;
  const days = Math.floor(passedMs / DAY_MS);
  return days === 1 ? "1 day" : `${days} days`;
}

/** Formatted like a stopwatch: 0:07, 12:34, 1:02:03. */
export function clockText(passedMs: number): string {
  const seconds = Math.max(0, Math.floor(passedMs / SECOND_MS));
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const tail = String(seconds % 60).padStart(2, "0");
  return hours === 0
    ? `${minutes}:${tail}`
    : `${hours}:${String(minutes).padStart(2, "0")}:${tail}`;
}

/** The best available quality, as "1080p"; undefined if no quality is known. */
export function bestQuality({ qualities }: LiveStream): string | undefined {
  const best = qualities[0];
  if (best === undefined) return undefined;
  return best.height > 0 ? best.name : "Sound only";
}

/** Whether the stream is known to have no video. */
export function isSoundAlone({ qualities }: LiveStream): boolean {
  return qualities.length > 0 && qualities.every(({ height }) => height === 0);
}

/** Empty if there are no viewers, or they are not counted. */
export function viewersText({ viewers = 0 }: LiveStream): string {
  if (viewers === 0) return "";
  return viewers === 1 ? "1 viewer" : `${viewers.toLocaleString("en")} viewers`;
}

export function countText(count: number): string {
  if (count === 0) return "No live streams";
  return count === 1 ? "1 live stream" : `${count} live streams`;
}

/** The hue of the drawn poster, 0 to 359: equal for equal keys and far apart for similar ones. */
export function hueOf(streamKey: string): number {
  let hash = 0x811c9dc5;
  for (const letter of streamKey) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  return (hash >>> 0) % 360;
}
