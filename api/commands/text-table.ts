// Written by hand, since table packages such as cli-table3 need fixed column widths and do not fit the terminal.
import { printable, type Style, type Terminal } from "./terminal.js";

export interface Cell {
  readonly text: string;
  readonly style?: Style | undefined;
  readonly isRightAligned?: boolean;
}

const GAP = "  ";
/** A narrower column cannot show readable text. */
const CELL_CHARACTERS_MIN = 12;

/** Prints rows with aligned columns under a dim heading. The widest column shrinks to fit the terminal. */
export function printTable(
  terminal: Terminal,
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
): void {
  const clean = rows.map((row) => row.map((cell) => ({ ...cell, text: printable(cell.text) })));
  const natural = headings.map((heading, column) =>
    Math.max(lengthOf(heading), ...clean.map((row) => lengthOf(row[column]?.text ?? ""))),
  );
  const widths = fitted(natural, terminal.columns);
  const heading = headings.map((text, column): Cell => {
    const isRightAligned = clean[0]?.[column]?.isRightAligned ?? false;
    return { text, style: "dim", isRightAligned };
  });
  for (const row of [heading, ...clean]) {
    const cells = row.map((cell, column) => drawn(terminal, cell, widths[column] ?? 0));
    terminal.print(cells.join(GAP).trimEnd());
  }
}

export function shortened(text: string, charactersMax: number): string {
  const characters = Array.from(text);
  if (characters.length <= charactersMax) return text;
  return `${characters.slice(0, Math.max(0, charactersMax - 1)).join("")}…`;
}

/** Wraps text at words into lines of at most this many characters; returns one line if there is no limit. */
export function folded(text: string, charactersMax: number | undefined): readonly string[] {
  if (charactersMax === undefined) return [text];
  const width = Math.max(charactersMax, CELL_CHARACTERS_MIN);
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && lengthOf(longer) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

function drawn(terminal: Terminal, cell: Cell, width: number): string {
  const text = shortened(cell.text, width);
  const blanks = " ".repeat(Math.max(0, width - lengthOf(text)));
  const painted = cell.style === undefined ? text : terminal.paint(cell.style, text);
  return cell.isRightAligned === true ? blanks + painted : painted + blanks;
}

function fitted(natural: readonly number[], columns: number | undefined): readonly number[] {
  const widths = [...natural];
  if (columns === undefined) return widths;
  const gaps = GAP.length * (widths.length - 1);
  let excess = widths.reduce((sum, width) => sum + width, gaps) - columns;
  while (excess > 0) {
    const widest = widths.indexOf(Math.max(...widths));
    const width = widths[widest] ?? 0;
    if (width <= CELL_CHARACTERS_MIN) break;
    widths[widest] = width - 1;
    excess -= 1;
  }
  return widths;
}

function lengthOf(text: string): number {
  return Array.from(text).length;
}
