import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { CancelTimer, Clock } from "../../../engine/time/clock.js";

/** The command that starts a part of the component. */
export interface PartCommand {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  /** Added to PATH; no other variable of this process's environment is passed on. */
  readonly env: Readonly<Record<string, string>>;
  /** The signal that asks the process to end gracefully. */
  readonly stopSignal: NodeJS.Signals;
}

export interface PartEvents {
  /** Called with each line of its output, without the line ending. */
  readonly onLine: (line: string) => void;
  readonly onStarted: (pid: number) => void;
  /** The part ended by itself and is being restarted. */
  readonly onEnded: (reason: string) => void;
  /** The part is given up: it ended too often, or before it was ready for the first time. */
  readonly onGivenUp: () => void;
}

const RESTART_DELAY_MS = 1_000;
/** Restarts since the part last ran for RUN_IS_GOOD_MS. */
const RESTARTS_MAX = 5;
const RUN_IS_GOOD_MS = 30_000;
const STOP_TIMEOUT_MS = 10_000;

/** One process. Once it has been ready, it is restarted if it ends by itself, as a container engine would do. */
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
    // The part has a process group of its own: Ctrl-C in the terminal reaches only this process, which then stops all
    // parts in order. If this process is killed with SIGKILL, the kernel signals the part instead.
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

  /** From now on the part is restarted when it ends: it started successfully once, so its dependencies are there. */
  keep(): void {
    this.#wasReady = true;
  }

  /** Asks the part to end, and resolves when it and all its child processes are gone. */
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

  /** Kills the part and all its child processes. */
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
    // Child processes that are left would keep its ports open and write to the same files as its successor.
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
  return signal === null ? `ended with exit status ${code}` : `was killed by ${signal}`;
}
