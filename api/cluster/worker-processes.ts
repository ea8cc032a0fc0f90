import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import type { IpcMessage } from "../../engine/cluster/ipc-link.js";
import type { WorkerLink } from "../../engine/cluster/ipc-messages.js";
import type { ClusterPrimary } from "../../engine/cluster/primary.js";
import type { Logger } from "../../engine/log.js";
import type { BackendChoice } from "../../engine/settings.js";
import type { CancelTimer, Clock } from "../../engine/time/clock.js";
import { within } from "../../engine/time/deadline.js";
import type { Database } from "../../storage/database.js";
import { ParleyError, type VoiceErrorCode } from "../../storage/parley-error.js";
import { JSON_TYPE } from "../http/answer/answer.js";
import type { HttpResponse, WebSocketRoute } from "../http/backend/http-backend.js";
import { openBackend } from "../http/backend/open-backend.js";
import { HttpServer } from "../http/server.js";
import { CLOSE_CODE_BY_REFUSAL, closeReason } from "../voice/close-codes.js";
import { errorMessage } from "../voice/voice-message.js";
import type { FromPrimary, WorkerRequests } from "./worker-requests.js";

/**
 * Resolves when the process has ended, or could not be started, and all its messages were handled. A failure to
 * send it a message, because it is ending, does not count as its end, which follows.
 */
export async function childEnd(child: ChildProcess): Promise<void> {
  await new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.on("error", () => {
      if (child.pid === undefined) resolve();
    });
  });
  if (!child.connected) return;
  await new Promise<void>((resolve) => {
    child.once("disconnect", () => resolve());
  });
}

const RESTARTING = "the server is restarting its worker processes; try again in a few seconds";
const BODY = JSON.stringify({
  error: RESTARTING,
  code: "server_stopping" satisfies VoiceErrorCode,
});
const RETRY_AFTER_SEC = "2";
/** Clients of calls are closed immediately, and need not send anything. */
const MESSAGE_BYTES_MAX = 1024 * 1024;
const SILENCE_MAX_SEC = 10;
/** A request's body is read, so that its client reads the response; a longer one closes the connection. */
const BODY_BYTES_MAX = 1024 * 1024;

export interface RestartingPortOptions {
  readonly host: string;
  readonly port: number;
  readonly httpBackend: BackendChoice;
  readonly log: Logger;
}

/**
 * Listens in the primary while no process that carries calls listens. Callers, requests and webhooks learn
 * immediately that the server restarts, instead of a refused connection: 503 with `Retry-After`, and 1012 for a
 * WebSocket, after which the client reconnects.
 */
export class RestartingPort {
  readonly #options: RestartingPortOptions;
  #server: HttpServer | undefined;
  #isOpenRequested = false;
  #work: Promise<void> = Promise.resolve();

  constructor(options: RestartingPortOptions) {
    this.#options = options;
  }

  /** Resolves when it listens, or has stopped listening; never rejects. */
  listen(isWanted: boolean): Promise<void> {
    if (isWanted === this.#isOpenRequested) return this.#work;
    this.#isOpenRequested = isWanted;
    this.#work = this.#work
      .then(() => this.#follow())
      .catch((error: unknown) => {
        this.#options.log.error({ error }, "failed to tell callers that the server is restarting");
      });
    return this.#work;
  }

  async close(): Promise<void> {
    await this.listen(false);
    this.#server?.close();
  }

  async #follow(): Promise<void> {
    const { host, port } = this.#options;
    if (this.#server !== undefined) return this.#server.takeConnections(this.#isOpenRequested);
    if (!this.#isOpenRequested) return;
    const server = await this.#newServer();
    await server.listen(host, port);
    this.#server = server;
  }

  async #newServer(): Promise<HttpServer> {
    const { httpBackend, log } = this.#options;
    const server = new HttpServer(await openBackend(httpBackend, log), { sharesPort: true });
    server.webSocket("/*", DOOR);
    server.handle("any", "/*", (response) => refuse(response));
    return server;
  }
}

const DOOR: WebSocketRoute<object> = {
  messageBytesMax: MESSAGE_BYTES_MAX,
  silenceMaxSec: SILENCE_MAX_SEC,
  admit: () => ({}),
  open: (socket) => {
    socket.send(errorMessage("server_stopping", RESTARTING), false);
    socket.end(CLOSE_CODE_BY_REFUSAL.serverStopping, closeReason(RESTARTING));
  },
  message: () => undefined,
  close: () => undefined,
};

function refuse(response: HttpResponse): void {
  let bodyBytes = 0;
  let hasGone = false;
  response.onAborted(() => {
    hasGone = true;
  });
  response.onData((chunk, isLast) => {
    if (hasGone) return;
    bodyBytes += chunk.byteLength;
    if (bodyBytes > BODY_BYTES_MAX) {
      hasGone = true;
      response.close();
    } else if (isLast) {
      // In the next turn, as for each refusal: the library parses data right after a response as a request.
      setImmediate(() => {
        if (!hasGone) answer(response);
      });
    }
  });
}

function answer(response: HttpResponse): void {
  response.cork(() => {
    response.writeStatus("503 Service Unavailable");
    response.writeHeader("content-type", JSON_TYPE);
    response.writeHeader("retry-after", RETRY_AFTER_SEC);
    response.end(BODY, true);
  });
}

/** A tenth of the normal weight; on an idle core it is as fast. */
const STARTING_NICE = 10;
/**
 * If other programs use all cores, a process of low priority would never listen: after this time it starts with
 * normal priority.
 */
export const STARTING_BEHIND_MAX_MS = 5_000;
/** Checks for threads with low priority: a first, one for threads started during it, and one to spare. */
const CHECKS_MAX = 3;
const NICE_LIMIT = /^Max nice priority\s+(\d+)/m;
/** The limit counts from the lowest priority: with 20 a process may come back to a nice value of 0. */
const NICE_OF_LIMIT_0 = 20;

/** Whether the kernel's `limits` of a process let one without privileges take this nice value again. */
export function maySetNice(limits: string, nice: number): boolean {
  return NICE_OF_LIMIT_0 - Number(NICE_LIMIT.exec(limits)?.[1] ?? 0) <= nice;
}

export interface StartingProcess {
  readonly pid: number;
  readonly clock: Clock;
  /** Resolves when the process has ended. */
  readonly exited: Promise<unknown>;
  readonly onFailure: (error: unknown) => void;
}

/**
 * Gives a starting process a lower priority than those that carry calls, since starting is a second of work. The
 * normal priority returns when the returned function is called, and after `STARTING_BEHIND_MAX_MS` in any case.
 * Does nothing if the system would not allow the normal priority again. A failure is reported and changes nothing
 * else.
 */
export function startedBehind({ pid, clock, exited, onFailure }: StartingProcess): () => void {
  const usual = getPriority();
  const attempt = (act: () => void) => {
    try {
      act();
    } catch (error) {
      onFailure(error);
    }
  };
  if (usual >= STARTING_NICE || !mayComeBack(pid, usual)) return () => undefined;
  // Only this thread's, so far the only one: later threads inherit it.
  attempt(() => setPriority(pid, STARTING_NICE));
  const comeForward = () => {
    cancel();
    for (let look = 0; look < CHECKS_MAX; look += 1) attempt(() => bringForward(pid, usual));
  };
  const cancel = clock.after(STARTING_BEHIND_MAX_MS, comeForward);
  // The system may reuse the id of a process that has ended.
  void exited.then(cancel);
  return comeForward;
}

function mayComeBack(pid: number, usual: number): boolean {
  // Other systems do not list the threads whose priority has to be restored.
  if (!existsSync("/proc/self/limits")) return false;
  return maySetNice(readFileSync("/proc/self/limits", "utf8"), usual) || mayGoAhead(pid, usual);
}

/** Tested, since a listed capability may be limited to a container's own users. */
function mayGoAhead(pid: number, usual: number): boolean {
  try {
    setPriority(pid, usual - 1);
    setPriority(pid, usual);
    return true;
  } catch {
    return false;
  }
}

function bringForward(pid: number, usual: number): void {
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      if (getPriority(Number(thread)) > usual) setPriority(Number(thread), usual);
    } catch (error) {
      // It may have ended since it was listed.
      if (existsSync(`/proc/${pid}/task/${thread}`)) throw error;
    }
  }
}

const SCRIPT = fileURLToPath(new URL("./worker-process.js", import.meta.url));
/** The delay of a process's first restart; each further one waits twice as long, up to its limit. */
const RESTART_MIN_MS = 100;
/** The restart limit of a process that accepted calls: callers wait for it. */
export const RESTART_MAX_MS = 5_000;
/** The restart limit while no process accepts calls. */
export const RESTART_ALONE_MAX_MS = 1_000;
/**
 * The restart limit of a process that ends before it listens: it may do so forever, and each start costs the
 * others a second of a core.
 */
export const FAILED_START_MAX_MS = 30_000;
export const FAILED_START_ALONE_MAX_MS = 5_000;
/** A process that has lived for this long counts as stable. */
const WELL_MS = 60_000;
/** No other process closes the calls of one that has ended: this is retried until it succeeds. */
const CLOSE_AGAIN_MIN_MS = 1_000;
const CLOSE_AGAIN_MAX_MS = 30_000;
/** After the drain: how long the last writes of a process may take before it is killed. */
const LAST_WORK_MAX_MS = 30_000;

export interface WorkerProcessesOptions {
  readonly count: number;
  /** Settings for all of them; the first also gets the ports that it keeps. */
  readonly orders: Omit<WorkerRequests, "name" | "runId" | "isFirst" | "isKeeper">;
  readonly primary: ClusterPrimary;
  /** Called for each run before the first call that is opened under it. */
  readonly addRun: (runId: string) => Promise<void>;
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Running {
  readonly child: ChildProcess;
  readonly link: WorkerLink;
  readonly exited: Promise<void>;
}

/** How a worker ended. */
export interface ProcessEnd {
  readonly hasListened: boolean;
  readonly livedMs: number;
  /** No other process accepts calls. */
  readonly isAlone: boolean;
}

/** The restart delay of one worker. Each worker has its own, so that no process waits for another's faults. */
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

/** The workers of a server: each carries its own calls, and a worker that ends takes only those with it. */
export class WorkerProcesses {
  readonly #options: WorkerProcessesOptions;
  readonly #running = new Map<number, Running>();
  readonly #waiting = new Set<CancelTimer>();
  readonly #port: number;
  readonly #restartWaits: readonly RestartWait[];
  /** The names of those that listen. */
  readonly #listening = new Set<number>();
  readonly #restartingPort: RestartingPort;
  /** All have listened once: from then on callers get a message when none does. */
  #hasStarted = false;
  #lastName = 0;
  #isStopping = false;

  /** Resolves when all of them listen on `port`; rejects when one ends before. */
  static async start(options: WorkerProcessesOptions, port: number): Promise<WorkerProcesses> {
    const processes = new WorkerProcesses(options, port);
    try {
      // The first repairs what an earlier run has left, before others have calls.
      await processes.#start(0, true);
      const others = Array.from({ length: options.count - 1 }, (_, index) => index + 1);
      await Promise.all(others.map((place) => processes.#start(place, false)));
      processes.#hasStarted = true;
      processes.#answerCallers();
    } catch (error) {
      await processes.stop(0);
      throw error;
    }
    return processes;
  }

  private constructor(options: WorkerProcessesOptions, port: number) {
    const { count, orders, log } = options;
    const { host, httpBackend } = orders.settings;
    this.#options = options;
    this.#port = port;
    this.#restartWaits = Array.from({ length: count }, () => new RestartWait());
    this.#restartingPort = new RestartingPort({ host, port, httpBackend, log });
  }

  /** Their process ids. */
  get pids(): readonly number[] {
    return [...this.#running.values()].flatMap(({ child }) => child.pid ?? []);
  }

  endAll(): void {
    for (const { link } of this.#running.values()) link.notify("endAll", undefined);
  }

  /** Drains all of them at the same time; a slow one is killed. */
  async stop(drainTimeoutMs: number): Promise<void> {
    this.#isStopping = true;
    for (const cancel of this.#waiting) cancel();
    await this.#restartingPort.close();
    const { clock } = this.#options;
    const all = [...this.#running.values()];
    for (const { link } of all) link.notify("stop", drainTimeoutMs);
    const exited = Promise.all(all.map((each) => each.exited));
    if (await within(clock, drainTimeoutMs + LAST_WORK_MAX_MS, exited)) return;
    for (const { child } of all) child.kill("SIGKILL");
    await exited;
  }

  async #start(place: number, isFirst: boolean, isReplacement = false): Promise<void> {
    const { orders, addRun, clock, log } = this.#options;
    const runId = randomUUID();
    await addRun(runId).catch((cause: unknown) => {
      throw new RunNotAddedError("failed to record the server's run in the database", { cause });
    });
    this.#lastName += 1;
    const name = this.#lastName;
    const beganAtMs = clock.monotonicMs();
    const child = fork(SCRIPT, { serialization: "advanced", execArgv: process.execArgv });
    const exited = childEnd(child);
    const comeForward = this.#startBehind(child, exited, isReplacement);
    const listening = new Promise<number>((resolve) => this.#join(name, child, exited, resolve));
    const settings = { ...orders.settings, port: this.#port };
    post(child, {
      kind: "begin",
      orders: { ...orders, settings, name, runId, isFirst, isKeeper: place === 0 },
    });
    void exited.then(async () => {
      const hasListened = this.#listening.delete(name);
      const isAlone = this.#listening.size === 0;
      this.#answerCallers();
      const livedMs = clock.monotonicMs() - beganAtMs;
      this.#restart(place, { hasListened, livedMs, isAlone });
      await this.#ended(name, child, runId);
    });
    const ended = exited.then(() => {
      throw new Error("a worker exited before it was listening");
    });
    await Promise.race([listening, ended]);
    this.#listening.add(name);
    this.#answerCallers();
    comeForward();
    log.debug({ process: name, pid: child.pid }, "a worker is ready for calls");
  }

  /** While others have calls, the replacement of an ended process takes no time from them. */
  #startBehind({ pid }: ChildProcess, exited: Promise<void>, isReplacement: boolean): () => void {
    if (pid === undefined || !isReplacement || this.#running.size === 0) return () => undefined;
    const { clock, log } = this.#options;
    const onFailure = (error: unknown) => {
      log.warn({ error }, "failed to set the priority of a worker");
    };
    return startedBehind({ pid, clock, exited, onFailure });
  }

  #join(name: number, child: ChildProcess, exited: Promise<void>, started: (port: number) => void) {
    const { primary, log } = this.#options;
    const link: WorkerLink = primary.join(name, {
      post: (message) => post(child, { kind: "message", message }),
      started,
      hung: (missedBeats) => {
        log.error(
          { process: name, pid: child.pid, missedHeartbeats: missedBeats },
          "killed a worker that stopped responding; its calls are lost",
        );
        child.kill("SIGKILL");
      },
    });
    this.#running.set(name, { child, link, exited });
    child.on("message", (message: IpcMessage) => link.receive(message));
    child.on("error", (error) => log.error({ error, process: name }, "a worker failed"));
  }

  async #ended(name: number, child: ChildProcess, runId: string): Promise<void> {
    const { primary, log } = this.#options;
    this.#running.delete(name);
    const slots = primary.leave(name);
    if (this.#isStopping) return;
    const how = child.signalCode ?? `code ${child.exitCode}`;
    log.error({ process: name, how, calls: slots }, "a worker exited; the others continue");
    await this.#closeRun(runId, CLOSE_AGAIN_MIN_MS);
  }

  async #closeRun(runId: string, waitMs: number): Promise<void> {
    const { database, clock, log } = this.#options;
    try {
      await database.calls.closeRun(runId, clock.epochMs());
    } catch (error) {
      log.error(
        { error, againInMs: waitMs },
        "failed to close the calls of a worker that exited; retrying",
      );
      if (!this.#isStopping) {
        const nextWaitMs = Math.min(2 * waitMs, CLOSE_AGAIN_MAX_MS);
        this.#later(waitMs, () => void this.#closeRun(runId, nextWaitMs));
      }
    }
  }

  /** Unless the server stops before. */
  #later(waitMs: number, act: () => void): void {
    const cancel = this.#options.clock.after(waitMs, () => {
      this.#waiting.delete(cancel);
      act();
    });
    this.#waiting.add(cancel);
  }

  #restart(place: number, end: ProcessEnd): void {
    if (this.#isStopping) return;
    const { log } = this.#options;
    const waitMs = this.#restartWaits[place]?.after(end) ?? RESTART_MIN_MS;
    log.info({ place, waitMs, hadListened: end.hasListened }, "restarting a worker");
    this.#later(waitMs, () => {
      this.#start(place, false, true).catch((error: unknown) => {
        log.error({ error }, "failed to restart a worker");
        // A process that has run reports its own end.
        if (!(error instanceof RunNotAddedError)) return;
        const isAlone = this.#listening.size === 0;
        this.#restart(place, { hasListened: false, livedMs: 0, isAlone });
      });
    });
  }

  #answerCallers(): void {
    if (this.#isStopping || !this.#hasStarted) return;
    void this.#restartingPort.listen(this.#listening.size === 0);
  }
}

/** No process was started yet. */
class RunNotAddedError extends ParleyError {
  override readonly name = "RunNotAddedError";
  readonly code = "process_not_started";
}

function post(child: ChildProcess, message: FromPrimary): void {
  if (child.connected) child.send(message);
}
