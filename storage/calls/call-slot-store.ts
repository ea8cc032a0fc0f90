import { type Kysely, sql } from "kysely";
import type { AtomicRequests } from "../statements/atomic-requests.js";
import type { Tables } from "../tables.js";

/** A call's slot among its organization's concurrent calls. */
export interface SlotRequest {
  readonly orgId: string;
  readonly callId: string;
  readonly callsMax: number;
  /** The node that gets the call. */
  readonly startId: string;
  /** The call that this one continues, whose slot it takes. */
  readonly replaces?: string | undefined;
}

/** The calls of all servers of one PostgreSQL database, and the node of each call. */
export class CallSlotStore {
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;

  constructor(db: Kysely<Tables>, atomic: AtomicRequests) {
    this.#db = db;
    this.#atomic = atomic;
  }

  /**
   * Returns false if the organization has `callsMax` calls: requests of one organization are served one after the
   * other. Throws `ForeignKeyViolationError` if the node no longer exists.
   */
  async take({ orgId, callId, callsMax, startId, replaces }: SlotRequest): Promise<boolean> {
    const turn = this.#db
      .selectFrom("organizations")
      .select("id")
      .where("id", "=", orgId)
      .forNoKeyUpdate();
    const given = this.#db
      .deleteFrom("callSlots")
      .where("callId", "=", replaces ?? "")
      .where("orgId", "=", orgId);
    const count = sql`(select count(*) from "callSlots" where "orgId" = ${orgId})`;
    const insert = sql`insert into "callSlots" ("callId", "orgId", "startId")
      select ${callId}, ${orgId}, ${startId} where ${count} < ${callsMax}
      on conflict do nothing`;
    const results = await this.#atomic.run([
      turn,
      ...(replaces === undefined ? [] : [given]),
      { compile: () => insert.compile(this.#db) },
    ]);
    return results.at(-1)?.changes === 1;
  }

  /** Does nothing if another node has the call. */
  async free(startId: string, callIds: readonly string[]): Promise<void> {
    if (callIds.length === 0) return;
    await this.#db
      .deleteFrom("callSlots")
      .where("startId", "=", startId)
      .where("callId", "in", callIds)
      .execute();
  }

  async count(orgId: string): Promise<number> {
    const { count } = await this.#db
      .selectFrom("callSlots")
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .where("orgId", "=", orgId)
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Returns the node that has the call. */
  async holderOf(callId: string): Promise<string | undefined> {
    const row = await this.#db
      .selectFrom("callSlots")
      .select("startId")
      .where("callId", "=", callId)
      .executeTakeFirst();
    return row?.startId;
  }

  /** Moves the call to another node. Returns false if the first node did not have it. */
  async move(callId: string, from: string, to: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#db
      .updateTable("callSlots")
      .set({ startId: to })
      .where("callId", "=", callId)
      .where("startId", "=", from)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  async callsOf(startId: string): Promise<readonly string[]> {
    const rows = await this.#db
      .selectFrom("callSlots")
      .select("callId")
      .where("startId", "=", startId)
      .execute();
    return rows.map(({ callId }) => callId);
  }
}
