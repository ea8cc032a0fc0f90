import type { Measurement } from "../budget.js";
import { createAgent } from "../phone/phone-stand.js";
import { addedMs, type Scenario, type ScenarioResult } from "../scenarios.js";
import { startPreparedVendors } from "../stand/prepared-vendors.js";
import { startServerStand, type VendorStand } from "../stand/stand.js";
import {
  type CallLoadResult,
  type LoadPlan,
  phrasesNeeded,
  runCallLoad,
  webCallers,
} from "./call-load.js";
import { type Phrase, phrases } from "./phrases.js";

/** A machine that becomes slower or faster meanwhile does so for both. */
const ORDER = [false, true, true, false] as const;

/**
 * The same calls of an agent that names nobody who stands in, and of one that names somebody for its model, voice and recognizer,
 * while all vendors are well: what the chains cost.
 */
export class ChainCostScenario implements Scenario {
  readonly name: string;
  readonly #plan: LoadPlan;

  constructor(plan: LoadPlan) {
    this.name = `${plan.callers} calls at the same time, without chains and with them`;
    this.#plan = plan;
  }

  async run(): Promise<ScenarioResult> {
    const spoken = phrases(phrasesNeeded(this.#plan));
    const vendors = await startPreparedVendors(spoken, ["openaiSpeech"]);
    const results = new Map<boolean, CallLoadResult[]>([
      [false, []],
      [true, []],
    ]);
    try {
      for (const hasChains of ORDER) {
        results.get(hasChains)?.push(await this.#load(vendors, spoken, hasChains));
      }
    } finally {
      await vendors.process.stop();
    }
    const [alone = [], chained = []] = [results.get(false), results.get(true)];
    const compare = (
      name: Measurement["name"],
      pick: (result: CallLoadResult) => number,
    ): Measurement => ({
      name,
      measured: meanOf(chained.map(pick)),
      reference: meanOf(alone.map(pick)),
    });
    return {
      measurements: [
        compare("chainCpuPerCallSecond", ({ cpuMsPerCallSecond }) => cpuMsPerCallSecond),
        compare("chainLatencyP50", (result) => addedMs(result, 0.5)),
      ],
      details: [...alone.map(describe("without")), ...chained.map(describe("with chains"))],
    };
  }

  async #load(
    vendors: VendorStand,
    spoken: readonly Phrase[],
    hasChains: boolean,
  ): Promise<CallLoadResult> {
    const server = await startServerStand(vendors);
    try {
      const agentId = await createAgent(server, "openaiSpeech", hasChains);
      const callers = webCallers(server, "pcm24k", agentId);
      return await runCallLoad(server, vendors, spoken, this.#plan, callers);
    } finally {
      await server.close();
    }
  }
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function describe(who: string): (result: CallLoadResult) => string {
  return (result) => {
    const { cpuMsPerCallSecond, turnCount, lostCount } = result;
    const [p50, p99] = [0.5, 0.99].map((share) => addedMs(result, share).toFixed(2));
    const cpu = cpuMsPerCallSecond.toFixed(2);
    return `${who}: ${turnCount} turns, ${lostCount} not followed; CPU ${cpu} ms per second of call, added p50 ${p50} ms, p99 ${p99} ms`;
  };
}
