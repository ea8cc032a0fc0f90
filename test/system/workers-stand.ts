import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { freePorts } from "../../bench/livestream/free-ports.js";
import { parseConfig } from "../../config.js";
import { startSandbox } from "../../engine/sandbox/sandbox.js";
import type { Tenancy } from "../../engine/tenancy/tenancy.js";
import { SystemClock } from "../../engine/time/clock.js";
import { type ServerWithWorkers, startServerWithWorkers } from "../../parley.js";
import type { CallRecord } from "../../storage/records.js";
import { Changes } from "../doubles/changes.js";
import { type LogLine, RecordingLogger } from "../doubles/recording-logger.js";
import { eventually } from "./eventually.js";
import { type Customer, TestCustomers, tenancyOn } from "./test-customers.js";
import { environmentOf, newDataDir } from "./test-server.js";

const isBackchannel = ({ message }: LogLine) => message === "a worker is ready for calls";

/** A server with two worker processes; this process is the primary. */
export class WorkersStand {
  readonly server: ServerWithWorkers;
  readonly log: RecordingLogger;
  readonly customers: TestCustomers;
  readonly tenancy: Tenancy;
  /** Notifies of writes of calls. */
  readonly changes: Changes;
  readonly #close: () => Promise<void>;

  static async start(environment: Readonly<Record<string, string>> = {}): Promise<WorkersStand> {
    const sandbox = await startSandbox({});
    const dataDir = await newDataDir();
    // Reserved, so that no other program takes it while the processes start one after the other.
    const [port = 0] = await freePorts(1);
    const own = { PORT: String(port), WORKERS: "2" };
    const settings = { ...environmentOf(sandbox, dataDir), ...own, ...environment };
    const log = new RecordingLogger();
    const server = await startServerWithWorkers(parseConfig(settings), log);
    return new WorkersStand(server, log, async () => {
      await sandbox.close();
      await rm(dataDir, { recursive: true });
    });
  }

  private constructor(server: ServerWithWorkers, log: RecordingLogger, close: () => Promise<void>) {
    const { database } = server;
    this.server = server;
    this.log = log;
    this.#close = close;
    this.tenancy = tenancyOn(database, new SystemClock());
    this.customers = new TestCustomers(database, this.tenancy);
    this.changes = new Changes();
    const relay = database.relay.bind(database);
    database.relay = (request) => relay(request).finally(this.changes.tell);
    const closeRun = database.calls.closeRun.bind(database.calls);
    database.calls.closeRun = (...run) => closeRun(...run).finally(this.changes.tell);
  }

  get url(): string {
    return `http://127.0.0.1:${this.server.port}`;
  }

  /** Returns the customer's calls, once there are this many and all of them have ended. */
  endedCalls(customer: Customer, count: number): Promise<readonly CallRecord[]> {
    const orgId = customer.tenant.organization.id;
    return this.changes.until(`the end of ${count} calls`, async () => {
      const { items } = await this.server.database.calls.list(orgId, { skip: 0, limit: 500 });
      const ended = items.filter(({ status }) => status !== "active");
      return ended.length === items.length && items.length >= count ? items : undefined;
    });
  }

  /** Returns the ids of the processes, once both listen, including replacements. */
  listening(): Promise<readonly number[]> {
    return eventually("two processes that listen", () => {
      const told = new Set(this.log.lines.filter(isBackchannel).map(({ fields }) => fields["pid"]));
      const pids = this.server.pids();
      return pids.length === 2 && pids.every((pid) => told.has(pid)) ? pids : undefined;
    });
  }

  /** Returns one metric of the server's metrics page, summed over its labels. */
  async metric(name: string): Promise<number> {
    const page = await (await fetch(`${this.url}/metrics`)).text();
    const lines = page.split("\n").filter((line) => line.startsWith(name));
    assert.ok(lines.length > 0, `${name} is on the page`);
    return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  }

  async stop(drainTimeoutMs = 0): Promise<void> {
    await this.server.stop(drainTimeoutMs);
    await this.#close();
  }
}
