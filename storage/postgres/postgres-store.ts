import type { Pool } from "pg";
import type { Mail } from "../nodes/mail.js";
import { messageOf } from "../statements/fault.js";
import type {
  Results,
  Statement,
  StorageStats,
  StoreBackend,
} from "../statements/statement-port.js";
import { StorageUnavailable } from "../statements/storage-failure.js";
import type { StoreCondition, StoreFault } from "../statements/store-condition.js";
import { addressOf } from "./postgres-address.js";
import { postgresFault } from "./postgres-advice.js";
import { PostgresClaim } from "./postgres-claim.js";
import { PostgresClient } from "./postgres-client.js";
import { postgresDialect } from "./postgres-dialect.js";
import { faultOfPostgres } from "./postgres-fault.js";
import { PostgresMail } from "./postgres-mail.js";
import { newPool } from "./postgres-pool.js";
import { demandTables, newerSchema, updatePostgresSchema } from "./postgres-schema.js";

export interface PostgresOptions {
  readonly url: string;
  readonly connectionsMax?: number | undefined;
  readonly isServer?: boolean;
  /** As in `DatabaseOptions`. */
  readonly nodeName?: string | undefined;
  readonly mustExist?: boolean;
}

/** A PostgreSQL database, over a pool of connections. */
export class PostgresStore implements StoreBackend {
  readonly writers = "many";
  readonly dialect = postgresDialect(this);
  readonly mail: Mail;
  readonly #pool: Pool;
  readonly #client: PostgresClient;
  readonly #claim: PostgresClaim | undefined;
  readonly #address: string;

  /** Rejects with `StorageUnavailable` when the database cannot be used. */
  static async open(options: PostgresOptions): Promise<PostgresStore> {
    const { url, connectionsMax, isServer = false, nodeName, mustExist = false } = options;
    const address = addressOf(url);
    const pool = newPool(url, connectionsMax);
    let claim: PostgresClaim | undefined;
    try {
      claim = isServer ? await PostgresClaim.take(url, address, nodeName) : undefined;
      if (mustExist) await demandTables(pool, address);
      await updatePostgresSchema(pool, address);
      return new PostgresStore(pool, claim, url);
    } catch (error) {
      await claim?.close();
      await pool.end();
      if (error instanceof StorageUnavailable) throw error;
      const advice = postgresFault(faultOfPostgres(error), address)?.advice;
      throw new StorageUnavailable(advice ?? messageOf(error), { cause: error });
    }
  }

  private constructor(pool: Pool, claim: PostgresClaim | undefined, url: string) {
    this.#pool = pool;
    this.#claim = claim;
    this.#address = addressOf(url);
    this.mail = new PostgresMail(url, this);
    this.#client = new PostgresClient(pool, { asksForLostCommits: claim !== undefined });
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

  /** Whether it answers, and has the schema that this version knows. */
  async look(): Promise<StoreCondition> {
    try {
      const newer = await newerSchema(this.#pool);
      await this.#client.settleLostCommits();
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
      if (error instanceof StorageUnavailable) return error.message;
      throw error;
    }
  }
}
