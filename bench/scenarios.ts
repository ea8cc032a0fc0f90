import type { Measurement } from "./budget.js";
import { type CallLoadResult, type LoadPlan, phrasesNeeded, runCallLoad } from "./call-load.js";
import { type Phrase, phrases } from "./phrases.js";
import { startPreparedVendors } from "./prepared-vendors.js";
import { quantile } from "./quantile.js";
import { soak } from "./soak.js";
import {
  type ServerStand,
  startRelayStand,
  startServerStand,
  startVendors,
  type VendorStand,
} from "./stand.js";
import { measureStartUp } from "./start-up.js";
import { measureTransition } from "./transition.js";

/** A group of measures that are taken together, and taken again together. */
export interface Scenario {
  readonly name: string;
  /** What part of the first run's time a further one takes, when it keeps what the first one has made; else all of it. */
  readonly retryShare?: number;
  run(): Promise<ScenarioResult>;
  close?(): Promise<void>;
}

export interface ScenarioResult {
  readonly measurements: readonly Measurement[];
  /** More about the run, for whoever looks for the reason of a number. */
  readonly details: readonly string[];
}

/** With more of the spoken turns lost than this share, the rest may not be the same kind of turns. */
const LOST_SHARE_MAX = 0.05;

/** The relay, once, and then the server under the same load, each in its own process. */
export class CallLoadScenario implements Scenario {
  readonly name: string;
  readonly retryShare = 0.5;
  readonly #plan: LoadPlan;
  #vendors: VendorStand | undefined;
  #phrases: readonly Phrase[] = [];
  #relay: CallLoadResult | undefined;

  constructor(plan: LoadPlan) {
    this.name = `${plan.callers} calls at the same time`;
    this.#plan = plan;
  }

  async run(): Promise<ScenarioResult> {
    const vendors = await this.#prepared();
    this.#relay ??= await this.#load(await startRelayStand(vendors), vendors);
    const reference = this.#relay;
    const measured = await this.#load(await startServerStand(vendors), vendors);
    return {
      measurements: comparison(measured, reference),
      details: [...describe("relay", reference), ...describe("server", measured)],
    };
  }

  async close(): Promise<void> {
    await this.#vendors?.process.stop();
  }

  async #load(server: ServerStand, vendors: VendorStand): Promise<CallLoadResult> {
    try {
      return await runCallLoad(server, vendors, this.#phrases, this.#plan);
    } finally {
      await server.close();
    }
  }

  async #prepared(): Promise<VendorStand> {
    if (this.#vendors !== undefined) return this.#vendors;
    this.#phrases = phrases(phrasesNeeded(this.#plan));
    this.#vendors = await startPreparedVendors(this.#phrases);
    return this.#vendors;
  }
}

export class TransitionScenario implements Scenario {
  readonly name = "transition";

  run(): Promise<ScenarioResult> {
    const { eventsPerSecond, referencePerSecond } = measureTransition();
    const reference = referencePerSecond;
    const measurements: Measurement[] = [
      { name: "transitionRate", measured: eventsPerSecond, reference },
    ];
    return Promise.resolve({ measurements, details: [] });
  }
}

export class StartUpScenario implements Scenario {
  readonly name = "start-up";
  readonly #repeats: number;

  constructor(repeats: number) {
    this.#repeats = repeats;
  }

  async run(): Promise<ScenarioResult> {
    const vendors = await startVendors();
    try {
      const { freshMs, againMs, referenceMs } = await measureStartUp(vendors, this.#repeats);
      const measurements: Measurement[] = [
        { name: "startUpFresh", measured: freshMs, reference: referenceMs },
        { name: "startUpAgain", measured: againMs, reference: referenceMs },
      ];
      return { measurements, details: [] };
    } finally {
      await vendors.process.stop();
    }
  }
}

export class SoakScenario implements Scenario {
  readonly name: string;
  readonly #count: number;

  constructor(count: number) {
    this.name = `soak of ${count} calls`;
    this.#count = count;
  }

  async run(): Promise<ScenarioResult> {
    const { measurements, reasons } = await soak(this.#count);
    return { measurements, details: reasons };
  }
}

function comparison(server: CallLoadResult, relay: CallLoadResult): readonly Measurement[] {
  const compare = (
    name: Measurement["name"],
    pick: (result: CallLoadResult) => number,
  ): Measurement => ({ name, measured: pick(server), reference: pick(relay) });
  return [
    compare("addedLatencyP50", (result) => addedMs(result, 0.5)),
    compare("addedLatencyP99", (result) => addedMs(result, 0.99)),
    compare("bargeInP99", ({ bargeInsMs }) => quantile(bargeInsMs, 0.99)),
    compare("cpuPerCallSecond", ({ cpuMsPerCallSecond }) => cpuMsPerCallSecond),
    compare("residentPerCall", ({ residentBytesPerCall }) => residentBytesPerCall / 1_000),
  ];
}

/** NaN, which no budget takes, when too many turns could not be followed. */
export function addedMs({ timings, turnCount, lostCount }: CallLoadResult, share: number): number {
  if (lostCount > turnCount * LOST_SHARE_MAX) return Number.NaN;
  return quantile(
    timings.map(({ totalMs }) => totalMs),
    share,
  );
}

const PARTS = [
  ["audioMs", "caller's last speech to the recognizer"],
  ["questionMs", "end of speech to the model"],
  ["sentenceMs", "first sentence to the voice"],
  ["playMs", "its audio to the caller"],
  ["totalMs", "added in all"],
] as const;

function describe(who: string, result: CallLoadResult): readonly string[] {
  const { timings, bargeInsMs, turnCount, lostCount, missedReplies } = result;
  const spread = (values: readonly number[]) =>
    [0.5, 0.9, 0.99, 1].map((share) => quantile(values, share).toFixed(2)).join(" / ");
  return [
    `${who}: ${turnCount} turns, ${lostCount} not followed, ${missedReplies} not answered; p50 / p90 / p99 / max in ms`,
    ...PARTS.map(([part, title]) => `  ${title}: ${spread(timings.map((one) => one[part]))}`),
    `  barge-in (${bargeInsMs.length}): ${spread(bargeInsMs)}`,
    `  memory: ${Math.round(result.idleResidentBytes / 1e6)} MB idle, then ${kilobytes(result.residentBytesPerCall)} a call, ${kilobytes(result.uncollectedBytesPerCall)} with garbage`,
  ];
}

function kilobytes(bytes: number): string {
  return `${Math.round(bytes / 1_000)} kB`;
}
