import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { quantile } from "../quantile.js";

export interface AskedFor {
  /** The server's URL, without a path. */
  readonly url: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface AskingPlan {
  readonly connections: number;
  /** Requests that a connection sends before it waits for their answers; left out: one. */
  readonly depth?: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** The rate of all connections together; left out, each asks again as soon as it is answered. */
  readonly perSecond?: number;
}

export interface AskingResult {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly bodyBytes: number;
}

const END_OF_HEAD = "\r\n\r\n";
const LENGTH = /\r\ncontent-length: (\d+)\r\n/i;
const NOTHING = Buffer.alloc(0);

/** Asks one thing over and over, on connections that are kept: raw sockets, since a client must cost less than the server. */
export async function askRepeatedly(asked: AskedFor, plan: AskingPlan): Promise<AskingResult> {
  const asking = await Asking.start(asked, plan);
  await sleep(plan.warmUpMs);
  asking.reset();
  await sleep(plan.measureMs);
  return asking.stop();
}

/** As `askRepeatedly`, for as long as something else takes. */
export class Asking {
  readonly #askers: readonly Asker[];
  readonly #runs: readonly Promise<void>[];
  #startMs = performance.now();

  static async start(
    asked: AskedFor,
    { connections, depth = 1, perSecond }: Omit<AskingPlan, "warmUpMs" | "measureMs">,
  ): Promise<Asking> {
    const connecting = Array.from({ length: connections }, () => Asker.connect(asked, depth));
    const intervalMs = perSecond === undefined ? undefined : (1_000 * connections) / perSecond;
    return new Asking(await Promise.all(connecting), intervalMs);
  }

  private constructor(askers: readonly Asker[], intervalMs: number | undefined) {
    this.#askers = askers;
    this.#runs = askers.map((asker, index) => asker.run(intervalMs, index / askers.length));
  }

  /** What was asked until now does not count. */
  reset(): void {
    for (const asker of this.#askers) asker.reset();
    this.#startMs = performance.now();
  }

  async stop(): Promise<AskingResult> {
    const durationMs = performance.now() - this.#startMs;
    const latencies = this.#askers.flatMap((asker) => asker.latenciesMs);
    for (const asker of this.#askers) asker.stop();
    await Promise.all(this.#runs);
    return {
      perSecond: (latencies.length * 1_000) / durationMs,
      p50Ms: quantile(latencies, 0.5),
      p99Ms: quantile(latencies, 0.99),
      bodyBytes: this.#askers[0]?.bodyBytes ?? 0,
    };
  }
}

class Asker {
  latenciesMs: number[] = [];
  bodyBytes = 0;
  readonly #socket: Socket;
  readonly #requests: Buffer;
  readonly #depth: number;
  /** The beginning of a head whose end has not come. */
  #partialHead: Buffer = NOTHING;
  /** What has yet to come of a body: reading large ones would cost more here than at the server. */
  #missingBytes = 0;
  #answers = 0;
  #isStopped = false;
  #onAnswer: () => void = () => undefined;

  static async connect({ url, path, headers }: AskedFor, depth: number): Promise<Asker> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    await once(socket, "connect");
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const request = `GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\n${lines.join("")}\r\n`;
    return new Asker(socket, Buffer.from(request.repeat(depth)), depth);
  }

  private constructor(socket: Socket, requests: Buffer, depth: number) {
    this.#socket = socket;
    this.#requests = requests;
    this.#depth = depth;
    socket.on("data", (chunk) => this.#take(chunk));
    socket.on("close", () => {
      if (!this.#isStopped) throw new Error("the server has closed a connection");
    });
  }

  reset(): void {
    this.latenciesMs = [];
  }

  stop(): void {
    this.#isStopped = true;
  }

  async run(intervalMs: number | undefined, offset: number): Promise<void> {
    const startMs = performance.now() + (intervalMs ?? 0) * offset;
    for (let count = 0; !this.#isStopped; count += 1) {
      // Counted from when it was due, so that a server that stands still is not let off.
      const dueMs = intervalMs === undefined ? performance.now() : startMs + count * intervalMs;
      if (dueMs > performance.now()) await sleep(dueMs - performance.now());
      await this.#ask();
      const latencyMs = performance.now() - dueMs;
      for (let answer = 0; answer < this.#depth; answer += 1) this.latenciesMs.push(latencyMs);
    }
    this.#socket.destroy();
  }

  #ask(): Promise<void> {
    return new Promise((resolve) => {
      this.#onAnswer = resolve;
      this.#answers = 0;
      this.#socket.write(this.#requests);
    });
  }

  #take(chunk: Buffer): void {
    let rest = this.#partialHead.length === 0 ? chunk : Buffer.concat([this.#partialHead, chunk]);
    this.#partialHead = NOTHING;
    while (rest.length > 0) {
      if (this.#missingBytes === 0) {
        const headEnd = rest.indexOf(END_OF_HEAD);
        if (headEnd === -1) {
          this.#partialHead = rest;
          return;
        }
        const end = headEnd + END_OF_HEAD.length;
        this.#takeHead(rest.toString("latin1", 0, end));
        rest = rest.subarray(end);
      }
      const bodyBytes = Math.min(this.#missingBytes, rest.length);
      this.#missingBytes -= bodyBytes;
      rest = rest.subarray(bodyBytes);
      if (this.#missingBytes === 0) this.#answers += 1;
    }
    if (this.#answers === this.#depth) this.#onAnswer();
  }

  #takeHead(head: string): void {
    if (!head.startsWith("HTTP/1.1 200")) throw new Error(`answered ${head}`);
    this.#missingBytes = Number(LENGTH.exec(head)?.[1]);
    this.bodyBytes = this.#missingBytes;
  }
}
