const SECOND_MS = 1_000;
const MINUTE_SEC = 60;
const HOUR_SEC = 3_600;
const DAY_SEC = 86_400;

/** A wait in words: milliseconds up to 999, then seconds with one decimal. */
export function waitWords(durationMs: number): string {
  const rounded = Math.round(durationMs);
  return rounded < SECOND_MS ? `${rounded} ms` : `${(rounded / SECOND_MS).toFixed(1)} s`;
}

/** A wait against an earlier one: `12 % quicker`, `3 % slower`, `as quick`. */
export function againstWords(durationMs: number, beforeMs: number): string {
  if (beforeMs === 0) return "as quick";
  const percent = Math.round((100 * (durationMs - beforeMs)) / beforeMs);
  if (percent === 0) return "as quick";
  return percent < 0 ? `${-percent} % quicker` : `${percent} % slower`;
}

/** The length of a call: `8 s`, `2:05 min`, `1:02:05 h`. */
export function lengthWords(durationSec: number): string {
  const whole = Math.round(durationSec);
  if (whole < MINUTE_SEC) return `${whole} s`;
  const seconds = padded(whole % MINUTE_SEC);
  const minutes = Math.floor(whole / MINUTE_SEC) % MINUTE_SEC;
  if (whole < HOUR_SEC) return `${minutes}:${seconds} min`;
  return `${Math.floor(whole / HOUR_SEC)}:${padded(minutes)}:${seconds} h`;
}

/** Many calls together: `59 min`, `18 h 33 min`. */
export function totalWords(durationSec: number): string {
  if (durationSec < MINUTE_SEC) return lengthWords(durationSec);
  const minutes = Math.round(durationSec / MINUTE_SEC);
  if (minutes < MINUTE_SEC) return `${minutes} min`;
  return `${Math.floor(minutes / MINUTE_SEC).toLocaleString("en")} h ${minutes % MINUTE_SEC} min`;
}

/** A moment of a call: `0:08`, `12:34`. */
export function momentWords(momentSec: number): string {
  const whole = Math.max(0, Math.floor(momentSec));
  return `${Math.floor(whole / MINUTE_SEC)}:${padded(whole % MINUTE_SEC)}`;
}

/** When something was: relative within a day, then the date. */
export function whenWords(atMs: number, nowMs: number): string {
  const agoSec = Math.round((nowMs - atMs) / SECOND_MS);
  if (agoSec < 5) return "just now";
  if (agoSec < MINUTE_SEC) return `${agoSec} s ago`;
  if (agoSec < HOUR_SEC) return `${Math.floor(agoSec / MINUTE_SEC)} min ago`;
  if (agoSec < DAY_SEC) return `${Math.floor(agoSec / HOUR_SEC)} h ago`;
  return new Date(atMs).toLocaleDateString(undefined, {
    year: "numeric",
    month: "short",
    day: "numeric",
  });
}

/** The moment in full, for who points at it. */
export function exactWords(atMs: number): string {
  return new Date(atMs).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}

/** The moment to the minute, where it has to fit into little room. */
export function minuteWords(atMs: number): string {
  return new Date(atMs).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

function padded(value: number): string {
  return String(value).padStart(2, "0");
}
