export interface CallFilters {
  readonly agentId?: string;
  readonly status?: "active" | "completed" | "failed";
  readonly channel?: "web" | "phone";
  readonly direction?: "inbound" | "outbound" | "web";
  readonly from?: string;
  readonly to?: string;
  readonly startedAfter?: string;
  readonly startedBefore?: string;
  readonly longerThanSec?: number;
  readonly waitedMoreThanMs?: number;
  readonly words?: string;
  readonly attention?: "true";
}

/** As many as the API takes. */
export const WORDS_CHARACTERS_MAX = 100;
const STATUSES = ["active", "completed", "failed"] as const;
const DIRECTIONS = ["inbound", "outbound", "web"] as const;
export const NUMBER_CHARACTERS_MAX = 128;
const CHANNELS = ["web", "phone"] as const;

/** What the address bar says of which calls are shown; what cannot be understood is left out. */
export function filtersOf(search: URLSearchParams): CallFilters {
  const agentId = search.get("agent");
  const status = STATUSES.find((each) => each === search.get("status"));
  const channel = CHANNELS.find((each) => each === search.get("channel"));
  const direction = DIRECTIONS.find((each) => each === search.get("direction"));
  const from = numberOf(search.get("from"));
  const to = numberOf(search.get("to"));
  const startedAfter = startOfDay(search.get("since"), 0);
  const startedBefore = startOfDay(search.get("until"), 1);
  const longerThanSec = wholeNumber(search.get("longer"));
  const waitedMoreThanMs = wholeNumber(search.get("waited"));
  const words = search.get("words")?.trim().slice(0, WORDS_CHARACTERS_MAX) ?? "";
  return {
    ...(agentId === null || agentId === "" ? {} : { agentId }),
    ...(status === undefined ? {} : { status }),
    ...(channel === undefined ? {} : { channel }),
    ...(direction === undefined ? {} : { direction }),
    ...(from === "" ? {} : { from }),
    ...(to === "" ? {} : { to }),
    ...(startedAfter === undefined ? {} : { startedAfter }),
    ...(startedBefore === undefined ? {} : { startedBefore }),
    ...(longerThanSec === undefined ? {} : { longerThanSec }),
    ...(waitedMoreThanMs === undefined ? {} : { waitedMoreThanMs }),
    ...(words === "" ? {} : { words }),
    ...(search.get("attention") === "true" ? { attention: "true" } : {}),
  };
}

function numberOf(text: string | null): string {
  return text?.trim().slice(0, NUMBER_CHARACTERS_MAX) ?? "";
}

/** When a day of the reader begins, or one that many days later; undefined where the text is no day. */
function startOfDay(day: string | null, daysLater: number): string | undefined {
  if (day === null || !/^\d{4}-\d{2}-\d{2}$/.test(day)) return undefined;
  const at = new Date(`${day}T00:00:00`);
  if (Number.isNaN(at.getTime())) return undefined;
  at.setDate(at.getDate() + daysLater);
  return at.toISOString();
}

function wholeNumber(text: string | null): number | undefined {
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : undefined;
}
