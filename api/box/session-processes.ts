import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { BoxOwner } from "../../engine/box/box-owner.js";
import type { MemberLink } from "../../engine/box/box-questions.js";
import type { Parcel } from "../../engine/box/link.js";
import type { Logger } from "../../engine/log.js";
import type { CancelTimer, Clock } from "../../engine/time/clock.js";
import { within } from "../../engine/time/deadline.js";
import type { Database } from "../../storage/database.js";
import { childEnd } from "./child-end.js";
import type { FromOwner, SessionOrders } from "./session-orders.js";
import { startedBehind } from "./starting-priority.js";

const SCRIPT = fileURLToPath(new URL("./session-process.js", import.meta.url));
/** One that ends by itself is started again at once, one that does so over and over after a while. */
const RESTART_MIN_MS = 100;
const RESTART_MAX_MS = 30_000;
/** One that has lived for so long is not one that ends over and over. */
const WELL_MS = 60_000;
/** The calls of one that has ended are closed by nobody else: that is tried until it is done. */
const CLOSE_AGAIN_MIN_MS = 1_000;
const CLOSE_AGAIN_MAX_MS = 30_000;
/** After the drain: what the last writes of a process may take before it is ended. */
const LAST_WORK_MAX_MS = 30_000;

export interface SessionProcessesOptions {
  readonly count: number;
  /** What all of them are told; the first is told which port is left to it. */
  readonly orders: Omit<SessionOrders, "name" | "runId" | "isFirst" | "isKeeper">;
  readonly owner: BoxOwner;
  /** Told of each run before the first call that is opened under it. */
  readonly addRun: (runId: string) => Promise<void>;
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Running {
  readonly child: ChildProcess;
  readonly link: MemberLink;
  readonly gone: Promise<void>;
}

/** The session processes of a box: each carries calls of its own, and one that ends takes only those with it. */
export class SessionProcesses {
  readonly #options: SessionProcessesOptions;
  readonly #running = new Map<number, Running>();
  readonly #waiting = new Set<CancelTimer>();
  readonly #port: number;
  /** By place, how long the next start waits, were the last one not well. */
  readonly #waitMs = new Map<number, number>();
  #lastName = 0;
  #isStopping = false;

  /** Resolves when all of them listen on `port`; rejects when one ends before. */
  static async start(options: SessionProcessesOptions, port: number): Promise<SessionProcesses> {
    const processes = new SessionProcesses(options, port);
    try {
      // The first puts right what an earlier run has left, before others have calls.
      await processes.#begin(0, true);
      const others = Array.from({ length: options.count - 1 }, (_, index) => index + 1);
      await Promise.all(others.map((place) => processes.#begin(place, false)));
    } catch (error) {
      await processes.stop(0);
      throw error;
    }
    return processes;
  }

  private constructor(options: SessionProcessesOptions, port: number) {
    this.#options = options;
    this.#port = port;
  }

  /** Their process ids. */
  get pids(): readonly number[] {
    return [...this.#running.values()].flatMap(({ child }) => child.pid ?? []);
  }

  endAll(): void {
    for (const { link } of this.#running.values()) link.tell("endAll", undefined);
  }

  /** Drains all of them at once; one that takes too long is ended. */
  async stop(drainTimeoutMs: number): Promise<void> {
    this.#isStopping = true;
    for (const cancel of this.#waiting) cancel();
    const { clock } = this.#options;
    const all = [...this.#running.values()];
    for (const { link } of all) link.tell("stop", drainTimeoutMs);
    const gone = Promise.all(all.map((each) => each.gone));
    if (await within(clock, drainTimeoutMs + LAST_WORK_MAX_MS, gone)) return;
    for (const { child } of all) child.kill("SIGKILL");
    await gone;
  }

  async #begin(place: number, isFirst: boolean, isReplacement = false): Promise<void> {
    const { orders, addRun, clock, log } = this.#options;
    const runId = randomUUID();
    await addRun(runId).catch((cause: unknown) => {
      throw new RunNotAdded("the database was not told of the run", { cause });
    });
    this.#lastName += 1;
    const name = this.#lastName;
    const beganAtMs = clock.monotonicMs();
    const child = fork(SCRIPT, { serialization: "advanced", execArgv: process.execArgv });
    const comeForward = this.#startBehind(child, isReplacement);
    const gone = childEnd(child);
    const listening = new Promise<number>((resolve) => this.#join(name, child, gone, resolve));
    const settings = { ...orders.settings, port: this.#port };
    post(child, {
      kind: "begin",
      orders: { ...orders, settings, name, runId, isFirst, isKeeper: place === 0 },
    });
    void gone.then(async () => {
      await this.#ended(name, child, runId);
      this.#beginAgain(place, beganAtMs);
    });
    const ended = gone.then(() => {
      throw new Error("a session process ended before it listened");
    });
    await Promise.race([listening, ended]);
    comeForward();
    log.debug({ process: name, pid: child.pid }, "a session process takes calls");
  }

  /** While others have calls, what begins in the place of one that has ended takes no time from them. */
  #startBehind({ pid }: ChildProcess, isReplacement: boolean): () => void {
    if (pid === undefined || !isReplacement || this.#running.size === 0) return () => undefined;
    return startedBehind(pid, (error) => {
      this.#options.log.warn({ error }, "the priority of a session process could not be set");
    });
  }

  #join(name: number, child: ChildProcess, gone: Promise<void>, started: (port: number) => void) {
    const { owner, log } = this.#options;
    const link: MemberLink = owner.join(name, {
      post: (parcel) => post(child, { kind: "parcel", parcel }),
      started,
    });
    this.#running.set(name, { child, link, gone });
    child.on("message", (parcel: Parcel) => link.receive(parcel));
    child.on("error", (error) => log.error({ error, process: name }, "a session process failed"));
  }

  async #ended(name: number, child: ChildProcess, runId: string): Promise<void> {
    const { owner, log } = this.#options;
    this.#running.delete(name);
    const slots = owner.leave(name);
    if (this.#isStopping) return;
    const how = child.signalCode ?? `code ${child.exitCode}`;
    log.error(
      { process: name, how, calls: slots },
      "a session process has ended; the others go on",
    );
    await this.#closeRun(runId, CLOSE_AGAIN_MIN_MS);
  }

  async #closeRun(runId: string, waitMs: number): Promise<void> {
    const { database, clock, log } = this.#options;
    try {
      await database.calls.closeRun(runId, clock.epochMs());
    } catch (error) {
      log.error(
        { error, againInMs: waitMs },
        "the calls of a session process that ended could not be closed yet",
      );
      if (!this.#isStopping) {
        const nextWaitMs = Math.min(2 * waitMs, CLOSE_AGAIN_MAX_MS);
        this.#later(waitMs, () => void this.#closeRun(runId, nextWaitMs));
      }
    }
  }

  /** Unless the box stops before. */
  #later(waitMs: number, act: () => void): void {
    const cancel = this.#options.clock.after(waitMs, () => {
      this.#waiting.delete(cancel);
      act();
    });
    this.#waiting.add(cancel);
  }

  #beginAgain(place: number, beganAtMs: number): void {
    if (this.#isStopping) return;
    const { clock, log } = this.#options;
    const wasWell = clock.monotonicMs() - beganAtMs > WELL_MS;
    const waitMs = wasWell ? RESTART_MIN_MS : (this.#waitMs.get(place) ?? RESTART_MIN_MS);
    this.#waitMs.set(place, Math.min(2 * waitMs, RESTART_MAX_MS));
    this.#later(waitMs, () => {
      this.#begin(place, false, true).catch((error: unknown) => {
        log.error({ error }, "a session process could not be started again");
        // What has run tells of its end itself.
        if (error instanceof RunNotAdded) this.#beginAgain(place, clock.monotonicMs());
      });
    });
  }
}

/** Nothing was started yet. */
class RunNotAdded extends Error {
  override readonly name = "RunNotAdded";
}

function post(child: ChildProcess, message: FromOwner): void {
  if (child.connected) child.send(message);
}
