import { type Kysely, sql } from "kysely";

/**
 * Columns have the names of the records' fields. Every number that JavaScript gives is `real`, as its numbers are (SQLite
 * stores whole ones as integers anyway); flags are 0 or 1; what is never searched for is JSON. `sequence` is the order of
 * creation.
 */
const TENANCY = [
  `create table plans (
    sequence integer primary key,
    id text not null unique,
    slug text not null unique,
    name text not null,
    description text not null,
    custom integer not null check (custom in (0, 1)),
    public integer not null check (public in (0, 1)),
    pricing text not null,
    limits text not null,
    models text not null,
    features text not null,
    createdAtMs real not null,
    updatedAtMs real not null
  ) strict`,
  `create table organizations (
    sequence integer primary key,
    id text not null unique,
    name text not null,
    planId text not null references plans (id),
    status text not null check (status in ('pending', 'active')),
    ownerEmail text not null,
    createdAtMs real not null,
    updatedAtMs real not null
  ) strict`,
  "create index organizationsByOwner on organizations (ownerEmail)",
  "create index organizationsByPlan on organizations (planId)",
  `create table users (
    sequence integer primary key,
    id text not null unique,
    orgId text not null references organizations (id),
    email text not null unique,
    passwordHash text not null,
    name text not null,
    role text not null check (role in ('admin', 'member')),
    createdAtMs real not null
  ) strict`,
  "create index usersByOrganization on users (orgId)",
  `create table apiKeys (
    sequence integer primary key,
    id text not null unique,
    orgId text not null references organizations (id),
    keyHash text not null unique,
    keyPrefix text not null,
    name text not null,
    scopes text not null,
    lastUsedAtMs real,
    createdAtMs real not null,
    revokedAtMs real
  ) strict`,
  "create index apiKeysByOrganization on apiKeys (orgId)",
];

const AGENTS = [
  `create table registry (
    sequence integer primary key,
    category text not null check (category in ('llm', 'tts', 'stt')),
    providerKey text not null,
    displayName text not null,
    requiresKey integer not null check (requiresKey in (0, 1)),
    models text not null,
    settings text not null,
    createdAtMs real not null,
    unique (category, providerKey)
  ) strict`,
  `create table providers (
    sequence integer primary key,
    id text not null unique,
    orgId text references organizations (id),
    category text not null check (category in ('llm', 'tts', 'stt')),
    providerKey text not null,
    name text not null,
    sealedCredentials text,
    models text not null,
    settings text not null,
    active integer not null check (active in (0, 1)),
    createdAtMs real not null,
    updatedAtMs real not null,
    unique (orgId, category, providerKey, name)
  ) strict`,
  // A null is never equal to a null in a unique rule, so the global providers have one of their own.
  `create unique index globalProviders on providers (category, providerKey, name) where orgId is null`,
  `create table agents (
    sequence integer primary key,
    id text not null unique,
    orgId text not null references organizations (id),
    name text not null,
    persona text not null,
    llmProviderId text not null references providers (id),
    llmModelId text not null,
    llmConfig text not null,
    ttsProviderId text not null references providers (id),
    ttsModelId text not null,
    ttsConfig text not null,
    sttProviderId text not null references providers (id),
    thresholds text not null,
    active integer not null check (active in (0, 1)),
    createdAtMs real not null,
    updatedAtMs real not null
  ) strict`,
  "create index agentsInOrder on agents (orgId, createdAtMs)",
  "create index agentsByLlm on agents (llmProviderId)",
  "create index agentsByTts on agents (ttsProviderId)",
  "create index agentsByStt on agents (sttProviderId)",
];

const CALLS = [
  // An agent may be removed while its calls are kept, so agentId refers to nothing.
  `create table calls (
    sequence integer primary key,
    id text not null unique,
    orgId text not null references organizations (id),
    agentId text not null,
    sessionId text not null unique,
    runId text not null,
    channel text not null check (channel in ('web', 'phone')),
    status text not null check (status in ('active', 'completed', 'failed')),
    startedAtMs real not null,
    endedAtMs real,
    durationSec real,
    ttfbMs real not null,
    avgLatencyMs real not null,
    totalTokens real not null,
    ttsChars real not null,
    interruptions real not null,
    turnCount real not null,
    summary text,
    sentiment text check (sentiment in ('positive', 'neutral', 'negative')),
    metadata text not null,
    lastSavedAtMs real not null,
    createdAtMs real not null
  ) strict`,
  "create index callsInOrder on calls (orgId, startedAtMs)",
  "create index callsOfAgent on calls (orgId, agentId, startedAtMs)",
  "create index callsInStatus on calls (orgId, status, startedAtMs)",
  "create index callsOfAgentInStatus on calls (orgId, agentId, status, startedAtMs)",
  "create index callsInProgress on calls (runId) where status = 'active'",
  `create table transcriptMessages (
    sequence integer primary key,
    callId text not null references calls (id),
    role text not null check (role in ('user', 'assistant')),
    text text not null,
    timestamp real not null
  ) strict`,
  "create index transcriptMessagesOfCall on transcriptMessages (callId)",
  `create table callTurns (
    sequence integer primary key,
    callId text not null references calls (id),
    turn text not null
  ) strict`,
  "create index callTurnsOfCall on callTurns (callId)",
  `create table runs (
    id text not null primary key,
    heartbeatAtMs real not null
  ) strict`,
  `create table dailyUsage (
    orgId text not null references organizations (id),
    date text not null,
    calls real not null,
    minutes real not null,
    ttsChars real not null,
    llmTokens real not null,
    sttSeconds real not null,
    primary key (orgId, date)
  ) strict, without rowid`,
  `create table sessionHistory (
    orgId text not null references organizations (id),
    key text not null,
    messages text not null,
    savedAtMs real not null,
    primary key (orgId, key)
  ) strict`,
  "create index sessionHistoryByAge on sessionHistory (savedAtMs)",
];

const ADD_NEW = `insert into callTotals (orgId, agentId, status, calls, durationSec)
  values (new.orgId, new.agentId, new.status, 1, coalesce(new.durationSec, 0))
  on conflict (orgId, agentId, status)
  do update set calls = calls + 1, durationSec = durationSec + excluded.durationSec;`;

const TAKE_OLD = `update callTotals
  set calls = calls - 1, durationSec = durationSec - coalesce(old.durationSec, 0)
  where orgId = old.orgId and agentId = old.agentId and status = old.status;`;

/**
 * A page of the call list says how many calls there are in all; counting a million index entries for each page would take
 * tens of milliseconds of the one thread. So the counts are kept, one row for each organization, agent and status, and
 * by triggers, so that no way of writing a call can forget them. Every filter of the list is a sum of a few rows.
 */
const CALL_TOTALS = [
  `create table callTotals (
    orgId text not null,
    agentId text not null,
    status text not null,
    calls real not null,
    durationSec real not null,
    primary key (orgId, agentId, status)
  ) strict, without rowid`,
  `create trigger callTotalsOnInsert after insert on calls begin ${ADD_NEW} end`,
  `create trigger callTotalsOnUpdate after update of orgId, agentId, status, durationSec on calls
    begin ${TAKE_OLD} ${ADD_NEW} end`,
  `create trigger callTotalsOnDelete after delete on calls begin ${TAKE_OLD} end`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...TENANCY, ...AGENTS, ...CALLS, ...CALL_TOTALS]) {
    await sql.raw(statement).execute(db);
  }
}
