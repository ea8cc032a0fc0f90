import { Fragment, useEffect, useRef, useState } from "react";
import type { AlignedData, Options, Series } from "uplot";
import uPlot from "uplot";
import { Link, useSearchParams } from "wouter";
import type { Answered } from "../model/contract-paths.js";
import {
  useAgents,
  useApiKeys,
  useUsage,
  useUsageShares,
  useVendorShares,
  useWaits,
} from "../model/queries.js";
import { isKnown } from "../model/query-state.js";
import { WAIT_PARTS } from "../model/turns.js";
import { type NamedShare, sharesCsv, usageCsv, vendorsCsv } from "../model/usage-csv.js";
import { CsvButton } from "../parts/calls/csv-button.js";
import { type Figure, Figures } from "../parts/figures.js";
import { ChipChoice } from "../parts/forms/chip-choice.js";
import { Moment } from "../parts/moment.js";
import { PageHead } from "../parts/page-head.js";
import { Loaded, Outline } from "../parts/states.js";
import { themeColor } from "../parts/theme-color.js";
import { endReasonWords } from "../words/call-words.js";
import { totalWords, waitWords } from "../words/durations.js";
import { KIND_NAMES, keptFaultWords } from "../words/provider-words.js";

const HEIGHT_PX = 220;
const LABELS_PX = 64;
/** How high the row of days is, and how far it stands below the lowest value's label. */
const DAYS_PX = 36;
const DAYS_GAP_PX = 12;
const END_PX = 14;
/** How wide a digit of the labels is. */
const CHARACTER_PX = 8;
const LABEL_GAP_PX = 12;
const FONT = "12px system-ui, sans-serif";

interface PlotProps {
  /** For who does not see it. */
  readonly label: string;
  readonly data: AlignedData;
  readonly options: (color: (name: string) => string) => Omit<Options, "width" | "height" | "axes">;
  readonly valueWords: (value: number) => string;
  /** The label at the end of each line, instead of a legend. */
  readonly ends?: readonly string[];
}

/** A chart in the page's colours and of its width, with few ticks and no grid. */
export function Plot(props: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    let plot = draw(element, props);
    const redraw = () => {
      plot.destroy();
      plot = draw(element, props);
    };
    const resizing = new ResizeObserver(() => {
      plot.setSize({ width: element.clientWidth, height: HEIGHT_PX });
    });
    resizing.observe(element);
    const theme = matchMedia("(prefers-color-scheme: dark)");
    theme.addEventListener("change", redraw);
    const chosen = new MutationObserver(redraw);
    chosen.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      resizing.disconnect();
      chosen.disconnect();
      theme.removeEventListener("change", redraw);
      plot.destroy();
    };
  }, [props]);
  return (
    <figure className="chart" aria-label={props.label}>
      <div className="plot" ref={place} />
    </figure>
  );
}

function draw(element: HTMLElement, { data, options, valueWords, ends = [] }: PlotProps): uPlot {
  const axis = {
    stroke: themeColor("--ink-soft"),
    font: FONT,
    grid: { show: false },
    ticks: { show: false },
  };
  const given = options(themeColor);
  const values = (_plot: uPlot, ticks: number[]) => ticks.map(valueWords);
  return new uPlot(
    {
      ...given,
      width: element.clientWidth,
      height: HEIGHT_PX,
      legend: { show: false },
      cursor: { show: false },
      padding: [12, ends.length === 0 ? 16 : LABELS_PX, 0, 0],
      tzDate: (atSec) => uPlot.tzDate(new Date(atSec * 1_000), "Etc/UTC"),
      axes: [
        {
          ...axis,
          space: 64,
          size: DAYS_PX,
          gap: DAYS_GAP_PX,
          values: (_plot, days) => days.map(dayWords),
        },
        { ...axis, space: 48, size: labelsPx, values },
      ],
      hooks: { draw: [(plot) => drawEnds(plot, ends, themeColor("--ink-soft"))] },
    },
    data,
    element,
  );
}

/** As wide as the longest of the labels. */
function labelsPx(_plot: uPlot, labels: readonly string[] | null): number {
  const lengths = (labels ?? []).map(({ length }) => length);
  return Math.max(LABELS_PX, CHARACTER_PX * Math.max(0, ...lengths) + LABEL_GAP_PX);
}

const DAY_SEC = 86_400;

/** Only whole days are told. */
function dayWords(atSec: number): string {
  if (atSec % DAY_SEC !== 0) return "";
  const date = new Date(atSec * 1_000);
  return date.toLocaleDateString(undefined, { month: "short", day: "numeric", timeZone: "UTC" });
}

function drawEnds(plot: uPlot, ends: readonly string[], color: string): void {
  const { ctx } = plot;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.fillStyle = color;
  ctx.font = `${12 * scale}px system-ui, sans-serif`;
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  let lowest = Number.NEGATIVE_INFINITY;
  for (const [index, words] of ends.entries()) {
    const values = plot.data[index + 1] ?? [];
    const last = values.findLastIndex((value) => typeof value === "number");
    const value = values[last];
    const at = plot.data[0][last];
    if (typeof value !== "number" || at === undefined) continue;
    const x = plot.valToPos(at, "x", true) + 8 * scale;
    // Where the lines meet, their labels stand below each other.
    lowest = Math.max(plot.valToPos(value, "y", true), lowest + END_PX * scale);
    ctx.fillText(words, x, lowest);
  }
  ctx.restore();
}

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
      label="Latency a day: p50 and p95"
      data={data}
      valueWords={waitWords}
      ends={["p95", "p50"]}
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
        label={`Latency by part, a day: the ${of} of the parts upon each other`}
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

/** Which agents and which keys have used what. */
export function UsageShares({ days }: { days: number }) {
  const shares = useUsageShares(days);
  const agents = useAgents();
  const apiKeys = useApiKeys();
  const agentName = (id: string) => {
    if (agents.data === undefined) return "An agent";
    return agents.data.find(({ _id }) => _id === id)?.name ?? "An agent that was deleted";
  };
  const keyName = (id: string | null, channel: "web" | "phone" | undefined) => {
    if (id === null)
      return channel === "phone" ? "Telephone, without a key" : "Pages, without a key";
    if (apiKeys.data === undefined) return "A key";
    return apiKeys.data.find((key) => key.id === id)?.name ?? "A key that was deleted";
  };
  return (
    <Loaded query={shares} what="Usage by agent and by key">
      {(data) => (
        <>
          <ShareTable
            title="By agent"
            file="usage-by-agent.csv"
            shares={data.agents.map((share) => ({ ...share, name: agentName(share.id) }))}
          />
          <ShareTable
            title="By key"
            file="usage-by-key.csv"
            shares={data.apiKeys.map((share) => ({
              ...share,
              name: keyName(share.id, share.channel),
            }))}
          />
          <p className="soft">
            Tokens of summaries and analyses count for the organization, not for an agent or a key.
          </p>
          {data.isWhole ? null : (
            <p className="soft">
              There were more calls in these days than are counted here: these are the latest{" "}
              {data.calls.toLocaleString()}.
            </p>
          )}
        </>
      )}
    </Loaded>
  );
}

/** Why calls failed. */
function Failures({ failures }: Pick<NamedShare, "failures">) {
  return failures.map(({ endReason, calls }) => (
    <div key={endReason} className="soft">
      {endReasonWords(endReason)}
      {failures.length === 1 ? "" : `: ${calls.toLocaleString()}`}
    </div>
  ));
}

interface ShareTableProps {
  readonly title: string;
  readonly file: string;
  readonly shares: readonly NamedShare[];
}

function ShareTable({ title, file, shares }: ShareTableProps) {
  if (shares.length === 0) return null;
  return (
    <section className="card stack">
      <div className="row">
        <h2 style={{ flex: "1 1 auto" }}>{title}</h2>
        <CsvButton
          name={file}
          label={`CSV ${title.toLowerCase()}`}
          text={() => sharesCsv(shares)}
        />
      </div>
      <section className="table" tabIndex={0} aria-label={title}>
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Talked</th>
              <th scope="col">Calls</th>
              <th scope="col">Failed</th>
              <th scope="col" className="spare">
                Tokens
              </th>
              <th scope="col" className="spare">
                Characters spoken
              </th>
            </tr>
          </thead>
          <tbody>
            {shares.map((share, index) => (
              <tr key={index}>
                <th scope="row">
                  <bdi className="clamped" title={share.name}>
                    {share.name}
                  </bdi>
                </th>
                <td>{totalWords(share.minutes * 60)}</td>
                <td>{share.calls.toLocaleString()}</td>
                <td>
                  {share.failed.toLocaleString()}
                  <Failures failures={share.failures} />
                </td>
                <td className="spare">{share.llmTokens.toLocaleString()}</td>
                <td className="spare">{share.ttsChars.toLocaleString()}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

type Share = Answered<"getVendorShares">[number];

/** Which vendors have answered in how many turns, and which have failed, with what and why. */
export function VendorShares({ days }: { days: number }) {
  const shares = useVendorShares(days);
  return (
    <Loaded query={shares} what="Usage by vendor">
      {(all) => (all.length === 0 ? null : <VendorTable shares={all} />)}
    </Loaded>
  );
}

function VendorTable({ shares }: { shares: readonly Share[] }) {
  return (
    <section className="card stack">
      <div className="row">
        <h2 style={{ flex: "1 1 auto" }}>By vendor</h2>
        <CsvButton
          name="usage-by-vendor.csv"
          label="CSV by vendor"
          text={() => vendorsCsv(shares)}
        />
      </div>
      <p className="soft">
        In the turns of the latest 2,000 calls. A turn whose vendor failed was answered by a
        fallback, or ended in an apology.
      </p>
      <section className="table" tabIndex={0} aria-label="By vendor">
        <table>
          <thead>
            <tr>
              <th scope="col">Vendor</th>
              <th scope="col">Answered</th>
              <th scope="col">Failed</th>
              <th scope="col">Time lost</th>
            </tr>
          </thead>
          <tbody>
            {shares.map(({ category, vendor, answered, failed, wastedMs, faults }) => (
              <Fragment key={`${category} ${vendor}`}>
                <tr>
                  <th scope="row">
                    {vendor} <span className="soft">{KIND_NAMES[category]}</span>
                  </th>
                  <td>{turnWords(answered)}</td>
                  <td>
                    <span className={failed === 0 ? "" : "state fault"}>{turnWords(failed)}</span>
                  </td>
                  <td>{failed === 0 ? "" : waitWords(wastedMs)}</td>
                </tr>
                {faults.length === 0 ? null : (
                  <tr className="more">
                    <td colSpan={4}>
                      <Faults faults={faults} label={`${vendor} ${KIND_NAMES[category]}: faults`} />
                    </td>
                  </tr>
                )}
              </Fragment>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

/** What went wrong with one vendor, and in which call last. */
function Faults({ faults, label }: { faults: Share["faults"]; label: string }) {
  return (
    <ul aria-label={label}>
      {faults.map(({ fault, model, turns, lastCallId, lastCallAt }) => (
        <li key={`${fault} ${model ?? ""}`}>
          {model === null ? "" : `${model}: `}
          {keptFaultWords(fault)}, {turnWords(turns)}{" "}
          <span className="soft">
            (
            <Link href={`/calls/${lastCallId}`}>
              last in the call of <Moment at={lastCallAt} />
            </Link>
            )
          </span>
        </li>
      ))}
    </ul>
  );
}

function turnWords(count: number): string {
  return count === 1 ? "1 turn" : `${count.toLocaleString()} turns`;
}

const SPANS = [7, 30, 90] as const;

export function UsagePage() {
  const [search, setSearch] = useSearchParams();
  const days = SPANS.find((each) => String(each) === search.get("days")) ?? 30;
  const usage = useUsage(days);
  const waits = useWaits(days);
  const known = useKnownParts(days);
  return (
    <>
      <PageHead title="Usage" about="Days are counted in UTC.">
        <ChipChoice
          label="Days"
          choices={SPANS}
          chosen={days}
          wordsOf={(each) => `${each} days`}
          onChoose={(each) => setSearch({ days: String(each) }, { replace: true })}
        />
        <CsvLink usage={usage.data} waits={waits.data} />
      </PageHead>
      {known > 0 ? (
        <Loaded query={usage} what="Minutes a day">
          {(data) => <Minutes usage={data} />}
        </Loaded>
      ) : null}
      {known > 1 ? (
        <Loaded query={waits} what="Latency">
          {(data) => <WaitsOfDays waits={data} />}
        </Loaded>
      ) : null}
      {known > 2 ? <VendorShares days={days} /> : null}
      {known > 3 ? (
        <UsageShares days={days} />
      ) : (
        <Outline key={known} lines={4 - known} height={260} />
      )}
    </>
  );
}

/** So many parts of the page are known from the top: one that came before those above it would be pushed away by them. */
function useKnownParts(days: number): number {
  const shares = [useUsageShares(days), useAgents(), useApiKeys()];
  const parts = [[useUsage(days)], [useWaits(days)], [useVendorShares(days)], shares];
  const first = parts.findIndex((queries) => !queries.every(isKnown));
  return first < 0 ? parts.length : first;
}

function Minutes({ usage }: { usage: Usage }) {
  const sum = (of: (day: Usage[number]) => number) =>
    usage.reduce((total, day) => total + of(day), 0);
  const figures: readonly Figure[] = [
    ["Talked", totalWords(sum(({ minutes }) => minutes) * 60)],
    ["Calls", sum(({ calls }) => calls).toLocaleString()],
    ["Listened", totalWords(sum(({ sttSeconds }) => sttSeconds))],
    ["Tokens", sum(({ llmTokens }) => llmTokens).toLocaleString()],
    ["Characters spoken", sum(({ ttsChars }) => ttsChars).toLocaleString()],
  ];
  return (
    <section className="card stack">
      <h2>Minutes a day</h2>
      <Figures figures={figures} />
      <MinutesChart usage={usage} />
    </section>
  );
}

function WaitsOfDays({ waits }: { waits: Waits }) {
  const replies = waits.reduce((sum, { turns }) => sum + turns, 0);
  if (replies === 0) {
    return (
      <section className="card stack">
        <h2>Latency</h2>
        <p className="soft">No reply was measured in these days.</p>
      </section>
    );
  }
  return (
    <>
      <section className="card stack">
        <h2>Latency</h2>
        <p className="soft">
          The line is p50, the band reaches to p95;{" "}
          {replies === 1 ? "1 reply" : `${replies.toLocaleString()} replies`}.
        </p>
        <WaitsChart waits={waits} />
      </section>
      <PartsOfWaits waits={waits} />
    </>
  );
}

const SHARES = ["parts", "p95Parts"] as const;
const SHARE_WORDS = { parts: "p50", p95Parts: "p95" } as const;

function PartsOfWaits({ waits }: { waits: Waits }) {
  const [share, setShare] = useState<(typeof SHARES)[number]>("parts");
  return (
    <section className="card stack">
      <div className="row">
        <h2 style={{ flex: "1 1 auto" }}>Latency by part</h2>
        <ChipChoice
          label="Of each part"
          choices={SHARES}
          chosen={share}
          wordsOf={(each) => SHARE_WORDS[each]}
          onChoose={setShare}
        />
      </div>
      <PartsChart key={share} waits={waits} share={share} />
    </section>
  );
}

function CsvLink({ usage, waits }: { usage: Usage | undefined; waits: Waits | undefined }) {
  return (
    <CsvButton
      name="usage.csv"
      label="CSV"
      text={usage === undefined ? undefined : () => usageCsv(usage, waits ?? [])}
    />
  );
}
