import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { setPriority } from "node:os";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { childrenOf } from "./process-usage.js";

/** The server has a core of its own, as the budgets assume; vendors and callers share the other one. */
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

const DATABASE_NICE = 10;

const READY_TIMEOUT_MS = 20_000;
const STOP_TIMEOUT_MS = 15_000;
/** So much of a process's error output is shown when it does not start. */
const ERROR_OUTPUT_CHARS_MAX = 4_000;

/** Ended with this process, however that ends. */
const running = new Set<ChildProcess>();

const canPin = spawnSync("taskset", ["--version"]).status === 0;

export interface ChildOptions {
  /** Path of the compiled script, relative to `bench`. */
  readonly script: string;
  readonly args?: readonly string[];
  readonly nodeFlags?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Left out: on any core. */
  readonly core?: number;
  /** Told of every line of its output. */
  readonly onLine?: (line: string) => void;
  /** Left out: 20 s. */
  readonly readyMaxMs?: number;
  /** Found in a line of its output when it is ready; the first group is handed out as `ready`. */
  readonly readyPattern: RegExp;
}

/** A Node process under measurement, on its own core where the machine allows it. */
export class BenchProcess {
  readonly pid: number;
  readonly ready: string;
  /** Where its inspector listens, and then those of the processes that it has started; none without `--inspect`. */
  readonly inspectorUrls: readonly string[];
  readonly #child: ChildProcess;

  static async start(options: ChildOptions): Promise<BenchProcess> {
    const script = fileURLToPath(new URL(`../${options.script}`, import.meta.url));
    const node = [process.execPath, ...(options.nodeFlags ?? []), script, ...(options.args ?? [])];
    const isPinned = canPin && options.core !== undefined;
    const pinned = isPinned ? ["taskset", "-c", String(options.core), ...node] : node;
    const [command = "", ...args] = pinned;
    // Nothing of the surrounding environment: a developer's own keys must not reach a vendor from here.
    const env = { PATH: process.env["PATH"] ?? "", ...options.env };
    const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    keep(child);
    let errors = "";
    child.stderr.on("data", (chunk: Buffer) => {
      errors = (errors + chunk.toString("utf8")).slice(-ERROR_OUTPUT_CHARS_MAX);
    });
    const ready = await readiness(child, options, () => errors);
    const inspectorUrls = Array.from(errors.matchAll(/ws:\/\/\S+/g), ([url]) => url);
    return new BenchProcess(child, ready, inspectorUrls);
  }

  private constructor(child: ChildProcess, ready: string, inspectorUrls: readonly string[]) {
    this.#child = child;
    this.pid = child.pid ?? 0;
    this.ready = ready;
    this.inspectorUrls = inspectorUrls;
  }

  /** Where its own inspector listens; undefined without `--inspect`. */
  get inspectorUrl(): string | undefined {
    return this.inspectorUrls[0];
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Null while it runs, and for one that was killed. */
  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  /** Asks it to end, and ends it when it does not. */
  async stop(): Promise<void> {
    if (!this.isRunning) return;
    const exited = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), STOP_TIMEOUT_MS);
    await exited;
    clearTimeout(timer);
  }

  /** Ends it as the kernel would, without a word to it. */
  async kill(): Promise<void> {
    if (!this.isRunning) return;
    const exited = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exited;
  }
}

function keep(child: ChildProcess): void {
  if (running.size === 0) {
    process.once("exit", endAll);
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, exitByHand);
  }
  running.add(child);
  child.once("exit", () => {
    running.delete(child);
    if (running.size > 0) return;
    process.removeListener("exit", endAll);
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.removeListener(signal, exitByHand);
  });
}

function endAll(): void {
  for (const child of running) child.kill("SIGKILL");
}

function exitByHand(): void {
  process.exit(1);
}

/** Keeps this process, which is the callers, off the server's core. */
export function pinThisProcess(): void {
  if (canPin) spawnSync("taskset", ["-a", "-cp", String(LOAD_CORE), String(process.pid)]);
}

/** The process stands beside the server, with those that it has started and will start. */
export function pinToServerCore(pid: number): void {
  if (!canPin) return;
  for (const each of [pid, ...childrenOf(pid)]) {
    spawnSync("taskset", ["-a", "-cp", String(SERVER_CORE), String(each)]);
  }
}

/**
 * A database on the server's own machine works behind it, as docs/operations/postgresql.md has it: calls do not wait for what is stored.
 * The process stands beside the server with a lower priority, with those that it has started and will start.
 */
export function putBehindServer(pid: number): void {
  pinToServerCore(pid);
  for (const each of [pid, ...childrenOf(pid)]) setPriority(each, DATABASE_NICE);
}

export function describePinning(): string {
  return canPin
    ? `server on core ${SERVER_CORE}, vendors and callers on core ${LOAD_CORE}`
    : "no pinning: there is no taskset";
}

function readiness(
  child: ChildProcess,
  { readyPattern, readyMaxMs = READY_TIMEOUT_MS, onLine = () => undefined }: ChildOptions,
  errors: () => string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => {
      clearTimeout(timer);
      child.kill("SIGKILL");
      reject(new Error(`${why}: ${errors()}`));
    };
    const timer = setTimeout(() => fail("the process was not ready in time"), readyMaxMs);
    child.once("error", (error) => fail(error.message));
    const onExit = (code: number | null) => fail(`the process ended with ${code}`);
    child.once("exit", onExit);
    if (child.stdout === null) return;
    createInterface({ input: child.stdout }).on("line", (line) => {
      onLine(line);
      const found = readyPattern.exec(line)?.[1];
      if (found === undefined) return;
      clearTimeout(timer);
      child.removeListener("exit", onExit);
      resolve(found);
    });
  });
}
