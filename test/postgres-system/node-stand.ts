import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { freePorts } from "../../bench/livestream/free-ports.js";
import type { PostgresCluster } from "../../bench/stand/postgres-cluster.js";
import { startSandbox } from "../../engine/sandbox/sandbox.js";
import type { Tenancy } from "../../engine/tenancy/tenancy.js";
import { SystemClock } from "../../engine/time/clock.js";
import { type Database, openDatabase } from "../../storage/database.js";
import type { CallRecord } from "../../storage/records.js";
import { temporaryFile } from "../storage/temporary-file.js";
import { eventually } from "../system/eventually.js";
import { ServerProcess } from "../system/server-process.js";
import { type Customer, TestCustomers, tenancyOn } from "../system/test-customers.js";
import { environmentOf } from "../system/test-server.js";
import { FrontProxy } from "./front-proxy.js";

export interface StandingNode {
  readonly name: string;
  /** Its own. */
  readonly url: string;
  readonly server: ServerProcess;
}

/** Servers of one PostgreSQL database, each a process of its own, behind one address. */
export class NodeStand {
  readonly database: Database;
  readonly databaseUrl: string;
  readonly tenancy: Tenancy;
  readonly customers: TestCustomers;
  readonly front: FrontProxy;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #context: TestContext;

  static async start(
    context: TestContext,
    cluster: PostgresCluster,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<NodeStand> {
    const sandbox = await startSandbox({});
    context.after(() => sandbox.close());
    const dataDir = await mkdtemp(join(tmpdir(), "parley-nodes-"));
    context.after(() => rm(dataDir, { recursive: true }));
    const front = await FrontProxy.start(context);
    const databaseUrl = await cluster.makeDatabase();
    const database = await openDatabase({ filePath: temporaryFile(), url: databaseUrl });
    context.after(() => database.close());
    const settings = {
      ...environmentOf(sandbox, dataDir),
      NODE_ENV: "test",
      DATABASE_URL: databaseUrl,
      PUBLIC_BASE_URL: front.url,
      ...environment,
    };
    return new NodeStand(context, database, front, settings);
  }

  private constructor(
    context: TestContext,
    database: Database,
    front: FrontProxy,
    environment: Readonly<Record<string, string>> & { readonly DATABASE_URL: string },
  ) {
    this.#context = context;
    this.database = database;
    this.databaseUrl = environment.DATABASE_URL;
    this.front = front;
    this.#environment = environment;
    this.tenancy = tenancyOn(database, new SystemClock());
    this.customers = new TestCustomers(database, this.tenancy);
  }

  /** Another server under this name; it ends with the test at the latest. */
  async serve(
    name: string,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<StandingNode> {
    // It says its public address, which is that of all of them.
    const [port = 0] = await freePorts(1);
    const own = { NODE_NAME: name, PORT: String(port) };
    const server = await ServerProcess.start({ ...this.#environment, ...own, ...environment });
    this.#context.after(async () => {
      server.signal("SIGKILL");
      await server.exited();
    });
    return { name, url: `http://127.0.0.1:${port}`, server };
  }

  async customerWithAgent(greeting: string, planSlug?: string): Promise<Customer> {
    const customer = await this.customers.customer(planSlug);
    await this.customers.agent(customer, { persona: { greeting } });
    return customer;
  }

  webhookOf(server: { readonly url: string }, { apiKey }: Customer): string {
    return `${server.url}/api/telephony/voice?api_key=${apiKey}`;
  }

  /** The oldest first. */
  async calls({ tenant }: Customer): Promise<readonly CallRecord[]> {
    const { items } = await this.database.calls.list(tenant.organization.id, {
      skip: 0,
      limit: 500,
    });
    return items.toReversed();
  }

  slotCount({ tenant }: Customer): Promise<number> {
    return this.database.callSlots.count(tenant.organization.id);
  }

  /** Resolves when none of the customer's calls is left, in the records as in the slots. */
  async atRest(customer: Customer): Promise<readonly CallRecord[]> {
    return eventually("the calls to be over", async () => {
      if ((await this.slotCount(customer)) > 0) return undefined;
      const calls = await this.calls(customer);
      return calls.some(({ status }) => status === "active") ? undefined : calls;
    });
  }
}
