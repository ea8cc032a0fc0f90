import { endReasonWords } from "./call-words.js";
import { minuteWords } from "./durations.js";

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

/** The code of a hold that is the telephony vendor's. */
const VENDOR_HOLD = "telephony_unavailable";

interface ListState {
  readonly state: keyof typeof LIST_STATES;
  readonly hold: {
    readonly code: string;
    readonly reason: string;
    readonly since: string;
    readonly retryAt: string | null;
  } | null;
  readonly nextCallAt: string | null;
  readonly counts: Counts;
}

/** Whether a running list places no calls because of its vendor. */
export function isHeldByVendor({ state, hold }: Pick<ListState, "state" | "hold">): boolean {
  return state === "running" && hold?.code === VENDOR_HOLD;
}

/** Holds that pass within minutes, as a plan or a server that has all its calls. */
const SHORT_HOLDS: ReadonlySet<string> = new Set(["calls_limit_reached", "overloaded"]);

/** Whether people should know that the list places no calls: it was paused for a reason, or is held for long. */
export function isHeldForLong({ state, hold }: Pick<ListState, "state" | "hold">): boolean {
  if (hold === null) return false;
  return state === "paused" || (state === "running" && !SHORT_HOLDS.has(hold.code));
}

/** What a list does now: a running one may have no calls. */
export function listState(list: ListState): { readonly words: string; readonly look: string } {
  if (isHeldByVendor(list)) return { words: "waiting for the vendor", look: "warn" };
  const { state, nextCallAt, counts } = list;
  if (state === "running" && nextCallAt !== null && counts.calling === 0) {
    return { words: `waiting until ${minuteWords(Date.parse(nextCallAt))}`, look: "" };
  }
  return LIST_STATES[state];
}

/** Why no calls are placed, since when, and when that is tried again. */
export function holdWords({ state, hold }: Pick<ListState, "state" | "hold">): string | undefined {
  if (hold === null) return undefined;
  const { reason, since, retryAt } = hold;
  const when = minuteWords(Date.parse(since));
  if (state === "paused") return `Paused: ${reason} (since ${when}).`;
  const next = retryAt === null ? "" : ` Next try after ${minuteWords(Date.parse(retryAt))}.`;
  return `No call could be placed since ${when}: ${reason}.${next}`;
}

/** "12 of 30 (40 %)": how many of the people who are done with were reached. */
export function reachedWords(counts: Counts): string {
  const done = doneOf(counts) - counts.cancelled;
  if (done === 0) return "none yet";
  return `${counts.completed} of ${done} (${Math.round((100 * counts.completed) / done)} %)`;
}

const REASONS: Readonly<Record<string, string>> = {
  doNotCall: "on the do-not-call list",
  targetNotAllowed: "the organization may not call this number",
  rejected: "the telephony vendor refused the call",
  callerLeft: "talked with the agent, and hung up",
  agentHungUp: "talked with the agent, which ended the call",
};

/** How the last call ended, or why there was none. */
export function rowReasonWords(reason: string, state: keyof typeof ROW_STATES): string {
  if (reason === "machine" && state === "completed") return "the agent left a message";
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
