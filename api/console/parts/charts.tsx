import uPlot, { type AlignedData, type Options, type Series } from "uplot";
import type { Answered } from "../model/contract-paths.js";
import { WAIT_PARTS } from "../model/turns.js";
import { waitWords } from "../words/durations.js";
import { Plot } from "./plot.js";

type Usage = Answered<"getUsage">;
type Waits = Answered<"getWaits">;
type Color = (name: string) => string;
type PlotOptions = Omit<Options, "width" | "height" | "axes">;

const HALF_DAY_SEC = 43_200;
const BAR_SHARE = 0.7;
const BAR_WIDTH_MAX_PX = 48;

export function MinutesChart({ usage }: { usage: Usage }) {
  const minutes = usage.map((day) => day.minutes);
  return (
    <Plot
      label={`Minutes a day: ${Math.round(minutes.reduce((a, b) => a + b, 0))} in all`}
      data={[timesOf(usage), minutes]}
      valueWords={minuteWords}
      options={(color) => ({
        scales: { x: { range: wholeDays }, y: { range: fromZero } },
        series: [{}, barOf(color("--accent"))],
      })}
    />
  );
}

/** Between the lines of little use, tenths would all be 0. */
function minuteWords(minutes: number): string {
  return `${Number(minutes < 1 ? minutes.toPrecision(2) : minutes.toFixed(1))} min`;
}

/** The median as a line, and a band up to the 95th percentile; days without replies are gaps. */
export function WaitsChart({ waits }: { waits: Waits }) {
  const data: AlignedData = [
    timesOf(waits),
    waits.map(({ p95Ms }) => p95Ms),
    waits.map(({ p50Ms }) => p50Ms),
  ];
  return (
    <Plot
      label="Waits a day: the median and the 95th percentile"
      data={data}
      valueWords={waitWords}
      ends={["95 %", "median"]}
      options={waitsOptions}
    />
  );
}

function waitsOptions(color: Color): PlotOptions {
  return {
    scales: { y: { range: fromZero } },
    series: [
      {},
      { stroke: color("--line-strong"), width: 1, points: { size: 5 } },
      { stroke: color("--accent"), width: 2, points: { size: 6 } },
    ],
    bands: [{ series: [1, 2], fill: color("--accent-wash") }],
  };
}

interface PartsChartProps {
  readonly waits: Waits;
  /** Whether each part is shown by its median, or by what 95 % stayed within. */
  readonly share: "parts" | "p95Parts";
}

/** The parts of the waits upon each other. */
export function PartsChart({ waits, share }: PartsChartProps) {
  const sums = WAIT_PARTS.map((_, last) =>
    waits.map(({ [share]: parts }) =>
      parts === null
        ? null
        : WAIT_PARTS.slice(0, last + 1).reduce((sum, { key }) => sum + parts[key], 0),
    ),
  );
  const of = share === "parts" ? "medians" : "95th percentiles";
  return (
    <>
      <Plot
        label={`What callers waited for, a day: the ${of} of the parts upon each other`}
        // The tallest is drawn first, and the others over it.
        data={[timesOf(waits), ...sums.toReversed()]}
        valueWords={waitWords}
        options={(color) => ({
          scales: { x: { range: wholeDays }, y: { range: fromZero } },
          series: [{}, ...PART_COLORS.toReversed().map((name) => barOf(color(name)))],
        })}
      />
      <div className="waterfall">
        <dl>
          {WAIT_PARTS.map(({ key, label }) => (
            <div key={key} className={key}>
              <dt>{label}</dt>
            </div>
          ))}
        </dl>
      </div>
    </>
  );
}

const PART_COLORS = [
  "--part-stt",
  "--part-token",
  "--part-sentence",
  "--part-voice",
  "--part-wire",
] as const;

function barOf(color: string): Series {
  const paths = uPlot.paths.bars?.({ size: [BAR_SHARE, BAR_WIDTH_MAX_PX] });
  return {
    fill: color,
    width: 0,
    points: { show: false },
    ...(paths === undefined ? {} : { paths }),
  };
}

function fromZero(_plot: uPlot, _min: number, max: number): [number, number] {
  return [0, max > 0 ? max * 1.1 : 1];
}

/** Half a day more at both ends, where the first and the last bar reach. */
function wholeDays(_plot: uPlot, min: number, max: number): [number, number] {
  return [min - HALF_DAY_SEC, max + HALF_DAY_SEC];
}

function timesOf(days: readonly { readonly date: string }[]): number[] {
  return days.map(({ date }) => Date.parse(date) / 1_000);
}
