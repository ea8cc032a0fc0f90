import { Client } from "pg";
import * as v from "valibot";
import { StorageUnavailableError } from "../statements/storage-error.js";
import { connectionSettings } from "./postgres-pool.js";

/** Parley's number among the applications' advisory locks; installations in other schemas have their own. */
const LOCK = 1_345_673_305;
const NODE_LOCK = 1_345_673_306;
/**
 * After a restart of the database its locks are free, though the server that held one may be alive and about to
 * reconnect.
 */
const FRESH_SEC = 30;

/** If this machine is lost, the database notices within some ten seconds instead of two hours. */
const KEEP_ALIVE =
  "set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3";
const PERMANENT = `now() - pg_postmaster_start_time() > interval '${FRESH_SEC} s' as lasting`;
/** Excludes every server, including releases that had the database for themselves. */
const TAKE_ALL = `select pg_try_advisory_lock(${LOCK}, hashtext(current_schema())) as taken, true as shared, ${PERMANENT}`;
const TAKE_NAME = `select pg_try_advisory_lock_shared(${LOCK}, hashtext(current_schema())) as shared,
  pg_try_advisory_lock(${NODE_LOCK}, hashtext(current_schema() || '/' || $1)) as taken, ${PERMANENT}`;
/**
 * Within a transaction a pooler keeps one connection for its client; outside, a pooler in transaction mode does
 * not.
 */
const WHICH_BACKEND = "select pg_backend_pid() as pid";
const Backend = v.tuple([v.object({ pid: v.number() })]);
/** A pooler may rotate its connections. */
const POOLER_CHECKS = 3;

const Taken = v.tuple([
  v.object({ taken: v.boolean(), shared: v.boolean(), lasting: v.boolean() }),
]);

/** Claims a database, or a node's name in it, for one process, as long as its own connection is alive. */
export class PostgresClaim {
  /** False if a live server may have lost the lock. */
  readonly lockWasThere: boolean;
  readonly #url: string;
  readonly #address: string;
  readonly #node: string | undefined;
  #connection: Client;
  #isLost = false;
  #renewing: Promise<void> | undefined;

  /**
   * Claims the whole database without a node name. Rejects with `StorageUnavailableError` if another process holds
   * the same claim, or the whole database.
   */
  static async take(url: string, address: string, node?: string): Promise<PostgresClaim> {
    const { connection, lasting } = await connect(url, address, node);
    return new PostgresClaim({ url, address, node, connection, lasting });
  }

  private constructor({ url, address, node, connection, lasting }: Claimed) {
    this.#url = url;
    this.#address = address;
    this.#node = node;
    this.lockWasThere = lasting;
    this.#connection = connection;
    this.#watch();
  }

  /**
   * Takes the lock again if its connection was lost. Rejects with `StorageUnavailableError` if another server has
   * it by now.
   */
  renew(): Promise<void> {
    // Each process of a server calls this; two concurrent connections would compete for the lock.
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renew(): Promise<void> {
    if (!this.#isLost) return;
    const { connection } = await connect(this.#url, this.#address, this.#node);
    this.#connection = connection;
    this.#isLost = false;
    this.#watch();
  }

  async close(): Promise<void> {
    await this.#connection.end();
  }

  #watch(): void {
    this.#connection.on("end", () => {
      this.#isLost = true;
    });
  }
}

interface Claimed {
  readonly url: string;
  readonly address: string;
  readonly node: string | undefined;
  readonly connection: Client;
  readonly lasting: boolean;
}

async function connect(url: string, address: string, node: string | undefined) {
  const connection = new Client(connectionSettings(url));
  connection.on("error", ignore);
  await connection.connect();
  try {
    await connection.query(KEEP_ALIVE);
    const query = node === undefined ? TAKE_ALL : { text: TAKE_NAME, values: [node] };
    const [{ taken, shared, lasting }] = v.parse(Taken, (await connection.query(query)).rows);
    if (taken && shared) return { connection, lasting };
    throw new StorageUnavailableError(
      shared && node !== undefined
        ? `another server named ${node} runs on PostgreSQL at ${address}: give this one a NODE_NAME of its own, or stop that one first`
        : `another server runs on PostgreSQL at ${address}: stop that one first, or give this one a database of its own`,
    );
  } catch (error) {
    await connection.end();
    throw error;
  }
}

/**
 * Rejects with `StorageUnavailableError` if another client may get a connection's session between two statements,
 * as with PgBouncer in transaction mode. Runs before the lock: a lock taken through such a pooler stays with one
 * of its connections, and blocks the next start.
 */
export async function refuseSharedSessions(url: string, address: string): Promise<void> {
  const connections = [new Client(connectionSettings(url)), new Client(connectionSettings(url))];
  for (const connection of connections) connection.on("error", ignore);
  try {
    for (const connection of connections) await connection.connect();
    if (await isShared(connections)) throw sharedSessions(address);
  } finally {
    await Promise.all(connections.map((connection) => connection.end()));
  }
}

async function isShared([one, other]: readonly Client[]): Promise<boolean> {
  if (one === undefined || other === undefined) return false;
  const own = new Set<number>();
  for (let look = 0; look < POOLER_CHECKS; look += 1) {
    own.add(await backendOf(one));
    await other.query("begin");
    const others = await backendOf(other);
    own.add(await backendOf(one));
    await other.query("rollback");
    if (own.size > 1 || own.has(others)) return true;
  }
  return false;
}

async function backendOf(connection: Client): Promise<number> {
  const [{ pid }] = v.parse(Backend, (await connection.query(WHICH_BACKEND)).rows);
  return pid;
}

function sharedSessions(address: string): StorageUnavailableError {
  return new StorageUnavailableError(
    `a pooler in transaction mode, such as PgBouncer, is in front of PostgreSQL at ${address}: Parley's lock and LISTEN need connections of their own. Name the database itself, or a pooler in session mode, in DATABASE_SESSION_URL; DATABASE_URL may stay as it is`,
  );
}

function ignore(): void {}
