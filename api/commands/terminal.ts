import type { Readable, Writable } from "node:stream";
import { styleText } from "node:util";

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

export interface TerminalOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly errorOutput: Writable;
  readonly isColored: boolean;
  /** Longer lines are broken or shortened; undefined where nobody looks at a screen. */
  readonly columns: number | undefined;
}

/** Where a command reads and writes: the process's own streams, or those of a test. */
export class Terminal {
  readonly input: Readable;
  readonly columns: number | undefined;
  readonly #output: Writable;
  readonly #errorOutput: Writable;
  readonly #isColored: boolean;

  constructor({ input, output, errorOutput, isColored, columns }: TerminalOptions) {
    this.input = input;
    this.columns = columns;
    this.#output = output;
    this.#errorOutput = errorOutput;
    this.#isColored = isColored;
  }

  print(line = ""): void {
    this.#output.write(`${line}\n`);
  }

  complain(line: string): void {
    this.#errorOutput.write(`${line}\n`);
  }

  /** Unchanged where colours are not wanted. */
  paint(style: Style, text: string): string {
    return this.#isColored ? styleText(style, text, { validateStream: false }) : text;
  }
}

/** What a shell says of a program that SIGPIPE has ended. */
const EXIT_READER_GONE = 141;

/** Colours only on a screen, and not for those who said no (https://no-color.org). */
export function processTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process;
  // Whoever read the output, such as `head`, has seen enough.
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(EXIT_READER_GONE);
  });
  return new Terminal({
    input: stdin,
    output: stdout,
    errorOutput: stderr,
    isColored: stdout.isTTY && (env["NO_COLOR"] ?? "") === "",
    columns: stdout.isTTY ? stdout.columns : undefined,
  });
}

/** Control characters, line ends, and the marks that turn the direction of writing. */
const COMMANDING = /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu;

/** Text of others on one line, without what could make a terminal do things. */
export function printable(text: string): string {
  return text.replace(COMMANDING, " ").replace(/ {2,}/g, " ").trim();
}
