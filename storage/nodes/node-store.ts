import { type Kysely, type RawBuilder, type Selectable, sql } from "kysely";
import type { AtomicRequests } from "../statements/atomic-requests.js";
import type { Tables } from "../tables.js";
import type { AuditRecord } from "../tenancy/audit-record.js";
import { auditOf } from "../tenancy/audit-store.js";

/** A server's data when it starts. */
export interface NodeStart {
  readonly startId: string;
  readonly name: string;
  readonly address: string | null;
  readonly version: string;
  readonly capacity: number;
}

/** A server's state in each heartbeat. */
export interface NodeState {
  readonly calls: number;
  readonly load: number;
  readonly isTaking: boolean;
}

export type NodeRecord = Readonly<Selectable<Tables["nodes"]>> & {
  /** The time since its last heartbeat, by the database's clock. */
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

  /** Throws `UniqueViolationError` (nodes, name) if the name is in use. */
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

  /** Stores a heartbeat and returns all nodes; undefined if others have declared this node dead meanwhile. */
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

  /** Declares the node dead if its last heartbeat is still this one: false if it is alive after all. */
  async lose({ startId, heartbeatAtMs }: NodeRecord): Promise<boolean> {
    const { numUpdatedRows } = await this.#db
      .updateTable("nodes")
      .set({ isLost: 1, isTaking: 0 })
      .where("startId", "=", startId)
      .where("heartbeatAtMs", "=", heartbeatAtMs)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** Removes the node, its slots and its runs. */
  async remove(startId: string): Promise<void> {
    await this.#db.deleteFrom("nodes").where("startId", "=", startId).execute();
  }

  /** Returns false if there is no such node. */
  async drain(name: string, entry?: AuditRecord): Promise<boolean> {
    const [{ changes }] = await this.#atomic.run([
      this.#db.updateTable("nodes").set({ isDraining: 1, isTaking: 0 }).where("name", "=", name),
      ...auditOf(this.#db, entry),
    ]);
    return changes > 0;
  }

  /**
   * Assigns calls that are opened under this run to the node. Throws `ForeignKeyViolationError` if the node no longer
   * exists.
   */
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

  /** Returns the runs that have calls in progress but no node: a node opened these calls while it was going away. */
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

/** The time by PostgreSQL's clock: servers whose own clocks differ agree on it. */
export const databaseNowMs: RawBuilder<number> = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
