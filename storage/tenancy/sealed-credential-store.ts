import { type Kysely, type RawBuilder, sql } from "kysely";
import type { AtomicRequests } from "../statements/atomic-requests.js";
import type { Tables } from "../tables.js";
import type { AuditRecord } from "./audit-record.js";
import { auditOf } from "./audit-store.js";

/** Which records have sealed text: providers their credentials, agents the headers of their tools and the secrets of their requests before calls, webhooks their secrets, telephony accounts their credentials. */
export const CREDENTIAL_OWNERS = [
  "provider",
  "agent",
  "preCall",
  "webhook",
  "telephonyAccount",
] as const;
export type CredentialOwner = (typeof CREDENTIAL_OWNERS)[number];

export interface SealedCredential {
  readonly owner: CredentialOwner;
  readonly id: string;
  /** null = of a global provider. */
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
  webhook: { table: "webhookEndpoints", column: "sealedSecrets" },
  telephonyAccount: { table: "telephonyAccounts", column: "sealedCredentials" },
} as const;

type Reference = Pick<SealedCredential, "owner" | "id">;

/** Everything that is sealed, for a change of the key that seals it. */
export class SealedCredentialStore {
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;

  constructor(db: Kysely<Tables>, atomic: AtomicRequests) {
    this.#db = db;
    this.#atomic = atomic;
  }

  /** The owners after this place in the order of creation (0: from the first) that have sealed text. */
  async page(
    owner: CredentialOwner,
    afterSequence: number,
    limit: number,
  ): Promise<SealedCredential[]> {
    const rest = sql`sequence > ${afterSequence} order by sequence limit ${limit}`;
    const { rows } = await this.#credentials(owner, rest).execute(this.#db);
    return rows.map((row) => ({ owner, ...row }));
  }

  /** Undefined when there is no such owner (any more), or it has no sealed text. */
  async find({ owner, id }: Reference): Promise<SealedCredential | undefined> {
    const { rows } = await this.#credentials(owner, sql`id = ${id}`).execute(this.#db);
    return rows[0] && { owner, ...rows[0] };
  }

  /** False, and nothing changed, when the sealed text is not this one any more. */
  async replace(
    credential: Reference & Pick<SealedCredential, "sealed">,
    replacement: string,
    entry: AuditRecord,
  ): Promise<boolean> {
    // The owner itself stays as it is, and so does the time of its last update.
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

  /** What the key of this database has sealed; undefined before the first start of a server that stores it. */
  async keyCheck(): Promise<string | undefined> {
    const row = await this.#db.selectFrom("encryptionKeyCheck").select("sealed").executeTakeFirst();
    return row?.sealed;
  }

  /** False, and nothing changed, when `before` is not what is stored. */
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
