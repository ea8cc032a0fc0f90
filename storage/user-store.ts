import type { CompiledQuery, Kysely } from "kysely";
import { OWNER_COLUMNS, type Owner, OwnerReader, type OwnerRow } from "./owner-columns.js";
import type { UserRecord } from "./records.js";
import type { Tables } from "./tables.js";

const FIELDS = [
  "users.id",
  "users.orgId",
  "users.email",
  "users.passwordHash",
  "users.name",
  "users.role",
  "users.createdAtMs",
] as const;

export interface OwnedUser extends Owner {
  readonly user: UserRecord;
}

/** Users are inserted with their organization: see `OrganizationStore.insertWithOwner`. */
export class UserStore {
  readonly #db: Kysely<Tables>;
  readonly #owners = new OwnerReader();
  /** Built once: every request with a token begins with it. */
  readonly #withOwner: CompiledQuery<UserRecord & OwnerRow>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
    this.#withOwner = db
      .selectFrom("users")
      .innerJoin("organizations", "organizations.id", "users.orgId")
      .innerJoin("plans", "plans.id", "organizations.planId")
      .select(FIELDS)
      .select(OWNER_COLUMNS)
      .where("users.id", "=", "")
      .compile();
  }

  /** In one request all that is to be known of who signed in. */
  async findWithOwner(id: string): Promise<OwnedUser | undefined> {
    const query = { ...this.#withOwner, parameters: [id] };
    const [row] = (await this.#db.executeQuery<UserRecord & OwnerRow>(query)).rows;
    if (row === undefined) return undefined;
    const { orgId, email, passwordHash, name, role, createdAtMs } = row;
    const user = { id: row.id, orgId, email, passwordHash, name, role, createdAtMs };
    return { user, ...this.#owners.ownerOf(row) };
  }

  /** Compares exactly: addresses are stored in lower case by who inserts them. */
  findByEmail(email: string): Promise<UserRecord | undefined> {
    return this.#db
      .selectFrom("users")
      .select(FIELDS)
      .where("email", "=", email)
      .executeTakeFirst();
  }

  findById(id: string): Promise<UserRecord | undefined> {
    return this.#db.selectFrom("users").select(FIELDS).where("id", "=", id).executeTakeFirst();
  }
}
