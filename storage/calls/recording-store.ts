import { type Kysely, sql } from "kysely";
import type { JobsAdded } from "../jobs/job-store.js";
import type { JsonObject } from "../records.js";
import type { AtomicRequests } from "../statements/atomic-requests.js";
import { writeJson } from "../statements/json-column.js";
import type { Tables } from "../tables.js";
import type { EventOutbox } from "../webhooks/event-outbox.js";
import { callEventId, newEvent } from "../webhooks/event-record.js";

/** Identifies a call's recording. */
export interface RecordingKey {
  readonly callId: string;
  readonly orgId: string;
}

/** The state of recording files; a call's metadata also contains what can be played. */
export class RecordingStore {
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;
  readonly #outbox: EventOutbox;
  readonly #jobsAdded: JobsAdded;

  constructor(
    db: Kysely<Tables>,
    atomic: AtomicRequests,
    outbox: EventOutbox,
    jobsAdded: JobsAdded,
  ) {
    this.#db = db;
    this.#atomic = atomic;
    this.#outbox = outbox;
    this.#jobsAdded = jobsAdded;
  }

  /** Must be called before the file exists. */
  async start({ callId, orgId }: RecordingKey, expiresAtMs: number): Promise<void> {
    await this.#db
      .insertInto("recordings")
      .values({ callId, orgId, isFinished: 0, expiresAtMs })
      .execute();
  }

  /** The file can be played; `facts` become the call's `metadata.recording`. */
  async finish({ callId, orgId }: RecordingKey, facts: JsonObject, atMs: number): Promise<void> {
    const event = newEvent({
      id: callEventId(callId, "recording"),
      orgId,
      type: "recording.ready",
      callId,
      atMs,
      data: { recording: facts },
    });
    await this.#atomic.run([
      this.#db
        .updateTable("recordings")
        .set({ isFinished: 1 })
        .where("callId", "=", callId)
        .where("orgId", "=", orgId),
      this.#patch({ callId, orgId }, facts),
      ...this.#outbox.statements(event),
    ]);
    this.#jobsAdded.notify();
  }

  /** Must be called after the file was deleted. */
  async remove({ callId, orgId }: RecordingKey): Promise<void> {
    await this.#atomic.run([
      this.#db.deleteFrom("recordings").where("callId", "=", callId).where("orgId", "=", orgId),
      this.#patch({ callId, orgId }, null),
    ]);
  }

  async isFinished(key: RecordingKey): Promise<boolean> {
    return (await this.#find(key))?.isFinished === 1;
  }

  /** Whether the recording exists, from `start` until `remove`. */
  async isKnown(key: RecordingKey): Promise<boolean> {
    return (await this.#find(key)) !== undefined;
  }

  /** Lists unfinished recordings by call id, after `afterCallId`, of calls that are not in progress. */
  listUnfinished(afterCallId: string, limit: number): Promise<readonly RecordingKey[]> {
    const inProgress = this.#db
      .selectFrom("calls")
      .select("id")
      // A literal, not a parameter: otherwise SQLite does not use the index of calls in progress.
      .where("status", "=", sql.lit("active" as const));
    return this.#db
      .selectFrom("recordings")
      .select(["callId", "orgId"])
      .where("isFinished", "=", 0)
      .where("callId", ">", afterCallId)
      .where("callId", "not in", inProgress)
      .orderBy("callId")
      .limit(limit)
      .execute();
  }

  /** Returns the oldest first; includes files that were never completed. */
  listExpired(nowMs: number, limit: number): Promise<readonly RecordingKey[]> {
    return this.#db
      .selectFrom("recordings")
      .select(["callId", "orgId"])
      .where("expiresAtMs", "<=", nowMs)
      .orderBy("expiresAtMs")
      .limit(limit)
      .execute();
  }

  #find({ callId, orgId }: RecordingKey) {
    return this.#db
      .selectFrom("recordings")
      .select("isFinished")
      .where("callId", "=", callId)
      .where("orgId", "=", orgId)
      .executeTakeFirst();
  }

  #patch({ callId, orgId }: RecordingKey, recording: JsonObject | null) {
    const change = writeJson({ recording });
    return this.#db
      .updateTable("calls")
      .set({ metadata: sql<string>`json_patch(${sql.ref("metadata")}, ${change})` })
      .where("id", "=", callId)
      .where("orgId", "=", orgId);
  }
}
