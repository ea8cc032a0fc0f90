import { endReasonWords } from "./call-words.js";

export const LIST_STATES = {
  ready: { words: "not started", look: "" },
  running: { words: "calling", look: "live" },
  paused: { words: "paused", look: "warn" },
  completed: { words: "completed", look: "good" },
  cancelled: { words: "cancelled", look: "" },
} as const;

export const ROW_STATES = {
  waiting: { words: "waiting", look: "" },
  calling: { words: "calling", look: "live" },
  completed: { words: "reached", look: "good" },
  failed: { words: "not reached", look: "fault" },
  skipped: { words: "not called", look: "warn" },
  cancelled: { words: "cancelled", look: "" },
} as const;

const REASONS: Readonly<Record<string, string>> = {
  doNotCall: "on the do-not-call list",
  targetNotAllowed: "the organization may not call this number",
  rejected: "the telephony vendor refused the call",
};

/** How the last call ended, or why there was none. */
export function rowReasonWords(reason: string): string {
  return REASONS[reason] ?? endReasonWords(reason);
}

type Counts = Readonly<Record<keyof typeof ROW_STATES, number>>;

export function peopleOf(counts: Counts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** People for whom nothing more will be done. */
export function doneOf(counts: Counts): number {
  return peopleOf(counts) - counts.waiting - counts.calling;
}

/** "3 reached, 1 not reached, 2 waiting": only the states that there are. */
export function countsWords(counts: Counts): string {
  const states = ["completed", "failed", "skipped", "calling", "waiting", "cancelled"] as const;
  return states
    .filter((state) => counts[state] > 0)
    .map((state) => `${counts[state]} ${ROW_STATES[state].words}`)
    .join(", ");
}

const DAY_WORDS = {
  mon: "Mon",
  tue: "Tue",
  wed: "Wed",
  thu: "Thu",
  fri: "Fri",
  sat: "Sat",
  sun: "Sun",
} as const;

interface Window {
  readonly days: readonly (keyof typeof DAY_WORDS)[];
  readonly from: string;
  readonly to: string;
}

const ALL_DAYS = Object.keys(DAY_WORDS).length;
const FROM_MONDAY_TO_FRIDAY = "mon tue wed thu fri";

function daysWords(days: Window["days"]): string {
  if (days.length === ALL_DAYS) return "Every day";
  if (days.join(" ") === FROM_MONDAY_TO_FRIDAY) return "Mon–Fri";
  return days.map((day) => DAY_WORDS[day]).join(" ");
}

/** "Mon–Fri 09:00–20:00; Sat 10:00–14:00". */
export function windowsWords(windows: readonly Window[]): string {
  return windows.map(({ days, from, to }) => `${daysWords(days)} ${from}–${to}`).join("; ");
}
