import { useEffect, useRef } from "react";
import uPlot, { type AlignedData, type Options } from "uplot";
import { themeColor } from "./theme-color.js";

const HEIGHT_PX = 220;
const LABELS_PX = 64;
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
  /** What stands at the end of each line, in place of a legend. */
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
        { ...axis, space: 64, size: 28, values: (_plot, days) => days.map(dayWords) },
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
