import type { LoadPlan } from "./call-load.js";
import {
  describePhoneLoad,
  type PhoneLoadOptions,
  type PhoneLoadResult,
  phonePhrases,
  runPhoneLoad,
} from "./phone-load.js";
import { PostgresCluster } from "./postgres-cluster.js";
import { startPreparedVendors } from "./prepared-vendors.js";
import { childrenOf, connectionCount } from "./process-usage.js";
import { compareDatabases, describeRest } from "./rest-load.js";
import { addedMs, type Scenario, type ScenarioResult } from "./scenarios.js";
import type { ServerStand } from "./stand.js";

type Load = (options?: PhoneLoadOptions) => Promise<PhoneLoadResult>;

/** Telephone calls on one server, with the same phrases each time. */
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

/** The same calls, and the same requests, on SQLite as the reference and on PostgreSQL of the same machine. */
export class DatabasesScenario implements Scenario {
  readonly name: string;
  readonly #plan: LoadPlan;
  readonly #rounds: number;

  constructor(plan: LoadPlan, rounds: number) {
    this.name = `SQLite and PostgreSQL, ${plan.callers} telephone calls each`;
    this.#plan = plan;
    this.#rounds = rounds;
  }

  run(): Promise<ScenarioResult> {
    return withLoad(this.#plan, async (load) => {
      const sqlite = await load();
      const cluster = await PostgresCluster.start();
      const environment = { DATABASE_URL: await cluster.makeDatabase() };
      const postgres = await load({ environment });
      await cluster.stop();
      const rest = await compareDatabases(this.#rounds);
      return {
        measurements: [
          {
            name: "postgresLatencyP99",
            measured: addedMs(postgres, 0.99),
            reference: addedMs(sqlite, 0.99),
          },
        ],
        details: [
          ...describePhoneLoad("SQLite", sqlite),
          ...describePhoneLoad("PostgreSQL", postgres),
          ...describeRest(rest, "SQLite"),
        ],
      };
    });
  }
}

/** The same calls in one process as the reference, and in two with one that has what is one for the box. */
export class WorkersScenario implements Scenario {
  readonly name: string;
  readonly #plan: LoadPlan;

  constructor(plan: LoadPlan) {
    this.name = `WORKERS=2 beside WORKERS=1, ${plan.callers} telephone calls each`;
    this.#plan = plan;
  }

  run(): Promise<ScenarioResult> {
    return withLoad(this.#plan, async (load) => {
      const one = await load();
      let calls: readonly number[] = [];
      const two = await load({
        environment: { WORKERS: "2" },
        onMeasured: (server) => {
          calls = callsByProcess(server);
        },
      });
      const all = calls.reduce((sum, count) => sum + count, 0);
      return {
        measurements: [
          {
            name: "workersCpuPerCallSecond",
            measured: two.cpuMsPerCallSecond,
            reference: one.cpuMsPerCallSecond,
          },
          { name: "workersLargestShare", measured: (100 * Math.max(...calls)) / all },
        ],
        details: [
          ...describePhoneLoad("WORKERS=1", one),
          ...describePhoneLoad("WORKERS=2", two),
          `  connections by process: ${calls.join(" and ")}`,
        ],
      };
    });
  }
}

/** The streams that each process of the server has open. */
function callsByProcess({ process, url }: ServerStand): readonly number[] {
  const port = Number(new URL(url).port);
  return childrenOf(process.pid).map((child) => connectionCount(child, port));
}
