import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DATABASE_FILE, parseConfig } from "../../config.js";
import type { Logger } from "../../engine/log.js";
import { Caller, type CallerOptions } from "../../engine/sandbox/caller.js";
import { type Sandbox, startSandbox } from "../../engine/sandbox/sandbox.js";
import type { AgentInput } from "../../engine/tenancy/agents/agent-input.js";
import type { Tenancy } from "../../engine/tenancy/tenancy.js";
import { type Clock, SystemClock } from "../../engine/time/clock.js";
import { within } from "../../engine/time/deadline.js";
import { type Parley, startParley } from "../../parley.js";
import type { Database } from "../../storage/database.js";
import type { AgentRecord, CallRecord, Category } from "../../storage/records.js";
import { Changes, WAIT_MAX_MS } from "../doubles/changes.js";
import { frontUnderTest } from "../doubles/front-under-test.js";
import { PatientClock } from "../doubles/patient-clock.js";
import { SilentLogger } from "../doubles/silent-logger.js";
import { createDatabaseFile } from "../storage/temporary-file.js";
import { CallLog } from "./call-log.js";
import {
  type AgentVendorKeys,
  type Customer,
  ENCRYPTION_KEY,
  JWT_SECRET,
  TestCustomers,
  tenancyOn,
} from "./test-customers.js";

export { type AgentVendorKeys, type Customer, MODELS } from "./test-customers.js";

export const VENDOR_KEY = "a-key-that-the-sandbox-takes";

export interface TestServerOptions {
  readonly log?: Logger;
  /** By default a patient clock. */
  readonly clock?: Clock;
  /** In addition to every test server's settings; see `environmentOf`. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The data folder of an earlier server, to start it again. */
  readonly dataDir?: string;
  readonly sandbox?: Sandbox;
}

interface TestServerParts {
  readonly parley: Parley;
  readonly sandbox: Sandbox;
  readonly dataDir: string;
  readonly callLog: CallLog;
  readonly changes: Changes;
}

/** The whole server in this process, with simulated vendors on sockets and a database of its own. */
export class TestServer {
  readonly parley: Parley;
  readonly sandbox: Sandbox;
  readonly tenancy: Tenancy;
  readonly dataDir: string;
  /** Notifies of changes of the log, of the sandbox that was started with the server, and of the stored calls. */
  readonly changes: Changes;
  readonly #customers: TestCustomers;
  readonly #callLog: CallLog;
  readonly #options: TestServerOptions;

  static async start(options: TestServerOptions = {}): Promise<TestServer> {
    const changes = new Changes();
    const sandbox =
      options.sandbox ?? (await startSandbox({ journal: true, onChange: changes.tell }));
    const dataDir = options.dataDir ?? (await newDataDir());
    const environment = { ...environmentOf(sandbox, dataDir), ...options.environment };
    const callLog = new CallLog(options.log ?? new SilentLogger(), changes);
    const parley = await startParley(
      parseConfig(environment),
      callLog,
      options.clock ?? new PatientClock(),
    );
    tellOfWrites(parley.database, changes);
    await parley.calls.warm;
    return new TestServer({ parley, sandbox, dataDir, callLog, changes }, options);
  }

  private constructor(parts: TestServerParts, options: TestServerOptions) {
    const { parley, sandbox, dataDir, callLog, changes } = parts;
    this.parley = parley;
    this.sandbox = sandbox;
    this.dataDir = dataDir;
    this.#callLog = callLog;
    this.changes = changes;
    this.#options = options;
    this.tenancy = tenancyOn(parley.database, options.clock ?? new SystemClock());
    this.#customers = new TestCustomers(parley.database, this.tenancy);
  }

  get url(): string {
    return `http://127.0.0.1:${this.parley.port}`;
  }

  get database(): Database {
    return this.parley.database;
  }

  customer(planSlug?: string): Promise<Customer> {
    return this.#customers.customer(planSlug);
  }

  agent(
    customer: Customer,
    changes?: Partial<AgentInput>,
    keys?: AgentVendorKeys,
  ): Promise<AgentRecord> {
    return this.#customers.agent(customer, changes, keys);
  }

  providerId(category: Category, providerKey: string): Promise<string> {
    return this.#customers.providerId(category, providerKey);
  }

  call(customer: Customer, options: Partial<CallerOptions> = {}): Promise<Caller> {
    return Caller.connect({ url: this.url, apiKey: customer.apiKey, ...options });
  }

  /** Like `call`, but does not wait for the connection. */
  dial(customer: Customer, options: Partial<CallerOptions> = {}): Caller {
    return Caller.dial({ url: this.url, apiKey: customer.apiKey, ...options });
  }

  /** Returns every stored call of the customer, the oldest first. */
  async calls({ tenant }: Customer): Promise<readonly CallRecord[]> {
    const orgId = tenant.organization.id;
    const { items } = await this.database.calls.list(orgId, { skip: 0, limit: 100 });
    const calls = await Promise.all(
      items.map(async ({ id }) => {
        const call = await this.database.calls.findById(orgId, id);
        assert.ok(call);
        return call;
      }),
    );
    return calls.reverse();
  }

  /** Returns the customer's calls, once this many have ended. */
  async endedCalls(customer: Customer, count: number): Promise<readonly CallRecord[]> {
    const { id } = customer.tenant.organization;
    return this.changes.until(`the end of ${count} calls to be stored`, async () => {
      if (this.#callLog.endCount(id) < count) return undefined;
      const calls = await this.calls(customer);
      return calls.some(({ status }) => status === "active") ? undefined : calls;
    });
  }

  /** Returns the customer's only call, once it has ended. */
  async endedCall(customer: Customer): Promise<CallRecord> {
    const [call, ...others] = await this.endedCalls(customer, 1);
    assert.ok(call);
    assert.deepEqual(others, []);
    return call;
  }

  /** Like `endedCall`, but also waits for the summary. */
  async summarizedCall(customer: Customer): Promise<CallRecord> {
    await this.endedCall(customer);
    return this.changes.until("the summary of the call", async () => {
      const [call] = await this.calls(customer);
      return call === undefined || call.summary === null ? undefined : call;
    });
  }

  /** Resolves when no call is in progress; fails if one stays. Their ends may still be in the write queue. */
  async quiet(): Promise<void> {
    const { liveCalls, slots } = this.parley.calls;
    const isEmpty = await within(new SystemClock(), WAIT_MAX_MS, liveCalls.empty());
    assert.ok(isEmpty, `${liveCalls.count} calls go on`);
    assert.equal(slots.count, 0, "every slot was given back");
  }

  /** Resolves when nothing of any call is left, and its end is stored; fails if something stays. */
  async settled(): Promise<void> {
    await this.quiet();
    const { journal } = this.parley.calls;
    const isStored = await within(new SystemClock(), WAIT_MAX_MS, journal.stored());
    assert.ok(isStored, `${journal.keptCount} writes are kept`);
  }

  /** Like `stop`, for the end of a file: fails if anything of a call is left. */
  async close(): Promise<void> {
    try {
      await this.settled();
    } finally {
      await this.stop();
    }
  }

  /** Removes the database, unless the folder was given. */
  async stop(drainTimeoutMs = 0): Promise<void> {
    await this.parley.stop(drainTimeoutMs);
    if (this.#options.sandbox === undefined) await this.sandbox.close();
    if (this.#options.dataDir === undefined) await rm(this.dataDir, { recursive: true });
  }
}

/** Creates a folder with an empty database, whose creation would take half of the CPU time of a server's start. */
export async function newDataDir(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "parley-system-"));
  await createDatabaseFile(join(folder, DATABASE_FILE));
  return folder;
}

/** Keys for every vendor, the sandbox as their address, and limits that a test reaches only if it wants to. */
export function environmentOf(sandbox: Sandbox, dataDir: string): Record<string, string> {
  const { urls } = sandbox;
  return {
    NODE_ENV: "production",
    HOST: "127.0.0.1",
    PORT: "0",
    HTTP_BACKEND: frontUnderTest.choice,
    DATA_DIR: dataDir,
    JWT_SECRET,
    ENCRYPTION_KEY,
    DEEPGRAM_API_KEY: VENDOR_KEY,
    OPENAI_API_KEY: VENDOR_KEY,
    GROQ_API_KEY: VENDOR_KEY,
    ELEVENLABS_API_KEY: VENDOR_KEY,
    DEEPGRAM_URL: urls.deepgram,
    OPENAI_BASE_URL: urls.openai,
    GROQ_BASE_URL: urls.groq,
    OLLAMA_BASE_URL: urls.ollama,
    ELEVENLABS_BASE_URL: urls.elevenlabs,
    EDGE_TTS_URL: urls.edge,
    VOICE_CONNECTIONS_PER_MINUTE: "1000000",
    // Tests share a small machine; other tests check how an overloaded one refuses calls.
    EVENT_LOOP_DELAY_MAX_MS: "0",
    // Tests decode the words that a caller heard from the audio.
    SANDBOX_VOICE: "tones",
    LOG_LEVEL: "silent",
  };
}

/** Notifies of writes of calls, since the server does not wait for them. */
function tellOfWrites({ calls, recordings }: Database, { tell }: Changes): void {
  const told =
    <Input extends readonly unknown[], Output>(write: (...input: Input) => Promise<Output>) =>
    (...input: Input) =>
      write(...input).finally(tell);
  calls.start = told(calls.start.bind(calls));
  calls.finish = told(calls.finish.bind(calls));
  calls.saveTurn = told(calls.saveTurn.bind(calls));
  calls.annotate = told(calls.annotate.bind(calls));
  calls.saveSummary = told(calls.saveSummary.bind(calls));
  recordings.finish = told(recordings.finish.bind(recordings));
}
