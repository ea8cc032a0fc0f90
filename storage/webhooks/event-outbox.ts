import { type Compilable, type Kysely, type RawBuilder, sql } from "kysely";
import { afterChange } from "../statements/atomic-requests.js";
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

/** Which endpoints of the organization get events of the type. */
function subscribers(orgId: string, type: EventType): RawBuilder<unknown> {
  return sql`${ref("orgId")} = ${orgId} and ${ref("state")} = 'active' and ${ref("eventTypes")} like ${`%"${type}"%`}`;
}

function compilable(db: Kysely<Tables>, query: RawBuilder<unknown>): Compilable {
  return { compile: () => query.compile(db) };
}

/**
 * The statements that store an event and a delivery job for each endpoint that wants it, for the end of the batch that the
 * event tells of. Where no endpoint wants it nothing is stored. The second one's changes are the jobs that were added.
 */
export function outboxOf(db: Kysely<Tables>, event: NewEvent): Compilable[] {
  const { id, orgId, type, callId, atMs, data } = event;
  const place =
    callId === null
      ? sql`null`
      : sql`(select coalesce(max(${ref("callSequence")}), 0) + 1 from ${sql.table("webhookEvents")}
          where ${ref("callId")} = ${callId})`;
  const wanted = sql`exists (select 1 from ${sql.table("webhookEndpoints")} where ${subscribers(orgId, type)})`;
  const insert = sql`insert into ${sql.table("webhookEvents")}
    (id, ${ref("orgId")}, type, ${ref("callId")}, ${ref("callSequence")}, ${ref("atMs")}, data)
    select ${id}, ${orgId}, ${type}, ${callId}, ${place}, ${atMs}, ${writeJson(data)} where ${wanted}
    on conflict (id) do nothing`;
  const jobs = deliveryJobs(db, event, subscribers(orgId, type), atMs);
  return [compilable(db, insert), afterChange(jobs)];
}

/** A delivery job of a stored event for each endpoint that the condition names. `tag` makes it another job than an earlier one. */
export function deliveryJobs(
  db: Kysely<Tables>,
  { id, callId }: Pick<NewEvent, "id" | "callId">,
  condition: RawBuilder<unknown>,
  nowMs: number,
  tag = "",
): Compilable {
  const endpoint = sql`${sql.table("webhookEndpoints")}.id`;
  const lane =
    callId === null
      ? sql`cast(null as text)`
      : sql`'webhook:' || ${endpoint} || ${sql.lit(":")} || cast(${callId} as text)`;
  // Behind an earlier event of its call that waits, this one waits as long.
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
  const insert = sql`insert into jobs (${columns})
    select cast(${`${id}${tag}_`} as text) || ${endpoint}, ${ref("orgId")}, 'webhook', 'webhook:' || ${endpoint}, ${lane},
      '{"endpointId":"' || ${endpoint} || cast(${`","eventId":"${id}"}`} as text), 'queued', ${runAfter}, 0, 0, ${nowMs}
    from ${sql.table("webhookEndpoints")} where ${condition}
    on conflict (id) do nothing`;
  return compilable(db, insert);
}
