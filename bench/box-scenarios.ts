import { alternate } from "./alternation.js";
import type { LoadPlan } from "./load/call-load.js";
import {
  describePhoneLoad,
  type PhoneLoadOptions,
  type PhoneLoadResult,
  phonePhrases,
  runPhoneLoad,
} from "./phone/phone-load.js";
import { median } from "./quantile.js";
import { compareDatabases, describeRest } from "./rest/rest-load.js";
import { addedMs, type Scenario, type ScenarioResult } from "./scenarios.js";
import { putBehindServer } from "./stand/child-process.js";
import { PostgresCluster } from "./stand/postgres-cluster.js";
import { startPreparedVendors } from "./stand/prepared-vendors.js";
import { childrenOf, connectionCount } from "./stand/process-usage.js";
import type { ServerStand } from "./stand/stand.js";
import { UsedByThread } from "./stand/used-by-thread.js";

type Load = (options?: PhoneLoadOptions) => Promise<PhoneLoadResult>;

/** Telephone calls on a server of their own each time, with the same phrases. */
async function withLoad<Result>(
  plan: LoadPlan,
  use: (load: Load) => Promise<Result>,
): Promise<Result> {
  const spoken = phonePhrases(plan);
  const vendors = await startPreparedVendors(spoken, ["elevenlabs"]);
  try {
    return await use((options) => runPhoneLoad("elevenlabs", vendors, spoken, plan, options));
  } finally {
    await vendors.process.stop();
  }
}

function told(what: string, values: readonly number[]): string {
  const each = values.map((value) => value.toFixed(2)).join(", ");
  return `${what}: ${median(values).toFixed(2)} ms (${each})`;
}

/**
 * The same calls on SQLite as the reference, on PostgreSQL that has another core than the server, as one on a machine of its own
 * would, and on PostgreSQL that shares the server's, in turns.
 */
export class DatabasesScenario implements Scenario {
  readonly name: string;
  readonly #plan: LoadPlan;
  readonly #pairs: number;

  constructor(plan: LoadPlan, pairs: number) {
    this.name = `SQLite and PostgreSQL, ${plan.callers} telephone calls each, ${pairs} times`;
    this.#plan = plan;
    this.#pairs = pairs;
  }

  run(): Promise<ScenarioResult> {
    return withLoad(this.#plan, async (load) => {
      const apart = await PostgresCluster.start();
      const beside = await PostgresCluster.start();
      putBehindServer(beside.pid);
      const loadOn = async (cluster: PostgresCluster) =>
        load({ environment: { DATABASE_URL: await cluster.makeDatabase() } });
      const [sqlite = [], postgres = [], shared = []] = await alternate(this.#pairs, [
        () => load(),
        () => loadOn(apart),
        () => loadOn(beside),
      ]);
      await apart.stop();
      await beside.stop();
      const p99 = (results: readonly PhoneLoadResult[]) =>
        results.map((result) => addedMs(result, 0.99));
      const reference = median(p99(sqlite));
      return {
        measurements: [
          { name: "postgresLatencyP99", measured: median(p99(postgres)), reference },
          { name: "postgresSharingLatencyP99", measured: median(p99(shared)), reference },
        ],
        details: [
          told("added latency on SQLite, p99", p99(sqlite)),
          told("added latency on PostgreSQL, p99", p99(postgres)),
          told("added latency on PostgreSQL on the server's core, p99", p99(shared)),
          ...sqlite.flatMap((result) => describePhoneLoad("SQLite", result)),
          ...postgres.flatMap((result) => describePhoneLoad("PostgreSQL", result)),
          ...shared.flatMap((result) =>
            describePhoneLoad("PostgreSQL on the server's core", result),
          ),
        ],
      };
    });
  }
}

/** The same requests on PostgreSQL, and as the reference on SQLite, with the same rows. */
export class RestDatabasesScenario implements Scenario {
  readonly name = "REST on PostgreSQL and SQLite";
  readonly #rounds: number;

  constructor(rounds: number) {
    this.#rounds = rounds;
  }

  async run(): Promise<ScenarioResult> {
    const comparisons = await compareDatabases(this.#rounds);
    return { measurements: [], details: describeRest(comparisons, "SQLite") };
  }
}

/** One way to carry the same calls on one core. */
interface Arrangement {
  readonly title: string;
  readonly options: PhoneLoadOptions;
}

const ONE: Arrangement = { title: "WORKERS=1", options: { environment: { WORKERS: "1" } } };
const TWO: Arrangement = { title: "WORKERS=2", options: { environment: { WORKERS: "2" } } };
/** What two processes cost on one core where nothing joins them. */
const APART: Arrangement = {
  title: "two servers with half each",
  options: { ...ONE.options, apart: 2 },
};

interface ArrangementRun {
  readonly result: PhoneLoadResult;
  readonly used: UsedByThread;
  /** By process of the server. */
  readonly calls: readonly number[];
}

/**
 * The same calls in one process as the reference, and in two with one that has what is one for the server. The control are two
 * servers that share nothing: what they cost more than one is the machine's part, what two processes of one cost more than they
 * is ours.
 */
export class WorkersScenario implements Scenario {
  readonly name: string;
  readonly #plan: LoadPlan;
  readonly #rounds: number;

  constructor(plan: LoadPlan, rounds: number) {
    this.name = `WORKERS=2 beside WORKERS=1, ${plan.callers} telephone calls each, ${rounds} times`;
    this.#plan = plan;
    this.#rounds = rounds;
  }

  run(): Promise<ScenarioResult> {
    return withLoad(this.#plan, async (load) => {
      const arrangements = [ONE, TWO, APART];
      const runs = await alternate(
        this.#rounds,
        arrangements.map((arrangement) => () => runOf(arrangement, load)),
      );
      const [one = [], two = [], apart = []] = runs;
      const shares = two.map(({ calls }) => (100 * Math.max(...calls)) / sum(calls));
      return {
        measurements: [
          { name: "workersCpuPerCallSecond", measured: cpuOf(two), reference: cpuOf(one) },
          { name: "workersOverApart", measured: cpuOf(two), reference: cpuOf(apart) },
          { name: "workersLargestShare", measured: Math.max(...shares) },
        ],
        details: arrangements.flatMap((arrangement, index) =>
          (runs[index] ?? []).flatMap((run) => described(arrangement, run)),
        ),
      };
    });
  }
}

async function runOf({ options }: Arrangement, load: Load): Promise<ArrangementRun> {
  const used = new UsedByThread();
  let calls: readonly number[] = [];
  const result = await load({
    ...options,
    onMeasuring: (server, isOn) => {
      used.note(server, isOn);
      if (!isOn) calls = callsByProcess(server);
    },
  });
  return { result, used, calls };
}

function described({ title }: Arrangement, { result, used, calls }: ArrangementRun) {
  const shared = calls.length === 0 ? [] : [`  connections by process: ${calls.join(" and ")}`];
  return [...describePhoneLoad(title, result), ...used.describe(), ...shared];
}

function cpuOf(runs: readonly ArrangementRun[]): number {
  return median(runs.map(({ result }) => result.cpuMsPerCallSecond));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The streams that each process of the server has open. */
function callsByProcess({ process, url }: ServerStand): readonly number[] {
  const port = Number(new URL(url).port);
  return childrenOf(process.pid).map((child) => connectionCount(child, port));
}
