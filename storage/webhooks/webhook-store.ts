import { type Kysely, type Selectable, sql } from "kysely";
import * as v from "valibot";
import type { ClaimedJob } from "../jobs/job-record.js";
import type { Finished, JobStore } from "../jobs/job-store.js";
import type { AtomicRequests } from "../statements/atomic-requests.js";
import { jsonObject, readJson, writeJson } from "../statements/json-column.js";
import type { RecordChanges } from "../statements/record-changes.js";
import type { Tables } from "../tables.js";
import type { AuditRecord } from "../tenancy/audit-record.js";
import { auditOf } from "../tenancy/audit-store.js";
import { deliveryJobs, type EventOutbox } from "./event-outbox.js";
import { EVENT_TYPES, type EventRecord, type EventType, type NewEvent } from "./event-record.js";

/** Rows removed per statement, so that a large purge does not delay other requests. */
const PURGED_PER_STEP = 500;

const eventTypes = v.array(v.picklist(EVENT_TYPES));

export interface WebhookEndpointRecord {
  readonly id: string;
  readonly orgId: string;
  readonly name: string;
  readonly url: string;
  readonly eventTypes: readonly EventType[];
  /** Whether `call.ended` and `call.failed` contain the transcript if it fits. */
  readonly includeTranscript: boolean;
  readonly sealedSecrets: string;
  readonly state: "active" | "disabled";
  readonly disabledReason: string | null;
  readonly failingSinceMs: number | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface DeliveryRecord {
  readonly id: string;
  readonly orgId: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly type: EventType;
  readonly attempt: number;
  readonly atMs: number;
  readonly durationMs: number;
  readonly requestBytes: number;
  /** null if there was no response. */
  readonly status: number | null;
  readonly error: string | null;
  readonly answer: string;
}

export interface EventRange {
  readonly fromMs: number;
  readonly toMs: number;
  readonly types: readonly EventType[];
  readonly limit: number;
}

interface WebhookStoreParts {
  readonly outbox: EventOutbox;
  readonly jobs: JobStore;
  readonly changes: RecordChanges;
}

/** Endpoints of organizations, the events that were sent to them, and the result of each delivery attempt. */
export class WebhookStore {
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;
  readonly #outbox: EventOutbox;
  readonly #jobs: JobStore;
  readonly #changes: RecordChanges;

  constructor(
    db: Kysely<Tables>,
    atomic: AtomicRequests,
    { outbox, jobs, changes }: WebhookStoreParts,
  ) {
    this.#db = db;
    this.#atomic = atomic;
    this.#outbox = outbox;
    this.#jobs = jobs;
    this.#changes = changes;
  }

  /** Returns false, and inserts nothing, if the organization already has `max` endpoints. */
  insertWithin(endpoint: WebhookEndpointRecord, max: number, entry: AuditRecord): Promise<boolean> {
    const { orgId } = endpoint;
    const limited = { table: "webhookEndpoints", row: rowOf(endpoint), orgId, max } as const;
    return this.#atomic.insertWithin(this.#db, limited, auditOf(this.#db, entry));
  }

  /** Returns false if the organization has no such endpoint. */
  async update(
    { id, orgId, ...endpoint }: WebhookEndpointRecord,
    entry: AuditRecord,
  ): Promise<boolean> {
    const { createdAtMs: _createdAtMs, ...columns } = rowOf({ id, orgId, ...endpoint });
    const [{ changes }] = await this.#atomic.change([
      this.#db
        .updateTable("webhookEndpoints")
        .set(columns)
        .where("id", "=", id)
        .where("orgId", "=", orgId),
      ...auditOf(this.#db, entry),
    ]);
    return changes > 0;
  }

  /** Removes the endpoint. A delivery that is still queued for it is dropped when its turn comes. */
  async remove(orgId: string, id: string, entry: AuditRecord): Promise<boolean> {
    const [{ changes }] = await this.#atomic.change([
      this.#db.deleteFrom("webhookEndpoints").where("id", "=", id).where("orgId", "=", orgId),
      ...auditOf(this.#db, entry),
    ]);
    return changes > 0;
  }

  /** Returns the oldest first. */
  async list(orgId: string): Promise<WebhookEndpointRecord[]> {
    const rows = await this.#db
      .selectFrom("webhookEndpoints")
      .selectAll()
      .where("orgId", "=", orgId)
      .orderBy("sequence")
      .execute();
    return rows.map(endpointOf);
  }

  /** Returns the types of events to which an active endpoint of the organization is subscribed. */
  async subscribedTypes(orgId: string): Promise<ReadonlySet<EventType>> {
    const rows = await this.#db
      .selectFrom("webhookEndpoints")
      .select("eventTypes")
      .where("orgId", "=", orgId)
      .where("state", "=", "active")
      .execute();
    return new Set(
      rows.flatMap(({ eventTypes: types }) =>
        readJson("webhookEndpoints.eventTypes", eventTypes, types),
      ),
    );
  }

  async find(orgId: string, id: string): Promise<WebhookEndpointRecord | undefined> {
    const row = await this.#db
      .selectFrom("webhookEndpoints")
      .selectAll()
      .where("id", "=", id)
      .where("orgId", "=", orgId)
      .executeTakeFirst();
    return row && endpointOf(row);
  }

  async noteSuccess(id: string): Promise<void> {
    const success = this.#db
      .updateTable("webhookEndpoints")
      .set({ failingSinceMs: null })
      .where("id", "=", id)
      .where("failingSinceMs", "is not", null);
    await this.#atomic.change([success]);
  }

  /** Stores the time since which the endpoint has been failing. */
  async noteFailure(id: string, atMs: number): Promise<void> {
    const failure = this.#db
      .updateTable("webhookEndpoints")
      .set({ failingSinceMs: atMs })
      .where("id", "=", id)
      .where("failingSinceMs", "is", null);
    await this.#atomic.change([failure]);
  }

  /**
   * Stops deliveries to the endpoint, and notifies the organization's other endpoints. Returns false if it is already
   * disabled.
   */
  async disable(
    { id, orgId }: Pick<WebhookEndpointRecord, "id" | "orgId">,
    reason: string,
    event: NewEvent,
    entry: AuditRecord,
  ): Promise<boolean> {
    const disabling = this.#db
      .updateTable("webhookEndpoints")
      .set({ state: "disabled", disabledReason: reason, updatedAtMs: event.atMs })
      .where("id", "=", id)
      .where("orgId", "=", orgId)
      .where("state", "=", "active");
    const isDisabled = await this.#changes.after(
      this.#atomic.runIf(disabling, [
        ...auditOf(this.#db, entry),
        ...this.#outbox.statements(event),
      ]),
    );
    if (isDisabled) this.#jobs.added.notify();
    return isDisabled;
  }

  /** Stores an event in a commit of its own, with a job for each endpoint that is subscribed to it. */
  async addEvent(event: NewEvent): Promise<void> {
    await this.#atomic.run(this.#outbox.statements(event));
    this.#jobs.added.notify();
  }

  /** Like `addEvent`, but for one endpoint, whatever it is subscribed to. */
  async addEventFor(endpointId: string, event: NewEvent): Promise<void> {
    const row = { ...event, callSequence: null, data: writeJson(event.data) };
    await this.#atomic.run([
      this.#db.insertInto("webhookEvents").values(row),
      deliveryJobs(this.#db, event, sql`id = ${endpointId}`, event.atMs),
    ]);
    this.#jobs.added.notify();
  }

  async findEvent(orgId: string, id: string): Promise<EventRecord | undefined> {
    const row = await this.#db
      .selectFrom("webhookEvents")
      .selectAll()
      .where("id", "=", id)
      .where("orgId", "=", orgId)
      .executeTakeFirst();
    return row && eventOf(row);
  }

  /** Like `findEvent`, but by ids. Events that are no longer stored are missing from the result. */
  async findEvents(
    orgId: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, EventRecord>> {
    const rows = await this.#db
      .selectFrom("webhookEvents")
      .selectAll()
      .where("id", "in", ids)
      .where("orgId", "=", orgId)
      .execute();
    return new Map(rows.map((row) => [row.id, eventOf(row)]));
  }

  /** Returns the oldest first. */
  async eventsBetween(
    orgId: string,
    { fromMs, toMs, types, limit }: EventRange,
  ): Promise<EventRecord[]> {
    const rows = await this.#db
      .selectFrom("webhookEvents")
      .selectAll()
      .where("orgId", "=", orgId)
      .where("atMs", ">=", fromMs)
      .where("atMs", "<=", toMs)
      .where("type", "in", types)
      .orderBy("atMs")
      .orderBy("sequence")
      .limit(limit)
      .execute();
    return rows.map(eventOf);
  }

  /**
   * Sends stored events to one endpoint again, with their original ids. `tag` distinguishes these deliveries from
   * earlier ones.
   */
  async resend(
    endpointId: string,
    events: readonly Pick<EventRecord, "id" | "callId">[],
    tag: string,
    nowMs: number,
  ): Promise<void> {
    await this.#atomic.run(
      events.map((event) =>
        deliveryJobs(this.#db, event, sql`id = ${endpointId}`, nowMs, `_${tag}`),
      ),
    );
    this.#jobs.added.notify();
  }

  async addDelivery(delivery: DeliveryRecord): Promise<void> {
    await this.#db.insertInto("webhookDeliveries").values(delivery).execute();
  }

  /** Removes the jobs of completed deliveries, and stores the responses, in one commit. */
  finish(
    jobs: readonly ClaimedJob[],
    deliveries: readonly DeliveryRecord[],
    nowMs: number,
  ): Promise<Finished> {
    const log = this.#db.insertInto("webhookDeliveries").values(deliveries);
    return this.#jobs.finish(jobs, nowMs, deliveries.length === 0 ? [] : [log]);
  }

  /** Returns the newest first. */
  listDeliveries(
    orgId: string,
    endpointId: string,
    { skip, limit }: { skip: number; limit: number },
  ): Promise<DeliveryRecord[]> {
    return this.#deliveries()
      .where("endpointId", "=", endpointId)
      .where("orgId", "=", orgId)
      .orderBy("sequence", "desc")
      .limit(limit)
      .offset(skip)
      .execute();
  }

  findDelivery(orgId: string, id: string): Promise<DeliveryRecord | undefined> {
    return this.#deliveries().where("id", "=", id).where("orgId", "=", orgId).executeTakeFirst();
  }

  /** Removes events and deliveries from before this time. Returns their number. */
  async purge(beforeMs: number): Promise<number> {
    let purged = 0;
    for (const table of ["webhookEvents", "webhookDeliveries"] as const) {
      for (;;) {
        const old = this.#db
          .selectFrom(table)
          .select("sequence")
          .where("atMs", "<", beforeMs)
          .limit(PURGED_PER_STEP);
        const { numDeletedRows } = await this.#db
          .deleteFrom(table)
          .where("sequence", "in", old)
          .executeTakeFirstOrThrow();
        purged += Number(numDeletedRows);
        if (numDeletedRows < PURGED_PER_STEP) break;
      }
    }
    return purged;
  }

  #deliveries() {
    return this.#db
      .selectFrom("webhookDeliveries")
      .select([
        "id",
        "orgId",
        "endpointId",
        "eventId",
        "type",
        "attempt",
        "atMs",
        "durationMs",
        "requestBytes",
        "status",
        "error",
        "answer",
      ]);
  }
}

function rowOf({ eventTypes: types, includeTranscript, ...endpoint }: WebhookEndpointRecord) {
  return {
    ...endpoint,
    eventTypes: writeJson(types),
    includeTranscript: includeTranscript ? 1 : 0,
  };
}

function endpointOf({
  sequence: _sequence,
  eventTypes: types,
  includeTranscript,
  ...row
}: Selectable<Tables["webhookEndpoints"]>): WebhookEndpointRecord {
  return {
    ...row,
    eventTypes: readJson("webhookEndpoints.eventTypes", eventTypes, types),
    includeTranscript: includeTranscript === 1,
  };
}

function eventOf({
  sequence: _sequence,
  data,
  ...row
}: Selectable<Tables["webhookEvents"]>): EventRecord {
  return { ...row, data: readJson("webhookEvents.data", jsonObject, data) };
}
