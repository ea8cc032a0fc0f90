import { type ClientConfig, Pool } from "pg";
import { valueTypes } from "./postgres-values.js";

/** Connections of one server; a request holds one for a few milliseconds. */
export const CONNECTIONS_MAX = 10;
/** The time limit for a new connection, and for a free one of the pool. */
const CONNECT_MAX_MS = 5_000;
/** The server's timeout comes first, so a connection that reaches the client's timeout is dead. */
const STATEMENT_MAX_MS = 10_000;
const ANSWER_MAX_MS = 15_000;
/** A server that has lost its connection keeps its locks no longer than this. */
const SILENT_TRANSACTION_MAX_MS = 20_000;
const IDLE_CONNECTION_MAX_MS = 60_000;
const KEEP_ALIVE_AFTER_MS = 5_000;

/** The settings of every connection. The URL enables TLS: `?sslmode=verify-full&sslrootcert=FILE`. */
export function connectionSettings(url: string): ClientConfig {
  return {
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MAX_MS,
    statement_timeout: STATEMENT_MAX_MS,
    query_timeout: ANSWER_MAX_MS,
    idle_in_transaction_session_timeout: SILENT_TRANSACTION_MAX_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    application_name: "parley",
    types: valueTypes,
  };
}

/** Omits the startup parameters that PgBouncer refuses unless it is told to ignore them. */
function pooledSettings(url: string): ClientConfig {
  const {
    statement_timeout: _statement,
    idle_in_transaction_session_timeout: _transaction,
    ...settings
  } = connectionSettings(url);
  return settings;
}

/**
 * A broken connection is reported to its user, and replaced at the next request. `isPooled`: the address is a
 * pooler's, whose own settings, or those of the database's user, limit a statement's time.
 */
export function newPool(url: string, connectionsMax = CONNECTIONS_MAX, isPooled = false): Pool {
  const pool = new Pool({
    ...(isPooled ? pooledSettings(url) : connectionSettings(url)),
    max: connectionsMax,
    // A transaction sends its statements back to back, and waits for their responses together.
    pipeline: true,
    idleTimeoutMillis: IDLE_CONNECTION_MAX_MS,
  });
  pool.on("error", ignore);
  // Between two statements there is no other listener, and an error event without one would end the process.
  pool.on("connect", (client) => client.on("error", ignore));
  return pool;
}

function ignore(): void {}
