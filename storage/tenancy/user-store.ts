import type { CompiledQuery, Insertable, Kysely, Selectable } from "kysely";
import type { UserRecord } from "../records.js";
import type { AtomicRequests } from "../statements/atomic-requests.js";
import type { Tables } from "../tables.js";
import type { AuditRecord } from "./audit-record.js";
import { auditOf } from "./audit-store.js";
import { OWNER_COLUMNS, type Owner, OwnerReader, type OwnerRow } from "./owner-columns.js";

const FIELDS = [
  "users.id",
  "users.orgId",
  "users.email",
  "users.passwordHash",
  "users.name",
  "users.role",
  "users.isOperator",
  "users.createdAtMs",
] as const;

type UserFields = Omit<Selectable<Tables["users"]>, "sequence">;

export interface OwnedUser extends Owner {
  readonly user: UserRecord;
}

/** An organization's first user is inserted with it: see `OrganizationStore.insertWithOwner`. */
export class UserStore {
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;
  readonly #owners = new OwnerReader();
  /** Compiled once, because every request with a token uses it. */
  readonly #withOwner: CompiledQuery<UserFields & OwnerRow>;

  constructor(db: Kysely<Tables>, atomic: AtomicRequests) {
    this.#db = db;
    this.#atomic = atomic;
    this.#withOwner = db
      .selectFrom("users")
      .innerJoin("organizations", "organizations.id", "users.orgId")
      .innerJoin("plans", "plans.id", "organizations.planId")
      .select(FIELDS)
      .select(OWNER_COLUMNS)
      .where("users.id", "=", "")
      .compile();
  }

  /** Reads the user and its organization and plan in one request. */
  async findWithOwner(id: string): Promise<OwnedUser | undefined> {
    const query = { ...this.#withOwner, parameters: [id] };
    const [row] = (await this.#db.executeQuery<UserFields & OwnerRow>(query)).rows;
    if (row === undefined) return undefined;
    return { user: recordOf(row), ...this.#owners.ownerOf(row) };
  }

  /** Compares exactly: callers insert addresses in lower case. */
  async findByEmail(email: string): Promise<UserRecord | undefined> {
    const row = await this.#users().where("email", "=", email).executeTakeFirst();
    return row && recordOf(row);
  }

  async findById(id: string): Promise<UserRecord | undefined> {
    const row = await this.#users().where("id", "=", id).executeTakeFirst();
    return row && recordOf(row);
  }

  /** The users of an organization, in the order of their creation. */
  async listOf(orgId: string): Promise<readonly UserRecord[]> {
    const rows = await this.#users().where("orgId", "=", orgId).orderBy("sequence").execute();
    return rows.map(recordOf);
  }

  /** Throws `UniqueViolationError` (users, email) if the address is taken. */
  async insert(user: UserRecord, entry?: AuditRecord): Promise<void> {
    await this.#atomic.change([
      this.#db.insertInto("users").values(userRowOf(user)),
      ...auditOf(this.#db, entry),
    ]);
  }

  /** Like `insert`, but returns false and inserts nothing if the organization already has `max` users. */
  insertWithin(user: UserRecord, max: number, entry: AuditRecord): Promise<boolean> {
    const limited = { table: "users", row: userRowOf(user), orgId: user.orgId, max } as const;
    return this.#atomic.insertWithin(this.#db, limited, auditOf(this.#db, entry));
  }

  /** Returns false if the organization has no such user. */
  async setRole(
    orgId: string,
    id: string,
    role: UserRecord["role"],
    entry?: AuditRecord,
  ): Promise<boolean> {
    const [{ changes }] = await this.#atomic.change([
      this.#db.updateTable("users").set({ role }).where("orgId", "=", orgId).where("id", "=", id),
      ...auditOf(this.#db, entry),
    ]);
    return changes > 0;
  }

  /** Returns false if there is no such user, or the password is no longer `passwordHash`. */
  async replacePassword(
    { id, passwordHash }: Pick<UserRecord, "id" | "passwordHash">,
    newHash: string,
    entry?: AuditRecord,
  ): Promise<boolean> {
    const [{ changes }] = await this.#atomic.change([
      this.#db
        .updateTable("users")
        .set({ passwordHash: newHash })
        .where("id", "=", id)
        .where("passwordHash", "=", passwordHash),
      ...auditOf(this.#db, entry),
    ]);
    return changes > 0;
  }

  /** Returns false if the organization has no such user. */
  async delete(orgId: string, id: string, entry?: AuditRecord): Promise<boolean> {
    const [{ changes }] = await this.#atomic.change([
      this.#db.deleteFrom("users").where("orgId", "=", orgId).where("id", "=", id),
      ...auditOf(this.#db, entry),
    ]);
    return changes > 0;
  }

  /** Lists the users who manage every organization, by e-mail. */
  async listOperators(): Promise<readonly UserRecord[]> {
    const rows = await this.#users().where("isOperator", "=", 1).orderBy("email").execute();
    return rows.map(recordOf);
  }

  /** Returns false if there is no such user. */
  async setOperator(id: string, isOperator: boolean, entry?: AuditRecord): Promise<boolean> {
    const [{ changes }] = await this.#atomic.change([
      this.#db
        .updateTable("users")
        .set({ isOperator: Number(isOperator) })
        .where("id", "=", id),
      ...auditOf(this.#db, entry),
    ]);
    return changes > 0;
  }

  #users() {
    return this.#db.selectFrom("users").select(FIELDS);
  }
}

export function userRowOf(user: UserRecord): Insertable<Tables["users"]> {
  return { ...user, isOperator: Number(user.isOperator) };
}

function recordOf(row: UserFields): UserRecord {
  const { id, orgId, email, passwordHash, name, role, isOperator, createdAtMs } = row;
  return { id, orgId, email, passwordHash, name, role, isOperator: isOperator === 1, createdAtMs };
}
