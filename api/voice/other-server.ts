import type { CallRefusedError, RefusalReason } from "../../engine/calls/call-refused-error.js";
import type { AvailableServer } from "../../engine/cluster/coordination.js";
import { RequestError } from "../../engine/request-error.js";
import type { MaybePromise } from "../../engine/time/maybe-promise.js";
import { CLOSED_ROUTE_MESSAGE } from "../http/backend/http-backend.js";

/** Another server of the same database that accepts callers; undefined if there is none. */
export type OtherServer = () => MaybePromise<AvailableServer | undefined>;

/** Reasons that concern only this server: another one accepts the caller. */
const OF_THIS_SERVER: ReadonlySet<RefusalReason> = new Set(["serverStopping", "overloaded"]);
const RETRY_AFTER_SEC = 1;

/**
 * The address for a caller who is refused here; undefined if there is none. Throws the RequestError `unavailable`
 * if the other server has no address of its own: the proxy in front of both tries it then.
 */
export async function otherServerAddress(
  { reason }: CallRefusedError,
  otherServer: OtherServer,
): Promise<string | undefined> {
  if (!OF_THIS_SERVER.has(reason)) return undefined;
  const other = await otherServer();
  if (other === undefined || other.address !== undefined) return other?.address;
  throw new RequestError("unavailable", CLOSED_ROUTE_MESSAGE, { retryAfterSec: RETRY_AFTER_SEC });
}
