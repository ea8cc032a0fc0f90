import { setTimeout as sleep } from "node:timers/promises";
import { type Sandbox, startSandbox } from "../../engine/sandbox/sandbox.js";
import { SeededRandom } from "../../test/simulation/seeded-random.js";
import { AttackedServer, type ServerOptions } from "./attacked-server.js";
import type { Findings } from "./findings.js";

const POLL_MS = 50;

export interface StandOptions {
  readonly seed: number;
  readonly isSample: boolean;
  readonly timeMs: number;
  readonly findings: Findings;
}

/** What one attack has: servers of its own, vendors, chance that can be had again, and so much time. */
export class AttackStand {
  readonly seed: number;
  readonly random: SeededRandom;
  /** Everything is to be tried once, and little of it. */
  readonly isSample: boolean;
  /** How long the whole attack may take. */
  readonly timeMs: number;
  readonly #endsAtMs: number;
  readonly #findings: Findings;
  readonly #cleanUps: (() => unknown)[] = [];

  constructor({ seed, isSample, timeMs, findings }: StandOptions) {
    this.seed = seed;
    this.random = new SeededRandom(seed);
    this.isSample = isSample;
    this.timeMs = timeMs;
    this.#endsAtMs = performance.now() + timeMs;
    this.#findings = findings;
  }

  /** Whether something that takes so long still fits. */
  hasTime(neededMs = 0): boolean {
    return performance.now() + neededMs < this.#endsAtMs;
  }

  /** Done at the end, the last first. */
  after(cleanUp: () => unknown): void {
    this.#cleanUps.push(cleanUp);
  }

  /** Vendors that nobody else can spoil. */
  async sandbox(): Promise<Sandbox> {
    const sandbox = await startSandbox();
    this.after(() => sandbox.close());
    return sandbox;
  }

  /** A server with healthy vendors unless others are given. At the end it must still run, stop when asked, and have logged no fault of its own. */
  async server(options: Partial<ServerOptions> = {}): Promise<AttackedServer> {
    const urls = options.urls ?? (await this.sandbox()).urls;
    const server = await AttackedServer.start({ ...options, urls });
    this.after(async () => {
      const wrong = await server.close();
      this.#findings.demand(wrong === undefined, wrong ?? "");
      for (const line of server.complaints) this.#findings.demand(false, `it logged: ${line}`);
    });
    return server;
  }

  /** Asks until the answer is yes; false when it was not within the time. */
  async comesTrue(isTrue: () => boolean | Promise<boolean>, timeoutMs: number): Promise<boolean> {
    const endsAtMs = performance.now() + timeoutMs;
    for (;;) {
      if (await isTrue()) return true;
      if (performance.now() > endsAtMs) return false;
      await sleep(POLL_MS);
    }
  }

  async close(): Promise<void> {
    for (const cleanUp of this.#cleanUps.splice(0).toReversed()) await cleanUp();
  }
}
