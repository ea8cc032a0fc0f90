import { isDeepStrictEqual } from "node:util";
import { Client, type Pool } from "pg";
import type { BusMessages } from "../nodes/message-bus.js";
import { messageOf } from "../statements/fault.js";
import { postgresDialect } from "../statements/statement-dialect.js";
import type {
  Results,
  Statement,
  StorageStats,
  StoreBackend,
  StoreCondition,
  StoreFault,
} from "../statements/statement-port.js";
import { StorageUnavailableError } from "../statements/storage-error.js";
import { addressOf } from "./postgres-address.js";
import { PostgresClaim, refuseSharedSessions } from "./postgres-claim.js";
import { PostgresClient } from "./postgres-client.js";
import { faultOfPostgres, postgresFault } from "./postgres-fault.js";
import { PostgresMessageBus } from "./postgres-message-bus.js";
import { connectionSettings, newPool } from "./postgres-pool.js";
import { newerSchema, requireTables, updatePostgresSchema } from "./postgres-schema.js";

export interface PostgresOptions {
  readonly url: string;
  /** The connection for the lock and LISTEN, if `url` leads through a pooler in transaction mode. */
  readonly sessionUrl?: string | undefined;
  readonly connectionsMax?: number | undefined;
  readonly isServer?: boolean;
  /** See `DatabaseOptions`. */
  readonly nodeName?: string | undefined;
  readonly mustExist?: boolean;
}

/** A PostgreSQL database, over a pool of connections. */
export class PostgresStore implements StoreBackend {
  readonly writers = "many";
  readonly dialect = postgresDialect(this);
  readonly messageBus: BusMessages;
  readonly #pool: Pool;
  readonly #client: PostgresClient;
  readonly #claim: PostgresClaim | undefined;
  readonly #address: string;

  /** Rejects with `StorageUnavailableError` if the database cannot be used. */
  static async open(options: PostgresOptions): Promise<PostgresStore> {
    const { url, connectionsMax, isServer = false, nodeName, mustExist = false } = options;
    const { sessionUrl = url } = options;
    const address = addressOf(url);
    const pool = newPool(url, connectionsMax, options.sessionUrl !== undefined);
    let claim: PostgresClaim | undefined;
    try {
      if (isServer) await refuseSharedSessions(sessionUrl, addressOf(sessionUrl));
      claim = isServer
        ? await PostgresClaim.take(sessionUrl, addressOf(sessionUrl), nodeName)
        : undefined;
      if (sessionUrl !== url) await refuseOtherDatabase(pool, sessionUrl);
      if (mustExist) await requireTables(pool, address);
      await updatePostgresSchema(pool, address);
      return new PostgresStore(pool, claim, url, sessionUrl);
    } catch (error) {
      await claim?.close();
      await pool.end();
      if (error instanceof StorageUnavailableError) throw error;
      const advice = postgresFault(faultOfPostgres(error), address)?.advice;
      throw new StorageUnavailableError(advice ?? messageOf(error), { cause: error });
    }
  }

  private constructor(
    pool: Pool,
    claim: PostgresClaim | undefined,
    url: string,
    sessionUrl: string,
  ) {
    this.#pool = pool;
    this.#claim = claim;
    this.#address = addressOf(url);
    this.messageBus = new PostgresMessageBus(sessionUrl, this);
    this.#client = new PostgresClient(pool, { resolvesUncertainCommits: claim !== undefined });
  }

  get stats(): StorageStats {
    return this.#client.stats;
  }

  get isSoleServer(): boolean {
    return this.#claim?.lockWasThere ?? true;
  }

  get writeFault(): StoreFault | undefined {
    return postgresFault(this.#client.writeFault, this.#address);
  }

  send(statements: readonly Statement[], guarded: boolean): Promise<Results> {
    return this.#client.send(statements, guarded);
  }

  read(statements: readonly Statement[]): Promise<Results> {
    return this.#client.send(statements, false);
  }

  /** Checks whether the database responds, and has a schema that this version supports. */
  async checkHealth(): Promise<StoreCondition> {
    try {
      const newer = await newerSchema(this.#pool);
      await this.#client.settleUncertainCommits();
      const fault = postgresFault(newer, this.#address) ?? this.writeFault;
      return { fault, warning: await this.#claimFault() };
    } catch (error) {
      return { fault: postgresFault(faultOfPostgres(error), this.#address), warning: undefined };
    }
  }

  async close(): Promise<void> {
    await this.#client.close();
    await this.#claim?.close();
  }

  async #claimFault(): Promise<string | undefined> {
    try {
      await this.#claim?.renew();
      return undefined;
    } catch (error) {
      if (error instanceof StorageUnavailableError) return error.message;
      throw error;
    }
  }
}

const WHICH_DATABASE =
  "select current_database() || ' ' || current_schema() || ' ' || pg_postmaster_start_time() as place";

/** A lock in another database would exclude no server from this one. */
async function refuseOtherDatabase(pool: Pool, sessionUrl: string): Promise<void> {
  const session = new Client(connectionSettings(sessionUrl));
  session.on("error", () => undefined);
  await session.connect();
  try {
    const [here, there] = [await pool.query(WHICH_DATABASE), await session.query(WHICH_DATABASE)];
    if (isDeepStrictEqual(here.rows, there.rows)) return;
    throw new StorageUnavailableError(
      "DATABASE_SESSION_URL leads to another database than DATABASE_URL: both have to name the same one",
    );
  } finally {
    await session.end();
  }
}
