import type { Database } from "../../../storage/database.js";
import type { UserRecord } from "../../../storage/records.js";
import type { AuditActor } from "../../../storage/tenancy/audit-record.js";
import { RequestError } from "../../request-error.js";
import type { Clock } from "../../time/clock.js";
import { auditEntry } from "../audit-entry.js";
import { canonicalEmail } from "./email-address.js";

export interface OperatorsOptions {
  readonly database: Pick<Database, "organizations" | "users">;
  readonly clock: Clock;
  readonly newId: () => string;
  /** The actor of entries in the audit trail of the operator's own organization. */
  readonly administrator: AuditActor;
}

/** The users who operate the whole platform. Only its command line makes a user an operator, never a page. */
export class Operators {
  readonly #options: OperatorsOptions;

  constructor(options: OperatorsOptions) {
    this.#options = options;
  }

  /** By e-mail. */
  list(): Promise<readonly UserRecord[]> {
    return this.#options.database.users.listOperators();
  }

  /** Resolves with false if the user is an operator already. RequestError `not_found`: no user has this e-mail. */
  grant(email: string): Promise<boolean> {
    return this.#set(email, true);
  }

  /** Resolves with false if the user is no operator. RequestError as in `grant`. Applies from the next request. */
  revoke(email: string): Promise<boolean> {
    return this.#set(email, false);
  }

  async #set(email: string, isOperator: boolean): Promise<boolean> {
    const { database, clock, newId, administrator: actor } = this.#options;
    const user = await database.users.findByEmail(canonicalEmail(email));
    if (user === undefined) throw new RequestError("not_found", "no user has this e-mail");
    if (user.isOperator === isOperator) return false;
    const organization = await database.organizations.findById(user.orgId);
    if (organization === undefined) throw new Error(`user ${user.id} has no organization`);
    const { id, name } = organization;
    const entry = auditEntry({
      id: newId(),
      atMs: clock.epochMs(),
      actor,
      action: isOperator ? "organization.grantOperator" : "organization.revokeOperator",
      target: { type: "organization", id, orgId: id, name },
    });
    return database.users.setOperator(user.id, isOperator, entry);
  }
}
