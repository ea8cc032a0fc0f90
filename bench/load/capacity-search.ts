import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { quantile } from "../quantile.js";
import { cpuMs } from "../stand/process-usage.js";
import type { ServerStand, VendorStand } from "../stand/stand.js";
import { followTurns, forgetJournal, journalOf, type LoadCallers } from "./call-load.js";
import { Conversation, type ConversationOptions } from "./conversation.js";
import type { Phrase } from "./phrases.js";
import { TurnTimings } from "./turn-timing.js";

/** What a full box still has to keep: beyond it people hear that they wait. */
export const LATENCY_P99_MAX_MS = 50;
/** Callers that are this late themselves do not measure the server any more, */
const OWN_DELAY_MAX_MS = 20;
/** and neither do callers and vendors that fill the core that they share. */
const LOAD_SHARE_MAX = 0.85;
const LOST_SHARE_MAX = 0.05;

const FIRST_CALLS = 20;
const GROWTH = 1.5;
/** Steps back between the last number that was good and the first that was not. */
const REFINEMENTS = 2;
const CONNECTIONS_PER_SECOND = 60;
const SETTLE_MS = 3_000;
const MEASURE_MS = 8_000;
const LAST_REPLIES_MS = 1_500;
/** Every caller says something once in a step. */
const TURN_PERIOD_MS = 8_000;
const INTERRUPT_EVERY = 8;

export interface CapacityStep {
  readonly calls: number;
  readonly latencyP99Ms: number;
  /** The delay in the callers' process: so much of the latency may be their own. */
  readonly ownDelayMs: number;
  /** The server's share of one core. */
  readonly cpuShare: number;
  /** The callers' and vendors' share of one core, together. */
  readonly loadShare: number;
  readonly isGood: boolean;
}

export interface Capacity {
  readonly steps: readonly CapacityStep[];
  /** The most calls that went well; 0 when none did. */
  readonly calls: number;
  /** The end was the callers', who share the server, or of the time; the server may carry more. */
  readonly isLowerBound: boolean;
}

/** Raises the number of calls until the server's added latency passes the limit, in a bounded time. */
export class CapacitySearch {
  readonly #server: ServerStand;
  readonly #vendors: VendorStand;
  readonly #callers: LoadCallers;
  readonly #options: ConversationOptions;
  readonly #steps: CapacityStep[] = [];
  #conversations: Conversation[] = [];
  #talks: Promise<void>[] = [];

  /** Phrases are said again when all have been said: in no step twice, if there are twice as many as calls. */
  constructor(
    server: ServerStand,
    vendors: VendorStand,
    callers: LoadCallers,
    spoken: readonly Phrase[],
  ) {
    this.#server = server;
    this.#vendors = vendors;
    this.#callers = callers;
    let next = 0;
    this.#options = {
      connect: () => callers.connect(),
      turnPeriodMs: TURN_PERIOD_MS,
      interruptEvery: INTERRUPT_EVERY,
      nextPhrase: () => {
        const phrase = spoken[next % spoken.length];
        next += 1;
        if (phrase === undefined) throw new RangeError("there is nothing to say");
        return phrase;
      },
    };
  }

  async run(callsMax: number, durationMaxMs: number): Promise<Capacity> {
    const endMs = performance.now() + durationMaxMs;
    let good = 0;
    let bad: number | undefined;
    let refinements = 0;
    for (let calls = FIRST_CALLS; performance.now() < endMs; ) {
      const step = await this.#step(calls);
      this.#steps.push(step);
      if (step.isGood) good = calls;
      else bad = calls;
      if (bad !== undefined) refinements += 1;
      if (refinements > REFINEMENTS || good >= callsMax) break;
      const next = bad === undefined ? good * GROWTH : (good + bad) / 2;
      calls = Math.min(Math.round(next), callsMax);
      if (calls === good || calls === bad) break;
    }
    await this.#resize(0);
    const failed = this.#steps.filter(({ isGood }) => !isGood);
    const isServers = failed.some(
      ({ ownDelayMs, loadShare }) => ownDelayMs <= OWN_DELAY_MAX_MS && loadShare <= LOAD_SHARE_MAX,
    );
    return { steps: this.#steps, calls: good, isLowerBound: !isServers };
  }

  async #step(calls: number): Promise<CapacityStep> {
    await this.#resize(calls);
    await sleep(SETTLE_MS);
    await forgetJournal(this.#vendors);
    const ownDelay = monitorEventLoopDelay({ resolution: 1 });
    ownDelay.enable();
    const cpuBeforeMs = cpuMs(this.#server.process.pid);
    const loadBeforeMs = this.#loadCpuMs();
    const fromNs = process.hrtime.bigint();
    await sleep(MEASURE_MS);
    const toNs = process.hrtime.bigint();
    const durationMs = Number(toNs - fromNs) / 1e6;
    const cpuShare = (cpuMs(this.#server.process.pid) - cpuBeforeMs) / durationMs;
    const loadShare = (this.#loadCpuMs() - loadBeforeMs) / durationMs;
    ownDelay.disable();
    await sleep(LAST_REPLIES_MS);
    const journal = await journalOf(this.#vendors);
    const timings = new TurnTimings(journal, this.#callers.signs);
    const followed = followTurns(timings, this.#conversations, fromNs, toNs);
    const latencyP99Ms = quantile(
      followed.timings.map(({ totalMs }) => totalMs),
      0.99,
    );
    const isFollowed = followed.lostCount <= followed.turnCount * LOST_SHARE_MAX;
    return {
      calls,
      latencyP99Ms,
      ownDelayMs: ownDelay.percentile(99) / 1e6,
      cpuShare,
      loadShare,
      isGood: isFollowed && latencyP99Ms <= LATENCY_P99_MAX_MS,
    };
  }

  #loadCpuMs(): number {
    return cpuMs(this.#vendors.process.pid) + cpuMs(process.pid);
  }

  /** So many conversations from now on; of too many, the latest end. */
  async #resize(calls: number): Promise<void> {
    const surplus = this.#conversations.splice(calls);
    const surplusTalks = this.#talks.splice(calls);
    await Promise.all(surplus.map((one) => one.end()));
    await Promise.all(surplusTalks);
    const missing = calls - this.#conversations.length;
    const begun = Array.from({ length: missing }, async (_, index) => {
      await sleep((index * 1_000) / CONNECTIONS_PER_SECOND);
      return Conversation.begin(this.#options);
    });
    const added = await Promise.all(begun);
    this.#conversations = [...this.#conversations, ...added];
    const talks = added.map((one, index) => one.talk(index / added.length));
    this.#talks = [...this.#talks, ...talks];
  }
}
