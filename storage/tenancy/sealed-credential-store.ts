import { type Kysely, type RawBuilder, sql } from "kysely";
import type { AtomicRequests } from "../statements/atomic-requests.js";
import type { Tables } from "../tables.js";
import type { AuditRecord } from "./audit-record.js";
import { auditOf } from "./audit-store.js";

/**
 * Records with encrypted text: providers with their credentials, agents with the headers of their tools and the
 * secrets of their requests before calls and of their MCP servers, webhooks with their secrets, telephony accounts.
 */
export const CREDENTIAL_OWNERS = [
  "provider",
  "agent",
  "preCall",
  "mcp",
  "webhook",
  "telephonyAccount",
] as const;
export type CredentialOwner = (typeof CREDENTIAL_OWNERS)[number];

export interface SealedCredential {
  readonly owner: CredentialOwner;
  readonly id: string;
  /** null = a global provider's. */
  readonly orgId: string | null;
  readonly name: string;
  readonly sealed: string;
  /** Where the next page begins. */
  readonly sequence: number;
}

const PLACES = {
  provider: { table: "providers", column: "sealedCredentials" },
  agent: { table: "agents", column: "sealedToolHeaders" },
  preCall: { table: "agents", column: "sealedPreCall" },
  mcp: { table: "agents", column: "sealedMcpSecrets" },
  webhook: { table: "webhookEndpoints", column: "sealedSecrets" },
  telephonyAccount: { table: "telephonyAccounts", column: "sealedCredentials" },
} as const;

type Reference = Pick<SealedCredential, "owner" | "id">;

/** All encrypted text, for a change of the encryption key. */
export class SealedCredentialStore {
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;

  constructor(db: Kysely<Tables>, atomic: AtomicRequests) {
    this.#db = db;
    this.#atomic = atomic;
  }

  /** The owners with encrypted text after this position in the order of creation (0: from the first). */
  async page(
    owner: CredentialOwner,
    afterSequence: number,
    limit: number,
  ): Promise<SealedCredential[]> {
    const rest = sql`sequence > ${afterSequence} order by sequence limit ${limit}`;
    const { rows } = await this.#credentials(owner, rest).execute(this.#db);
    return rows.map((row) => ({ owner, ...row }));
  }

  /** Returns undefined if there is no such owner (any more), or it has no encrypted text. */
  async find({ owner, id }: Reference): Promise<SealedCredential | undefined> {
    const { rows } = await this.#credentials(owner, sql`id = ${id}`).execute(this.#db);
    return rows[0] && { owner, ...rows[0] };
  }

  /** Returns false, and nothing changed, if the encrypted text is no longer this one. */
  async replace(
    credential: Reference & Pick<SealedCredential, "sealed">,
    replacement: string,
    entry: AuditRecord,
  ): Promise<boolean> {
    // The owner itself stays unchanged, and so does the time of its last update.
    const { table, column } = PLACES[credential.owner];
    const text = sql.ref(column);
    const update = sql`update ${sql.table(table)} set ${text} = ${replacement}
      where id = ${credential.id} and ${text} = ${credential.sealed}`;
    const [{ changes }] = await this.#atomic.change([
      { compile: () => update.compile(this.#db) },
      ...auditOf(this.#db, entry),
    ]);
    return changes > 0;
  }

  /** The text encrypted with the key of this database; undefined before the first start of a server that stores it. */
  async keyCheck(): Promise<string | undefined> {
    const row = await this.#db.selectFrom("encryptionKeyCheck").select("sealed").executeTakeFirst();
    return row?.sealed;
  }

  /** Returns false, and nothing changed, if `before` is not the stored text. */
  async replaceKeyCheck(before: string | undefined, sealed: string): Promise<boolean> {
    const query =
      before === undefined
        ? this.#db
            .insertInto("encryptionKeyCheck")
            .values({ id: 1, sealed })
            .onConflict((conflict) => conflict.column("id").doNothing())
        : this.#db.updateTable("encryptionKeyCheck").set({ sealed }).where("sealed", "=", before);
    const [{ changes }] = await this.#atomic.run([query]);
    return changes > 0;
  }

  #credentials(owner: CredentialOwner, condition: RawBuilder<unknown>) {
    const { table, column } = PLACES[owner];
    const text = sql.ref(column);
    return sql<
      Omit<SealedCredential, "owner">
    >`select id, ${sql.ref("orgId")}, name, sequence, ${text} as sealed
      from ${sql.table(table)} where ${text} is not null and ${condition}`;
  }
}
