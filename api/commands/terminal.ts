import type { Readable, Writable } from "node:stream";
import { styleText } from "node:util";

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

export interface TerminalOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly errorOutput: Writable;
  readonly isColored: boolean;
  /** Longer lines are wrapped or shortened. Undefined if the output is not a terminal. */
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

  /** Returns the text unchanged if colours are off. */
  paint(style: Style, text: string): string {
    return this.#isColored ? styleText(style, text, { validateStream: false }) : text;
  }
}

/** The exit status that a shell reports for a program that was ended by SIGPIPE. */
const EXIT_READER_GONE = 141;

/** Colours are used only on a terminal, and only if NO_COLOR is not set (https://no-color.org). */
export function processTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process;
  // The reader of the output, such as `head`, has closed the pipe.
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

/** Control characters, line endings, and characters that change the writing direction. */
const COMMANDING = /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu;

/** Foreign text on one line, without the characters that control a terminal. */
export function printable(text: string): string {
  return text.replace(COMMANDING, " ").replace(/ {2,}/g, " ").trim();
}
