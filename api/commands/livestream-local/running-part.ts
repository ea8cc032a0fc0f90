import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { CancelTimer, Clock } from "../../../engine/time/clock.js";

/** How a part of the component is started. */
export interface PartCommand {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  /** Beside PATH; nothing else of the surroundings is passed on. */
  readonly env: Readonly<Record<string, string>>;
  /** Asks it to end in its own time. */
  readonly stopSignal: NodeJS.Signals;
}

export interface PartEvents {
  /** A line of its output, without the line end. */
  readonly onLine: (line: string) => void;
  readonly onStarted: (pid: number) => void;
  /** The part ended by itself and is started again. */
  readonly onEnded: (reason: string) => void;
  /** The part is given up: it ended too often, or before it was ready for the first time. */
  readonly onGivenUp: () => void;
}

const RESTART_DELAY_MS = 1_000;
/** Counted since the last time that it ran for RUN_IS_GOOD_MS. */
const RESTARTS_MAX = 5;
const RUN_IS_GOOD_MS = 30_000;
const STOP_TIMEOUT_MS = 10_000;

/** One process, started again when it ends by itself, as a container engine would: once it has been ready. */
export class RunningPart {
  readonly #command: PartCommand;
  readonly #events: PartEvents;
  readonly #clock: Clock;
  #child: ChildProcess | undefined;
  #startedMs = 0;
  #restarts = 0;
  #wasReady = false;
  #isStopping = false;
  #cancelRestart: CancelTimer | undefined;

  constructor(command: PartCommand, events: PartEvents, clock: Clock) {
    this.#command = command;
    this.#events = events;
    this.#clock = clock;
  }

  get name(): string {
    return this.#command.name;
  }

  start(): void {
    const { file, args, env } = this.#command;
    this.#startedMs = this.#clock.monotonicMs();
    // A group of its own: Ctrl-C in the terminal reaches this process alone, which then stops all parts in order.
    // When this process is killed hard, the kernel asks the part to end in its stead.
    const child = spawn("setpriv", ["--pdeathsig", "TERM", file, ...args], {
      env: { PATH: process.env["PATH"], ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    this.#child = child;
    for (const output of [child.stdout, child.stderr]) this.#readLines(output);
    child.once("error", (error) => this.#ended(child, error.message));
    child.once("exit", (code, signal) => this.#ended(child, describeEnd(code, signal)));
    if (child.pid !== undefined) this.#events.onStarted(child.pid);
  }

  /** From now on it is started again: what it needs is there, or it would have said so. */
  keep(): void {
    this.#wasReady = true;
  }

  /** Resolves when it is gone, with all that it had started; asks first. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#cancelRestart?.();
    const child = this.#child;
    if (child === undefined) return;
    const exited = once(child, "exit");
    child.kill(this.#command.stopSignal);
    const cancel = this.#clock.after(STOP_TIMEOUT_MS, () => this.kill());
    await exited;
    cancel();
    killGroup(child);
  }

  /** Ends it and all that it had started, without asking. */
  kill(): void {
    this.#isStopping = true;
    this.#cancelRestart?.();
    if (this.#child !== undefined) killGroup(this.#child);
  }

  #readLines(output: Readable): void {
    createInterface({ input: output }).on("line", this.#events.onLine);
  }

  #ended(child: ChildProcess, reason: string): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    // What it had started would hold its ports and write beside its successor.
    killGroup(child);
    if (this.#isStopping) return;
    if (this.#clock.monotonicMs() - this.#startedMs >= RUN_IS_GOOD_MS) this.#restarts = 0;
    this.#events.onEnded(reason);
    if (!this.#wasReady || this.#restarts === RESTARTS_MAX) return this.#events.onGivenUp();
    this.#restarts += 1;
    this.#cancelRestart = this.#clock.after(RESTART_DELAY_MS, () => this.start());
  }
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    const isGone = error instanceof Error && "code" in error && error.code === "ESRCH";
    if (!isGone) throw error;
  }
}

function describeEnd(code: number | null, signal: NodeJS.Signals | null): string {
  return signal === null ? `ended with exit status ${code}` : `was ended by ${signal}`;
}
