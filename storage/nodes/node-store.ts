import { type Kysely, type RawBuilder, type Selectable, sql } from "kysely";
import type { AtomicRequests } from "../statements/atomic-requests.js";
import type { Tables } from "../tables.js";
import type { AuditRecord } from "../tenancy/audit-record.js";
import { auditOf } from "../tenancy/audit-store.js";

/** What a server says of itself when it starts. */
export interface NodeStart {
  readonly startId: string;
  readonly name: string;
  readonly address: string | null;
  readonly version: string;
  readonly capacity: number;
}

/** What it says again and again. */
export interface NodeState {
  readonly calls: number;
  readonly load: number;
  readonly isTaking: boolean;
}

export type NodeRecord = Readonly<Selectable<Tables["nodes"]>> & {
  /** Since its last heartbeat, by the database's clock. */
  readonly silentMs: number;
};

/** The servers of one PostgreSQL database. */
export class NodeStore {
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;

  constructor(db: Kysely<Tables>, atomic: AtomicRequests) {
    this.#db = db;
    this.#atomic = atomic;
  }

  /** Throws `UniqueViolationError` (nodes, name) when there is one of this name. */
  async register(node: NodeStart): Promise<void> {
    await this.#db
      .insertInto("nodes")
      .values({
        ...node,
        calls: 0,
        load: 0,
        isTaking: 0,
        isDraining: 0,
        isLost: 0,
        startedAtMs: databaseNowMs,
        heartbeatAtMs: databaseNowMs,
      })
      .execute();
  }

  /** Says that the node lives, and gives all nodes; undefined when others have taken it for dead meanwhile. */
  async beat(startId: string, state: NodeState): Promise<readonly NodeRecord[] | undefined> {
    const { calls, load, isTaking } = state;
    const [beat, all] = await this.#atomic.run([
      this.#db
        .updateTable("nodes")
        .set({ calls, load, isTaking: Number(isTaking), heartbeatAtMs: databaseNowMs })
        .where("startId", "=", startId)
        .where("isLost", "=", 0),
      this.#all(),
    ]);
    return beat.changes === 0 ? undefined : all.rows;
  }

  /** By name. */
  list(): Promise<readonly NodeRecord[]> {
    return this.#all().execute();
  }

  /** Nobody but who has seen this last heartbeat may take the node for dead: false when it has lived on. */
  async lose({ startId, heartbeatAtMs }: NodeRecord): Promise<boolean> {
    const { numUpdatedRows } = await this.#db
      .updateTable("nodes")
      .set({ isLost: 1, isTaking: 0 })
      .where("startId", "=", startId)
      .where("heartbeatAtMs", "=", heartbeatAtMs)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** The node, its slots and the names of its runs. */
  async remove(startId: string): Promise<void> {
    await this.#db.deleteFrom("nodes").where("startId", "=", startId).execute();
  }

  /** False when there is no such node. */
  async drain(name: string, entry?: AuditRecord): Promise<boolean> {
    const [{ changes }] = await this.#atomic.run([
      this.#db.updateTable("nodes").set({ isDraining: 1, isTaking: 0 }).where("name", "=", name),
      ...auditOf(this.#db, entry),
    ]);
    return changes > 0;
  }

  /** Calls that are opened under this run are the node's. Throws `ForeignKeyViolationError` when the node is gone. */
  async addRun(startId: string, runId: string): Promise<void> {
    await this.#db.insertInto("nodeRuns").values({ runId, startId }).execute();
  }

  async runsOf(startId: string): Promise<readonly string[]> {
    const rows = await this.#db
      .selectFrom("nodeRuns")
      .select("runId")
      .where("startId", "=", startId)
      .execute();
    return rows.map(({ runId }) => runId);
  }

  /** Runs that have calls in progress and are no node's: what a node that is gone has opened as it went. */
  async orphanRuns(): Promise<readonly string[]> {
    const rows = await this.#db
      .selectFrom("calls")
      .select("runId")
      .distinct()
      .where("status", "=", sql.lit("active" as const))
      .where("runId", "not in", this.#db.selectFrom("nodeRuns").select("runId"))
      .execute();
    return rows.map(({ runId }) => runId);
  }

  #all() {
    return this.#db
      .selectFrom("nodes")
      .selectAll()
      .select(sql<number>`${databaseNowMs} - ${sql.ref("heartbeatAtMs")}`.as("silentMs"))
      .orderBy("name");
  }
}

/** The time as PostgreSQL shows it: servers whose own clocks differ agree on it. */
export const databaseNowMs: RawBuilder<number> = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
