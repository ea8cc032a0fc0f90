import type { ReactNode } from "react";
import type { Answered } from "../../model/contract-paths.js";
import { totalWords, waitWords } from "../../words/durations.js";

const WEEKDAY = new Intl.DateTimeFormat(undefined, { weekday: "short", timeZone: "UTC" });
/** A day with few calls is still seen. */
const BAR_MIN_PERCENT = 4;
const ROUND_MS = [200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 60_000] as const;

type UsageDay = Answered<"getUsage">[number];
type LatencyDay = Answered<"getWaits">[number];

/** Calls of each day as bars. */
export function CallsByDay({ days }: { days: readonly UsageDay[] }) {
  const most = Math.max(...days.map(({ calls }) => calls), 1);
  return (
    <DayColumns
      label={`Calls by day. ${days.map(({ date, calls }) => `${date}: ${calls}`).join(", ")}`}
      top={most.toLocaleString()}
      days={days.map(({ date, calls, minutes }) => ({
        date,
        title: `${date}: ${calls} calls, ${totalWords(minutes * 60)}`,
        mark:
          calls === 0 ? null : (
            <span
              className="bar"
              style={{ height: `${Math.max(BAR_MIN_PERCENT, (calls / most) * 100)}%` }}
            />
          ),
      }))}
    />
  );
}

/** From p50 to p95 of each day as a band, with a line at p50. A day without replies is a gap. */
export function LatencyByDay({ days }: { days: readonly LatencyDay[] }) {
  const topMs = topOf(Math.max(...days.map(({ p95Ms }) => p95Ms ?? 0)));
  const words = days.flatMap(({ date, p50Ms, p95Ms }) =>
    p50Ms === null || p95Ms === null
      ? []
      : [`${date}: p50 ${waitWords(p50Ms)}, p95 ${waitWords(p95Ms)}`],
  );
  return (
    <DayColumns
      label={`Latency by day. ${words.join("; ")}`}
      top={waitWords(topMs)}
      days={days.map(({ date, p50Ms, p95Ms }) => ({
        date,
        title:
          p50Ms === null || p95Ms === null
            ? `${date}: no replies`
            : `${date}: p50 ${waitWords(p50Ms)}, p95 ${waitWords(p95Ms)}`,
        mark:
          p50Ms === null || p95Ms === null ? null : (
            <span
              className="band"
              style={{
                marginBottom: `calc(${(p50Ms / topMs) * 100}cqh - 3px)`,
                height: `max(3px, ${((p95Ms - p50Ms) / topMs) * 100}%)`,
              }}
            />
          ),
      }))}
    />
  );
}

/** The next round duration, so that a change of scale is rare. */
function topOf(longestMs: number): number {
  return ROUND_MS.find((roundMs) => roundMs >= longestMs) ?? longestMs;
}

interface DayColumnsProps {
  readonly label: string;
  /** The value at the upper edge. */
  readonly top: string;
  readonly days: readonly {
    readonly date: string;
    readonly title: string;
    readonly mark: ReactNode;
  }[];
}

function DayColumns({ label, top, days }: DayColumnsProps) {
  return (
    <div className="day-columns" role="img" aria-label={label}>
      <span className="top">{top}</span>
      {days.map(({ date, title, mark }) => (
        <div key={date} title={title}>
          <div className="plot">{mark}</div>
          <span className="day">{WEEKDAY.format(new Date(`${date}T00:00:00Z`))}</span>
        </div>
      ))}
    </div>
  );
}
