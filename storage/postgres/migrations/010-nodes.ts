import { type Kysely, sql } from "kysely";

/**
 * What several servers of one database have in common. SQLite, which has one server, has none of it. A node's row takes
 * everything with it that the node held.
 */
const NODES = [
  `create table "nodes" (
    "startId" text collate "C" primary key,
    "name" text collate "C" not null,
    "address" text collate "C",
    "version" text collate "C" not null,
    "capacity" integer not null,
    "calls" integer not null,
    "load" double precision not null,
    "isTaking" smallint not null,
    "isDraining" smallint not null,
    "isLost" smallint not null,
    "startedAtMs" bigint not null,
    "heartbeatAtMs" bigint not null,
    constraint "nodes(name)" unique ("name")
  )`,
  `create table "nodeRuns" (
    "runId" text collate "C" primary key,
    "startId" text collate "C" not null references "nodes" ("startId") on delete cascade
  )`,
  `create index "nodeRunsByNode" on "nodeRuns" ("startId")`,
  `create table "callSlots" (
    "callId" text collate "C" primary key,
    "orgId" text collate "C" not null,
    "startId" text collate "C" not null references "nodes" ("startId") on delete cascade
  )`,
  `create index "callSlotsByOrganization" on "callSlots" ("orgId")`,
  `create index "callSlotsByNode" on "callSlots" ("startId")`,
  `create table "onceTokens" (
    "key" text collate "C" primary key,
    "owner" text collate "C" not null,
    "value" text collate "C",
    "untilMs" bigint not null
  )`,
  `create index "onceTokensByAge" on "onceTokens" ("untilMs")`,
  `create index "onceTokensByOwner" on "onceTokens" ("owner")`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of NODES) await sql.raw(statement).execute(db);
}
