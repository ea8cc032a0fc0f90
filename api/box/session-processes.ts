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
import { RestartingPort } from "./restarting-port.js";
import type { FromOwner, SessionOrders } from "./session-orders.js";
import { startedBehind } from "./starting-priority.js";

const SCRIPT = fileURLToPath(new URL("./session-process.js", import.meta.url));
/** The first restart of a process comes after this; each further one waits twice as long, up to what its bound allows. */
const RESTART_MIN_MS = 100;
/** A process that took calls is soon started again, however often it ends: callers wait for it. */
export const RESTART_MAX_MS = 5_000;
/** While no process takes calls, one that did is started again at once. */
export const RESTART_ALONE_MAX_MS = 1_000;
/** One that ends before it listens may do so for ever, and each start costs the others a second of a core. */
export const FAILED_START_MAX_MS = 30_000;
export const FAILED_START_ALONE_MAX_MS = 5_000;
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

/** How a session process ended. */
export interface ProcessEnd {
  readonly hasListened: boolean;
  readonly livedMs: number;
  /** No other process takes calls. */
  readonly isAlone: boolean;
}

/** How long the next start of one place waits. A place has its own, so that no process waits for another's faults. */
export class RestartWait {
  #endCount = 0;

  after({ hasListened, livedMs, isAlone }: ProcessEnd): number {
    if (livedMs > WELL_MS) this.#endCount = 0;
    const waitMs = RESTART_MIN_MS * 2 ** this.#endCount;
    const alone = hasListened ? RESTART_ALONE_MAX_MS : FAILED_START_ALONE_MAX_MS;
    const among = hasListened ? RESTART_MAX_MS : FAILED_START_MAX_MS;
    if (waitMs < FAILED_START_MAX_MS) this.#endCount += 1;
    return Math.min(waitMs, isAlone ? alone : among);
  }
}

/** The session processes of a box: each carries calls of its own, and one that ends takes only those with it. */
export class SessionProcesses {
  readonly #options: SessionProcessesOptions;
  readonly #running = new Map<number, Running>();
  readonly #waiting = new Set<CancelTimer>();
  readonly #port: number;
  readonly #restartWaits: readonly RestartWait[];
  /** The names of those that listen. */
  readonly #listening = new Set<number>();
  readonly #restartingPort: RestartingPort;
  /** All have listened once: from then on callers are told when none does. */
  #hasStarted = false;
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
      processes.#hasStarted = true;
      processes.#answerCallers();
    } catch (error) {
      await processes.stop(0);
      throw error;
    }
    return processes;
  }

  private constructor(options: SessionProcessesOptions, port: number) {
    const { count, orders, log } = options;
    const { host, httpFront } = orders.settings;
    this.#options = options;
    this.#port = port;
    this.#restartWaits = Array.from({ length: count }, () => new RestartWait());
    this.#restartingPort = new RestartingPort({ host, port, httpFront, log });
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
    await this.#restartingPort.close();
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
    const gone = childEnd(child);
    const comeForward = this.#startBehind(child, gone, isReplacement);
    const listening = new Promise<number>((resolve) => this.#join(name, child, gone, resolve));
    const settings = { ...orders.settings, port: this.#port };
    post(child, {
      kind: "begin",
      orders: { ...orders, settings, name, runId, isFirst, isKeeper: place === 0 },
    });
    void gone.then(async () => {
      const hasListened = this.#listening.delete(name);
      const isAlone = this.#listening.size === 0;
      this.#answerCallers();
      const livedMs = clock.monotonicMs() - beganAtMs;
      this.#beginAgain(place, { hasListened, livedMs, isAlone });
      await this.#ended(name, child, runId);
    });
    const ended = gone.then(() => {
      throw new Error("a session process ended before it listened");
    });
    await Promise.race([listening, ended]);
    this.#listening.add(name);
    this.#answerCallers();
    comeForward();
    log.debug({ process: name, pid: child.pid }, "a session process takes calls");
  }

  /** While others have calls, what begins in the place of one that has ended takes no time from them. */
  #startBehind({ pid }: ChildProcess, gone: Promise<void>, isReplacement: boolean): () => void {
    if (pid === undefined || !isReplacement || this.#running.size === 0) return () => undefined;
    const { clock, log } = this.#options;
    const onFailure = (error: unknown) => {
      log.warn({ error }, "the priority of a session process could not be set");
    };
    return startedBehind({ pid, clock, gone, onFailure });
  }

  #join(name: number, child: ChildProcess, gone: Promise<void>, started: (port: number) => void) {
    const { owner, log } = this.#options;
    const link: MemberLink = owner.join(name, {
      post: (parcel) => post(child, { kind: "parcel", parcel }),
      started,
      hung: (missedBeats) => {
        log.error(
          { process: name, pid: child.pid, missedHeartbeats: missedBeats },
          "a session process hangs: it is killed, and its calls with it",
        );
        child.kill("SIGKILL");
      },
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

  #beginAgain(place: number, end: ProcessEnd): void {
    if (this.#isStopping) return;
    const { log } = this.#options;
    const waitMs = this.#restartWaits[place]?.after(end) ?? RESTART_MIN_MS;
    log.info({ place, waitMs, hadListened: end.hasListened }, "a session process starts again");
    this.#later(waitMs, () => {
      this.#begin(place, false, true).catch((error: unknown) => {
        log.error({ error }, "a session process could not be started again");
        // What has run tells of its end itself.
        if (!(error instanceof RunNotAdded)) return;
        const isAlone = this.#listening.size === 0;
        this.#beginAgain(place, { hasListened: false, livedMs: 0, isAlone });
      });
    });
  }

  #answerCallers(): void {
    if (this.#isStopping || !this.#hasStarted) return;
    void this.#restartingPort.listen(this.#listening.size === 0);
  }
}

/** Nothing was started yet. */
class RunNotAdded extends Error {
  override readonly name = "RunNotAdded";
}

function post(child: ChildProcess, message: FromOwner): void {
  if (child.connected) child.send(message);
}
