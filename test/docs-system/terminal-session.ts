import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { type AwaitedText, awaitedText } from "./awaited-text.js";

/** What bash writes after each piece of work; no program of ours prints this. */
const DONE = /([\s\S]*?)<<done (\d+)>>\n/;
const PRINT_DONE = (what: string) => `printf '<<done %s>>\\n' "${what}"\n`;

/** One bash that is given commands as a reader would type them: variables and functions stay, a failure ends it. */
export class TerminalSession {
  readonly #bash: ChildProcess;
  readonly #commands: Writable;
  readonly #output: AwaitedText;
  readonly #jobs: AwaitedText;
  readonly #jobIds = new Set<number>();

  /** Throws where there is no bash. `beginning` is typed first, and prints nothing. */
  constructor(folder: string, environment: Readonly<Record<string, string>>, beginning = "") {
    const bash = spawn("bash", ["-euo", "pipefail", "-s"], {
      cwd: folder,
      env: environment,
      stdio: ["pipe", "pipe", "pipe", "pipe"],
    });
    const [commands, output, complaints, jobs] = bash.stdio;
    const complained = awaitedText(readable(complaints), () => "");
    const explain = () => complained.rest.trimEnd();
    this.#bash = bash;
    this.#commands = writable(commands);
    this.#output = awaitedText(readable(output), explain);
    this.#jobs = awaitedText(readable(jobs), () => `${explain()}\n${this.#jobs.rest}`);
    // What is written to a bash that has ended is told by its output's end.
    this.#commands.on("error", () => undefined);
    this.#commands.write(`${beginning}\n`);
  }

  /** What it printed; rejects with bash's complaints when a command fails. */
  async run(commands: string): Promise<string> {
    this.#commands.write(`{ ${commands}\n} </dev/null\n${PRINT_DONE("0")}`);
    const [, printed = ""] = await this.#output.until(DONE);
    return printed;
  }

  /** Lets one plain command run in the background, as in a terminal of its own, until it prints what is waited for. */
  async start(command: string, listening: RegExp): Promise<{ jobId: number; port: string }> {
    this.#commands.write(`set -m\n${command} </dev/null >&3 2>&1 &\nset +m\n${PRINT_DONE("$!")}`);
    const [, , id = ""] = await this.#output.until(DONE);
    const jobId = Number(id);
    this.#jobIds.add(jobId);
    const [, port = ""] = await this.#jobs.until(listening);
    return { jobId, port };
  }

  /** As Ctrl-C in that terminal; resolves when all of it has ended. */
  async stop(jobId: number): Promise<void> {
    this.#jobIds.delete(jobId);
    signalJob(jobId, "SIGINT");
    await this.run(`wait ${jobId} || true`);
  }

  /** Ends everything that was started here; waits for the servers, which leave their folder in order. */
  async close(): Promise<void> {
    const ids = [...this.#jobIds];
    try {
      if (this.#bash.exitCode === null) for (const id of ids) await this.stop(id);
    } finally {
      for (const id of ids) signalJob(id, "SIGKILL");
      this.#commands.end();
      this.#bash.kill("SIGKILL");
    }
  }
}

/** To the whole of its process group, which may be gone. */
function signalJob(jobId: number, signal: "SIGINT" | "SIGKILL"): void {
  try {
    process.kill(-jobId, signal);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

function readable(stream: Readable | Writable | null | undefined): Readable {
  if (stream !== null && stream !== undefined && "read" in stream) return stream;
  throw new Error("bash has no such output");
}

function writable(stream: Readable | Writable | null | undefined): Writable {
  if (stream !== null && stream !== undefined && "write" in stream) return stream;
  throw new Error("bash has no such input");
}
