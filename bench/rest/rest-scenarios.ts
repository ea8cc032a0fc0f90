import type { Measurement, MeasureName } from "../budget.js";
import type { CallWindow } from "../load/call-windows.js";
import { median } from "../quantile.js";
import { addedMs, type Scenario, type ScenarioResult } from "../scenarios.js";
import { measureBesideCalls, measureBesideDashboards } from "./rest-beside-calls.js";
import {
  comparePages,
  compareRest,
  describeRest,
  FEW_CALLS,
  MANY_CALLS,
  type RestComparison,
  type RestMeasure,
  told,
} from "./rest-load.js";

/** The requests of `restRequests` that are judged, and the measure of each. */
const MEASURES: ReadonlyMap<string, MeasureName> = new Map([
  ["health", "restHealth"],
  ["25 agents by API key", "restAgents"],
  ["20 calls by JWT", "restCallPage"],
]);
/** Those by API key, judged by what one costs, and the measure of each. */
const COSTS: ReadonlyMap<string, MeasureName> = new Map([
  ["25 agents by API key", "restAgentsCpu"],
  ["organization by API key", "restOrganizationCpu"],
  ["agent by API key", "restAgentCpu"],
]);
export const JUDGED_REQUESTS = [...new Set([...MEASURES.keys(), ...COSTS.keys()])];

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
      measurements: comparisons.flatMap((comparison) => [
        ...measuredAs(MEASURES, comparison, ({ perSecond }) => perSecond),
        ...measuredAs(COSTS, comparison, ({ cpuMicrosPerRequest }) => cpuMicrosPerRequest),
      ]),
      details: describeRest(comparisons),
    };
  }
}

/** A page of calls out of a million, and out of a thousand. */
export class RestPagesScenario implements Scenario {
  readonly name = "pages of calls";

  async run(): Promise<ScenarioResult> {
    const { server, reference } = await comparePages();
    return {
      measurements: [
        {
          name: "restPageOfMany",
          measured: server.perSecond,
          reference: reference.perSecond,
        },
      ],
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

/** Calls alone, and the same calls beside pages of the console that watch them; judged by the median of the windows' p99. */
export class BesideDashboardsScenario implements Scenario {
  readonly name = "calls beside live dashboards";

  async run(): Promise<ScenarioResult> {
    const { alone, beside, dashboards } = await measureBesideDashboards();
    const [reference, measured] = [medianAddedMs(alone, 0.99), medianAddedMs(beside, 0.99)];
    const events = dashboards.reduce((sum, one) => sum + one.events, 0);
    const missed = Math.max(...[...alone, ...beside].map(({ missedReplies }) => missedReplies));
    const reopened = dashboards.reduce((sum, one) => sum + one.reopened, 0);
    return {
      measurements: [{ name: "besideDashboardsLatencyP99", measured, reference }],
      details: [
        ...[0.5, 0.9, 0.99].map((share) => toldAdded(alone, beside, share)),
        toldValues("CPU per second of call", cpuOf(alone), cpuOf(beside)),
        `alone against alone, p99: every other window ${noiseOf(alone).toFixed(2)} times the others`,
        `${events} events to dashboards, ${reopened} streams again`,
        `${missed} turns without a reply: calls that broke make the others look cheap`,
      ],
    };
  }
}

function medianAddedMs(windows: readonly CallWindow[], share: number): number {
  const lost = windows.some((window) => Number.isNaN(addedMs(window, share)));
  return lost ? Number.NaN : median(windows.map((window) => addedMs(window, share)));
}

/** What the same measure says of nothing: while it is far from 1, a ratio says nothing either. */
function noiseOf(windows: readonly CallWindow[]): number {
  const [some, others] = [0, 1].map((rest) => windows.filter((_, index) => index % 2 === rest));
  return medianAddedMs(some ?? [], 0.99) / medianAddedMs(others ?? [], 0.99);
}

function toldAdded(
  alone: readonly CallWindow[],
  beside: readonly CallWindow[],
  share: number,
): string {
  const added = (windows: readonly CallWindow[]) => windows.map((window) => addedMs(window, share));
  return toldValues(`added by the server, p${share * 100}`, added(alone), added(beside));
}

function cpuOf(windows: readonly CallWindow[]): readonly number[] {
  return windows.map(({ cpuMsPerCallSecond }) => cpuMsPerCallSecond);
}

function toldValues(what: string, alone: readonly number[], beside: readonly number[]): string {
  const told = (values: readonly number[]) =>
    `${median(values).toFixed(2)} ms (${values.map((value) => value.toFixed(2)).join(", ")})`;
  return `${what}: alone ${told(alone)}, beside ${told(beside)}`;
}

/** None where this comparison is not of these measures. */
function measuredAs(
  measures: ReadonlyMap<string, MeasureName>,
  { name: asked, server, reference }: RestComparison,
  pick: (measure: RestMeasure) => number,
): readonly Measurement[] {
  const name = measures.get(asked);
  return name === undefined ? [] : [{ name, measured: pick(server), reference: pick(reference) }];
}
