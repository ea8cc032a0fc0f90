import { DatabaseError } from "pg";
import { type Fault, faultCodeOf } from "../statements/fault.js";

/** The server cannot be reached, or was lost before it had answered. */
export const UNREACHABLE = "PG_UNREACHABLE";

/** There is no trust in the certificate that the server has shown. */
export const UNTRUSTED = "PG_UNTRUSTED";
const CERTIFICATE_CODE = /CERT|^UNABLE_TO_(?:GET_ISSUER|VERIFY)/;

const UNIQUE = "23505";
const FOREIGN_KEY = "23503";
/** Unique rules are named by their table and columns: the server tells columns only in a sentence of its own language. */
const RULE_NAME = /^(\w+)\(([\w,]+)\)$/;
/** Others were in the way of each other, and this one was chosen to make room: nothing of it has happened. */
const COLLISIONS: ReadonlySet<string> = new Set(["40001", "40P01"]);
/** The server has let go of the connection, or is about to. */
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

/** Whether the same request may succeed at once. */
export function isCollision(error: unknown): boolean {
  return error instanceof DatabaseError && COLLISIONS.has(error.code ?? "");
}

/** Whether the connection is gone, so that nobody has said what came of the last statement. */
export function isLostConnection(error: unknown): boolean {
  return error instanceof DatabaseError ? ENDED.test(error.code ?? "") : !isOfTheCaller(error);
}

/** What the driver says without the server is about the way to it, unless a value could not be sent. */
function otherFault(error: unknown): Fault {
  const { code, message } = faultCodeOf(error);
  if (isOfTheCaller(error)) return { kind: "other", code, message };
  return { kind: "other", code: CERTIFICATE_CODE.test(code) ? UNTRUSTED : UNREACHABLE, message };
}

function isOfTheCaller(error: unknown): boolean {
  return !(error instanceof Error) || error instanceof TypeError || error instanceof RangeError;
}
