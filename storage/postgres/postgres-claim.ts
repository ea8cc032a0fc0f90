import { Client } from "pg";
import * as v from "valibot";
import { StorageUnavailable } from "../storage-failure.js";
import { connectionSettings } from "./postgres-pool.js";

/** Among the locks that applications give themselves, this one is ours; installations in other schemas have their own. */
const LOCK = 1_345_673_305;
/** After a restart of the database its locks are free, though the server that had one may be at work and about to come back. */
const FRESH_SEC = 30;

/** Should this machine be lost, the database notices within some ten seconds instead of two hours. */
const KEEP_ALIVE =
  "set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3";
const TAKE = `select pg_try_advisory_lock(${LOCK}, hashtext(current_schema())) as taken,
  now() - pg_postmaster_start_time() > interval '${FRESH_SEC} s' as lasting`;
const Taken = v.tuple([v.object({ taken: v.boolean(), lasting: v.boolean() })]);

/** Claims a database for one server, as long as a connection of its own lives. */
export class PostgresClaim {
  /** False: the lock may have been lost by a server that lives. */
  readonly lockWasThere: boolean;
  readonly #url: string;
  readonly #address: string;
  #connection: Client;
  #isLost = false;

  /** Rejects with `StorageUnavailable` when another server has the database. */
  static async take(url: string, address: string): Promise<PostgresClaim> {
    const { connection, lasting } = await connect(url, address);
    return new PostgresClaim(url, address, connection, lasting);
  }

  private constructor(url: string, address: string, connection: Client, lasting: boolean) {
    this.#url = url;
    this.#address = address;
    this.lockWasThere = lasting;
    this.#connection = connection;
    this.#watch();
  }

  /** Takes the lock again where its connection was lost. Rejects with `StorageUnavailable` when another server has it by now. */
  async renew(): Promise<void> {
    if (!this.#isLost) return;
    const { connection } = await connect(this.#url, this.#address);
    this.#connection = connection;
    this.#isLost = false;
    this.#watch();
  }

  async close(): Promise<void> {
    if (!this.#isLost) await this.#connection.end();
  }

  #watch(): void {
    const connection = this.#connection;
    const lose = () => {
      if (connection === this.#connection) this.#isLost = true;
    };
    connection.on("error", lose);
    connection.on("end", lose);
  }
}

async function connect(url: string, address: string) {
  const connection = new Client(connectionSettings(url));
  connection.on("error", ignore);
  await connection.connect();
  try {
    await connection.query(KEEP_ALIVE);
    const [{ taken, lasting }] = v.parse(Taken, (await connection.query(TAKE)).rows);
    if (taken) return { connection, lasting };
  } catch (error) {
    await connection.end();
    throw error;
  }
  await connection.end();
  throw new StorageUnavailable(
    `another server runs on PostgreSQL at ${address}: stop that one first, or give this one a database of its own`,
  );
}

function ignore(): void {}
