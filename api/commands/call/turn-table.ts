import { durationText, preciseMs, sizeText } from "../measures.js";
import type { Terminal } from "../terminal.js";
import { type Cell, printTable } from "../text-table.js";
import type { CallReport } from "./display.js";
import type { FrameMeasures } from "./frame-meter.js";
import type { Turn } from "./turn.js";

const HEADINGS = ["turn", "you said", "latency", "you heard"];
const FRAME_HEADINGS = ["frames", "bytes", "jitter"];

export function printTurns(terminal: Terminal, { turns, historyKey }: CallReport): void {
  const shown = turns.filter((turn) => turn.kind !== "greeting" || turn.hasAudio);
  const frameHeadings = shown.some(({ frames }) => frames) ? FRAME_HEADINGS : [];
  const headings = [...HEADINGS, ...frameHeadings, ""];
  if (shown.length > 0) printTable(terminal, headings, shown.map(rowOf));
  if (historyKey === "") return;
  terminal.print();
  terminal.print(
    terminal.paint(
      "dim",
      `To continue, with the same --url, --key and --agent if any: npm run call -- --session ${historyKey}`,
    ),
  );
}

function rowOf(turn: Turn): readonly Cell[] {
  const { latencyMs, heard } = turn;
  return [
    { text: turn.kind === "greeting" ? "-" : String(turn.number), isRightAligned: true },
    { text: turn.kind === "greeting" ? "(greeting)" : turn.said },
    { text: latencyMs === undefined ? "-" : durationText(latencyMs), isRightAligned: true },
    { text: heard === undefined || heard === "" ? "-" : heard },
    ...(turn.frames === undefined ? [] : frameCells(turn.frames)),
    noteOf(turn),
  ];
}

function frameCells({ count, bytes, jitterMs }: FrameMeasures): readonly Cell[] {
  const texts = [
    String(count),
    sizeText(bytes),
    jitterMs === undefined ? "-" : preciseMs(jitterMs),
  ];
  return texts.map((text) => ({ text, isRightAligned: true }));
}

function noteOf({ outcome, silencedAfterMs }: Turn): Cell {
  switch (outcome) {
    case "finished":
      return { text: "" };
    case "stopped": {
      const after = silencedAfterMs === undefined ? "" : ` in ${durationText(silencedAfterMs)}`;
      return { text: `interrupted${after}`, style: "yellow" };
    }
    case "unanswered":
      return { text: "not answered", style: "yellow" };
    case "waiting":
    case "talking":
    case "cutOff":
      return { text: "cut off", style: "red" };
  }
}
