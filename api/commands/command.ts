import { type ParseArgsConfig, parseArgs } from "node:util";
import { ConfigError } from "../../config.js";
import { RequestError } from "../../engine/request-error.js";
import { StorageUnavailableError } from "../../storage/statements/storage-error.js";
import { CommandError, UsageError } from "./command-error.js";
import type { Terminal } from "./terminal.js";

const EXIT_DONE = 0;
const EXIT_FAILED = 1;
const EXIT_WRONG_USAGE = 2;

export interface Command {
  readonly usage: string;
  /** Resolves when the work is done. Rejects with a CommandError or a UsageError if it fails. */
  run(args: readonly string[], terminal: Terminal): Promise<void>;
}

/** Resolves to the exit code: 0 for success, 1 for failure, 2 for wrong usage. Never rejects. */
export async function runCommand(
  command: Command,
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  if (asksForHelp(args)) {
    terminal.print(command.usage);
    return EXIT_DONE;
  }
  try {
    await command.run(args, terminal);
    return EXIT_DONE;
  } catch (error) {
    terminal.complain(explain(error));
    if (!(error instanceof UsageError)) return EXIT_FAILED;
    terminal.complain("See --help.");
    return EXIT_WRONG_USAGE;
  }
}

/** Like Node's `parseArgs`, but reports arguments that it does not accept as a one-line UsageError. */
export function parseCommandLine<Options extends ParseArgsConfig>(
  options: Options,
): ReturnType<typeof parseArgs<Options>> {
  try {
    return parseArgs(options);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const [firstSentence = error.message] = error.message.split(/\.\s|\n/);
    throw new UsageError(firstSentence);
  }
}

function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  const options = end < 0 ? args : args.slice(0, end);
  return options.includes("--help") || options.includes("-h");
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isForPeople = [
    CommandError,
    UsageError,
    RequestError,
    ConfigError,
    StorageUnavailableError,
  ].some((kind) => error instanceof kind);
  if (isForPeople || !(error.cause instanceof Error)) return error.message;
  return `${error.message}: ${explain(error.cause)}`;
}
