import { DatabaseError } from "pg";
import { type Fault, faultCodeOf } from "../statements/fault.js";
import type { StoreFault } from "../statements/statement-port.js";

/** The server is unreachable, or the connection was lost before its response. */
export const UNREACHABLE = "PG_UNREACHABLE";

/** The server's certificate is not trusted. */
export const UNTRUSTED = "PG_UNTRUSTED";
const CERTIFICATE_CODE = /CERT|^UNABLE_TO_(?:GET_ISSUER|VERIFY)/;

const UNIQUE = "23505";
const FOREIGN_KEY = "23503";
/** Unique rules are named by their table and columns: the server reports columns only in a localized sentence. */
const RULE_NAME = /^(\w+)\(([\w,]+)\)$/;
/** A deadlock or serialization failure: nothing of the transaction has happened. */
const COLLISIONS: ReadonlySet<string> = new Set(["40001", "40P01"]);
/** The server has closed the connection, or is about to. */
const ENDED = /^(?:08|57P)/;

export function faultOfPostgres(error: unknown): Fault {
  if (!(error instanceof DatabaseError)) return otherFault(error);
  const { code = "ERROR", constraint = "", table = "", message } = error;
  if (code === FOREIGN_KEY) return { kind: "foreignKey" };
  if (code === UNIQUE) {
    const [, ruleTable = table, columns = ""] = RULE_NAME.exec(constraint) ?? [];
    return { kind: "unique", table: ruleTable, columns };
  }
  return { kind: "other", code: `PG_${code}`, message };
}

/** Whether the same request may succeed immediately. */
export function isCollision(error: unknown): boolean {
  return error instanceof DatabaseError && COLLISIONS.has(error.code ?? "");
}

/** Whether the connection is lost, so that the outcome of the last statement is unknown. */
export function isLostConnection(error: unknown): boolean {
  return error instanceof DatabaseError ? ENDED.test(error.code ?? "") : !isOfTheCaller(error);
}

/** An error of the driver without a server's code concerns the connection, unless a value could not be sent. */
function otherFault(error: unknown): Fault {
  const { code, message } = faultCodeOf(error);
  if (isOfTheCaller(error)) return { kind: "other", code, message };
  return { kind: "other", code: CERTIFICATE_CODE.test(code) ? UNTRUSTED : UNREACHABLE, message };
}

function isOfTheCaller(error: unknown): boolean {
  return !(error instanceof Error) || error instanceof TypeError || error instanceof RangeError;
}

interface Known {
  readonly pattern: RegExp;
  readonly reason: string;
  readonly advice: string;
}

const KNOWN: readonly Known[] = [
  {
    pattern: /^PG_08P01/,
    reason: "a proxy in front of the database rejects the protocol",
    advice:
      "a pooler such as PgBouncer? Name the database itself, or a pooler in session mode, in DATABASE_SESSION_URL; DATABASE_URL may stay",
  },
  {
    pattern: new RegExp(`^${UNTRUSTED}`),
    reason: "the database's certificate is not trusted",
    advice:
      "add the certificate of its authority, or its own where it is self-signed, to DATABASE_URL: ?sslmode=verify-full&sslrootcert=FILE; and name the host as the certificate does",
  },
  {
    pattern: new RegExp(`^(?:${UNREACHABLE}|PG_08|PG_57P)`),
    reason: "the database cannot be reached",
    advice:
      "start it, or look at the network and at DATABASE_URL; call writes are queued meanwhile",
  },
  {
    pattern: /^PG_42501/,
    reason: "the database user lacks a privilege",
    advice:
      "from PostgreSQL 15 on only its owner makes tables in the schema public: have the owner run GRANT USAGE, CREATE ON SCHEMA public TO the user of DATABASE_URL, or make that user the owner of the database",
  },
  {
    pattern: /^PG_28/,
    reason: "the database rejects this server's login",
    advice: "its user or password is wrong: look at DATABASE_URL and at the database's pg_hba.conf",
  },
  {
    pattern: /^PG_3D000/,
    reason: "the database does not exist",
    advice: "make it (createdb), or look at the name in DATABASE_URL",
  },
  {
    pattern: /^PG_53100/,
    reason: "the disk of the database is full",
    advice: "make room on the database's disk",
  },
  {
    pattern: /^PG_53300/,
    reason: "the database has no free connection",
    advice: "lower DATABASE_CONNECTIONS, or raise the database's max_connections",
  },
  {
    pattern: /^PG_25006/,
    reason: "the database is read-only",
    advice: "it is a standby: DATABASE_URL should name the primary",
  },
  {
    pattern: /^PG_(?:57014|55P03)/,
    reason: "the database is too slow",
    advice: "something keeps it busy or holds a lock: look at pg_stat_activity",
  },
  {
    pattern: /^SCHEMA_NEWER/,
    reason: "the database was migrated by a newer version",
    advice: "restart the server with that version",
  },
];

/** The reason as text; undefined if the database is not to blame. */
export function postgresFault(fault: Fault | undefined, address: string): StoreFault | undefined {
  if (fault?.kind !== "other") return undefined;
  const { code, message } = fault;
  const known = KNOWN.find(({ pattern }) => pattern.test(code));
  const reason = known?.reason ?? `the database cannot be written (${code})`;
  const rest = known === undefined ? "" : `; ${known.advice}`;
  return { reason, advice: `PostgreSQL at ${address}: ${message} (${code})${rest}` };
}
