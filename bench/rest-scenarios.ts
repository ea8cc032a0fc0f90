import type { Measurement, MeasureName } from "./budget.js";
import type { CallLoadResult } from "./call-load.js";
import { measureBesideCalls, measureBesideDashboards } from "./rest-beside-calls.js";
import {
  comparePages,
  compareRest,
  describeRest,
  FEW_CALLS,
  MANY_CALLS,
  type RestComparison,
  told,
} from "./rest-load.js";
import { addedMs, type Scenario, type ScenarioResult } from "./scenarios.js";

/** The requests of `restRequests` that are judged, and the measure of each. */
const MEASURES: ReadonlyMap<string, MeasureName> = new Map([
  ["health", "restHealth"],
  ["25 agents by API key", "restAgents"],
  ["20 calls by JWT", "restCallPage"],
]);
export const JUDGED_REQUESTS = [...MEASURES.keys()];

/** The API and a Fastify server of the same handlers on the same database, asked in turns. */
export class RestScenario implements Scenario {
  readonly name = "REST beside Fastify";
  readonly #rounds: number;
  readonly #requests: readonly string[] | undefined;

  /** All requests, or those that are named. */
  constructor(rounds: number, requests?: readonly string[]) {
    this.#rounds = rounds;
    this.#requests = requests;
  }

  async run(): Promise<ScenarioResult> {
    const comparisons = await compareRest(this.#rounds, this.#requests);
    return {
      measurements: comparisons.flatMap((comparison) => {
        const name = MEASURES.get(comparison.name);
        return name === undefined ? [] : [throughput(name, comparison)];
      }),
      details: describeRest(comparisons),
    };
  }
}

/** A page of calls out of a million, and out of a thousand. */
export class RestPagesScenario implements Scenario {
  readonly name = "pages of calls";

  async run(): Promise<ScenarioResult> {
    const pages = await comparePages();
    const { server, reference } = pages;
    return {
      measurements: [throughput("restPageOfMany", pages)],
      details: [`of ${MANY_CALLS}: ${told(server)}`, `of ${FEW_CALLS}: ${told(reference)}`],
    };
  }
}

/** Calls alone, and the same calls beside dashboards that keep asking. */
export class BesideCallsScenario implements Scenario {
  readonly name = "calls beside REST";

  async run(): Promise<ScenarioResult> {
    const { alone, beside, requests } = await measureBesideCalls();
    const [reference, measured] = [addedMs(alone, 0.99), addedMs(beside, 0.99)];
    return {
      measurements: [{ name: "besideRestLatencyP99", measured, reference }],
      details: requests.map(
        ({ name, perSecond, p50Ms, p99Ms }) =>
          `${name}: ${Math.round(perSecond)}/s, p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`,
      ),
    };
  }
}

/** Calls alone, and the same calls beside pages of the console that watch them. */
export class BesideDashboardsScenario implements Scenario {
  readonly name = "calls beside live dashboards";

  async run(): Promise<ScenarioResult> {
    const { alone, beside, dashboards } = await measureBesideDashboards();
    const [reference, measured] = [pooledMs(alone), pooledMs(beside)];
    const added = (results: readonly CallLoadResult[]) =>
      results.map((result) => `${addedMs(result, 0.99).toFixed(1)} ms`).join(" and ");
    const cpu = (results: readonly CallLoadResult[]) =>
      results.map(({ cpuMsPerCallSecond }) => `${cpuMsPerCallSecond.toFixed(2)} ms`).join(" and ");
    return {
      measurements: [{ name: "besideDashboardsLatencyP99", measured, reference }],
      details: [
        `added by the server, p99: alone ${added(alone)}, beside ${added(beside)}`,
        `CPU per second of call: alone ${cpu(alone)}, beside ${cpu(beside)}`,
        ...dashboards.map(
          ({ events, reopened }) => `${events} events to dashboards, ${reopened} streams again`,
        ),
      ],
    };
  }
}

function pooledMs(results: readonly CallLoadResult[]): number {
  const [first] = results;
  if (first === undefined) return Number.NaN;
  const sum = (of: (result: CallLoadResult) => number) =>
    results.reduce((total, result) => total + of(result), 0);
  const pooled = {
    ...first,
    timings: results.flatMap(({ timings }) => timings),
    turnCount: sum(({ turnCount }) => turnCount),
    lostCount: sum(({ lostCount }) => lostCount),
  };
  return addedMs(pooled, 0.99);
}

function throughput(name: MeasureName, { server, reference }: RestComparison): Measurement {
  return { name, measured: server.perSecond, reference: reference.perSecond };
}
