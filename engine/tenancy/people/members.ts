import type { Database } from "../../../storage/database.js";
import type { OrganizationRecord, UserRecord } from "../../../storage/records.js";
import { UniqueViolationError } from "../../../storage/statements/unique-violation.js";
import type {
  AuditAction,
  AuditActor,
  AuditRecord,
} from "../../../storage/tenancy/audit-record.js";
import { RequestError } from "../../request-error.js";
import { hashPassword } from "../../security/password.js";
import type { Clock } from "../../time/clock.js";
import { auditEntry } from "../audit-entry.js";
import { emailTaken } from "./accounts.js";
import { canonicalEmail } from "./email-address.js";

/** Far more than an organization needs; keeps the list in the console small. */
const MEMBERS_MAX = 200;

export interface NewMember {
  readonly name: string;
  readonly email: string;
  /** The initial password, which the member can change: see `Accounts.changePassword`. */
  readonly password: string;
  readonly role: UserRecord["role"];
}

export interface MembersOptions {
  readonly database: Pick<Database, "users">;
  readonly clock: Clock;
  readonly newId: () => string;
}

/**
 * The users of an organization. The platform identifies the organization by its owner's e-mail, so the owner can be
 * neither removed nor demoted. An organization therefore always has an admin.
 */
export class Members {
  readonly #users: Database["users"];
  readonly #clock: Clock;
  readonly #newId: () => string;

  constructor({ database, clock, newId }: MembersOptions) {
    this.#users = database.users;
    this.#clock = clock;
    this.#newId = newId;
  }

  /** In the order in which they were added. */
  list(orgId: string): Promise<readonly UserRecord[]> {
    return this.#users.listOf(orgId);
  }

  /** RequestError `email_taken`, by an account in any organization; `limit_reached`: there are 200 members. */
  async add(orgId: string, member: NewMember, actor: AuditActor): Promise<UserRecord> {
    // Checked before the slow hashing of the password; the insert checks again.
    if ((await this.#users.listOf(orgId)).length >= MEMBERS_MAX) {
      throw new RequestError("limit_reached", `an organization can have ${MEMBERS_MAX} members`);
    }
    const user: UserRecord = {
      id: this.#newId(),
      orgId,
      email: canonicalEmail(member.email),
      passwordHash: await hashPassword(member.password),
      name: member.name,
      role: member.role,
      isOperator: false,
      createdAtMs: this.#clock.epochMs(),
    };
    try {
      const entry = this.#entry(actor, "member.create", user);
      if (!(await this.#users.insertWithin(user, MEMBERS_MAX, entry))) {
        throw new RequestError("limit_reached", `an organization can have ${MEMBERS_MAX} members`);
      }
    } catch (error) {
      if (error instanceof UniqueViolationError) throw emailTaken();
      throw error;
    }
    return user;
  }

  /** Takes effect with the member's next request. RequestError `not_found`; `owner_protected`: always an admin. */
  async changeRole(
    organization: OrganizationRecord,
    id: string,
    role: UserRecord["role"],
    actor: AuditActor,
  ): Promise<UserRecord> {
    const user = await this.#find(organization.id, id);
    if (user.role === role) return user;
    if (isOwner(user, organization))
      throw new RequestError("owner_protected", "the owner stays an admin");
    const entry = this.#entry(actor, "member.update", user, ["role"]);
    if (!(await this.#users.setRole(organization.id, id, role, entry))) throw noSuchMember();
    return { ...user, role };
  }

  /** All requests of the member are refused from now on. RequestError `not_found`; `owner_protected`. */
  async remove(organization: OrganizationRecord, id: string, actor: AuditActor): Promise<void> {
    const user = await this.#find(organization.id, id);
    if (isOwner(user, organization))
      throw new RequestError("owner_protected", "the owner cannot be removed");
    const entry = this.#entry(actor, "member.delete", user);
    if (!(await this.#users.delete(organization.id, id, entry))) throw noSuchMember();
  }

  async #find(orgId: string, id: string): Promise<UserRecord> {
    const user = await this.#users.findById(id);
    if (user?.orgId !== orgId) throw noSuchMember();
    return user;
  }

  #entry(
    actor: AuditActor,
    action: Extract<AuditAction, `member.${string}`>,
    { id, orgId, name }: UserRecord,
    changes: readonly string[] = [],
  ): AuditRecord {
    const target = { type: "member", id, orgId, name } as const;
    const atMs = this.#clock.epochMs();
    return auditEntry({ id: this.#newId(), atMs, actor, action, target, changes });
  }
}

export function isOwner(
  { email }: Pick<UserRecord, "email">,
  { ownerEmail }: Pick<OrganizationRecord, "ownerEmail">,
): boolean {
  return email === ownerEmail;
}

function noSuchMember(): RequestError {
  return new RequestError("not_found", "there is no such member");
}
