import { type Compilable, type Kysely, type RawBuilder, sql } from "kysely";
import { afterChange } from "../statements/atomic-requests.js";
import { CompiledStatement } from "../statements/compiled-statement.js";
import { writeJson } from "../statements/json-column.js";
import type { Tables } from "../tables.js";
import type { EventType, NewEvent } from "./event-record.js";

/** The queue of an endpoint's deliveries. */
export function webhookQueue(endpointId: string): string {
  return `webhook:${endpointId}`;
}

function ref(name: string) {
  return sql.ref(name);
}

interface OutboxValues {
  readonly id: string;
  readonly orgId: string;
  readonly type: string;
  readonly callId: string | null;
  readonly atMs: number;
  readonly data: string;
  readonly typePattern: string;
  readonly jobIdStart: string;
  readonly payloadEnd: string;
}

function valuesOf({ id, orgId, type, callId, atMs, data }: NewEvent): OutboxValues {
  const written = { typePattern: typePattern(type), ...jobParts(id) };
  return { id, orgId, type, callId, atMs, data: writeJson(data), ...written };
}

type OutboxStatement = CompiledStatement<OutboxValues>;

/** Stores events. Its statements are compiled once, because they run in every turn of every call. */
export class EventOutbox {
  readonly #ofCall: readonly [OutboxStatement, OutboxStatement];
  readonly #ofNoCall: readonly [OutboxStatement, OutboxStatement];

  constructor(db: Kysely<Tables>) {
    this.#ofCall = compiledOutbox(db, true);
    this.#ofNoCall = compiledOutbox(db, false);
  }

  /**
   * Returns the statements that store an event and a delivery job for each endpoint that is subscribed to it, for the
   * end of the batch that the event reports. They store nothing if no endpoint is subscribed. The changes of the second
   * one are the number of added jobs.
   */
  statements(event: NewEvent): readonly Compilable[] {
    const [insert, jobs] = event.callId === null ? this.#ofNoCall : this.#ofCall;
    const values = valuesOf(event);
    return [insert.with(values), afterChange(jobs.with(values))];
  }
}

function compiledOutbox(
  db: Kysely<Tables>,
  hasCall: boolean,
): readonly [OutboxStatement, OutboxStatement] {
  return [
    new CompiledStatement((value) => eventInsert(db, value, hasCall)),
    new CompiledStatement((value) => {
      const callId = hasCall ? value("callId") : null;
      const [jobIdStart, payloadEnd] = [value("jobIdStart"), value("payloadEnd")];
      const parts = { jobIdStart, payloadEnd, callId, nowMs: value("atMs") };
      const insert = jobsInsert(parts, subscribersOf(value));
      return { compile: () => insert.compile(db) };
    }),
  ];
}

type ValueOf = <Name extends keyof OutboxValues>(name: Name) => RawBuilder<OutboxValues[Name]>;

function subscribersOf(value: ValueOf): RawBuilder<unknown> {
  return sql`${ref("orgId")} = ${value("orgId")} and ${ref("state")} = 'active'
    and ${ref("eventTypes")} like ${value("typePattern")}`;
}

function eventInsert(db: Kysely<Tables>, value: ValueOf, hasCall: boolean): Compilable {
  const callId = hasCall ? value("callId") : null;
  const place =
    callId === null
      ? sql`null`
      : sql`(select coalesce(max(${ref("callSequence")}), 0) + 1 from ${sql.table("webhookEvents")}
          where ${ref("callId")} = ${callId})`;
  const wanted = sql`exists (select 1 from ${sql.table("webhookEndpoints")} where ${subscribersOf(value)})`;
  const insert = sql`insert into ${sql.table("webhookEvents")}
    (id, ${ref("orgId")}, type, ${ref("callId")}, ${ref("callSequence")}, ${ref("atMs")}, data)
    select ${value("id")}, ${value("orgId")}, ${value("type")}, ${callId}, ${place}, ${value("atMs")}, ${value("data")}
    where ${wanted}
    on conflict (id) do nothing`;
  return { compile: () => insert.compile(db) };
}

function typePattern(type: EventType): string {
  return `%"${type}"%`;
}

function jobParts(eventId: string, tag = "") {
  return { jobIdStart: `${eventId}${tag}_`, payloadEnd: `","eventId":"${eventId}"}` };
}

/**
 * Returns the statement that adds a delivery job of a stored event for each endpoint that matches the condition. `tag`
 * distinguishes it from an earlier job.
 */
export function deliveryJobs(
  db: Kysely<Tables>,
  { id, callId }: Pick<NewEvent, "id" | "callId">,
  condition: RawBuilder<unknown>,
  nowMs: number,
  tag = "",
): Compilable {
  const insert = jobsInsert({ ...jobParts(id, tag), callId, nowMs }, condition);
  return { compile: () => insert.compile(db) };
}

interface JobParts {
  readonly jobIdStart: unknown;
  readonly payloadEnd: unknown;
  readonly callId: unknown;
  readonly nowMs: unknown;
}

function jobsInsert(
  { jobIdStart, payloadEnd, callId, nowMs }: JobParts,
  condition: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const endpoint = sql`${sql.table("webhookEndpoints")}.id`;
  const lane =
    callId === null
      ? sql`cast(null as text)`
      : sql`'webhook:' || ${endpoint} || ${sql.lit(":")} || cast(${callId} as text)`;
  // If an earlier event of its call is waiting, this one waits as long.
  const runAfter =
    callId === null
      ? sql`${nowMs}`
      : sql`coalesce((select max(earlier.${ref("runAfterMs")}) from jobs earlier
          where earlier.lane = ${lane} and earlier.state = 'queued' and earlier.${ref("runAfterMs")} > ${nowMs}), ${nowMs})`;
  const columns = sql.join(
    ["id", "orgId", "kind", "queue", "lane", "payload", "state"]
      .map(ref)
      .concat(["runAfterMs", "attempts", "fence", "createdAtMs"].map(ref)),
  );
  return sql`insert into jobs (${columns})
    select cast(${jobIdStart} as text) || ${endpoint}, ${ref("orgId")}, 'webhook', 'webhook:' || ${endpoint}, ${lane},
      '{"endpointId":"' || ${endpoint} || cast(${payloadEnd} as text), 'queued', ${runAfter}, 0, 0, ${nowMs}
    from ${sql.table("webhookEndpoints")} where ${condition}
    on conflict (id) do nothing`;
}
