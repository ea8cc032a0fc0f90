import { PassThrough, Writable } from "node:stream";
import { type Command, runCommand } from "../../../api/commands/command.js";
import { Terminal } from "../../../api/commands/terminal.js";

/** Records what a command prints; a test types into `input`. */
export class RecordingTerminal extends Terminal {
  override readonly input: PassThrough;
  readonly #output: Paper;
  readonly #errors: Paper;

  constructor({ isColored = false, columns }: { isColored?: boolean; columns?: number } = {}) {
    const input = new PassThrough();
    const output = new Paper();
    const errorOutput = new Paper();
    super({ input, output, errorOutput, isColored, columns });
    this.input = input;
    this.#output = output;
    this.#errors = errorOutput;
  }

  get output(): string {
    return this.#output.text;
  }

  get lines(): readonly string[] {
    return this.output.split("\n").slice(0, -1);
  }

  get errors(): string {
    return this.#errors.text;
  }

  /** Resolves when a matching line has been printed. */
  printed(pattern: RegExp): Promise<void> {
    return this.#output.until(pattern);
  }

  type(line: string): void {
    this.input.write(`${line}\n`);
  }
}

/** Runs the command on its own terminal. Returns its exit code and its output. */
export async function ran(
  command: Command,
  ...args: readonly string[]
): Promise<{ readonly exitCode: number; readonly output: string; readonly errors: string }> {
  const terminal = new RecordingTerminal();
  const exitCode = await runCommand(command, args, terminal);
  return { exitCode, output: terminal.output, errors: terminal.errors };
}

class Paper extends Writable {
  text = "";
  readonly #waiting = new Set<{ readonly pattern: RegExp; readonly resolve: () => void }>();

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString("utf8");
    for (const waiting of this.#waiting) {
      if (!waiting.pattern.test(this.text)) continue;
      this.#waiting.delete(waiting);
      waiting.resolve();
    }
    done();
  }

  until(pattern: RegExp): Promise<void> {
    if (pattern.test(this.text)) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.add({ pattern, resolve });
    });
  }
}
