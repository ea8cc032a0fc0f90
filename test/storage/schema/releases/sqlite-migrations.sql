-- 001-first-tables
create table plans (
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
  ) strict;
create table organizations (
    sequence integer primary key,
    id text not null unique,
    name text not null,
    planId text not null references plans (id),
    status text not null check (status in ('pending', 'active')),
    ownerEmail text not null,
    createdAtMs real not null,
    updatedAtMs real not null
  ) strict;
create index organizationsByOwner on organizations (ownerEmail);
create index organizationsByPlan on organizations (planId);
create table users (
    sequence integer primary key,
    id text not null unique,
    orgId text not null references organizations (id),
    email text not null unique,
    passwordHash text not null,
    name text not null,
    role text not null check (role in ('admin', 'member')),
    createdAtMs real not null
  ) strict;
create index usersByOrganization on users (orgId);
create table apiKeys (
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
  ) strict;
create index apiKeysByOrganization on apiKeys (orgId);
create table registry (
    sequence integer primary key,
    category text not null check (category in ('llm', 'tts', 'stt')),
    providerKey text not null,
    displayName text not null,
    requiresKey integer not null check (requiresKey in (0, 1)),
    models text not null,
    settings text not null,
    createdAtMs real not null,
    unique (category, providerKey)
  ) strict;
create table providers (
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
  ) strict;
create unique index globalProviders on providers (category, providerKey, name) where orgId is null;
create table agents (
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
  ) strict;
create index agentsInOrder on agents (orgId, createdAtMs);
create index agentsByLlm on agents (llmProviderId);
create index agentsByTts on agents (ttsProviderId);
create index agentsByStt on agents (sttProviderId);
create table calls (
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
  ) strict;
create index callsInOrder on calls (orgId, startedAtMs);
create index callsOfAgent on calls (orgId, agentId, startedAtMs);
create index callsInStatus on calls (orgId, status, startedAtMs);
create index callsOfAgentInStatus on calls (orgId, agentId, status, startedAtMs);
create index callsInProgress on calls (runId) where status = 'active';
create table transcriptMessages (
    sequence integer primary key,
    callId text not null references calls (id),
    role text not null check (role in ('user', 'assistant')),
    text text not null,
    timestamp real not null
  ) strict;
create index transcriptMessagesOfCall on transcriptMessages (callId);
create table callTurns (
    sequence integer primary key,
    callId text not null references calls (id),
    turn text not null
  ) strict;
create index callTurnsOfCall on callTurns (callId);
create table runs (
    id text not null primary key,
    heartbeatAtMs real not null
  ) strict;
create table dailyUsage (
    orgId text not null references organizations (id),
    date text not null,
    calls real not null,
    minutes real not null,
    ttsChars real not null,
    llmTokens real not null,
    sttSeconds real not null,
    primary key (orgId, date)
  ) strict, without rowid;
create table sessionHistory (
    orgId text not null references organizations (id),
    key text not null,
    messages text not null,
    savedAtMs real not null,
    primary key (orgId, key)
  ) strict;
create index sessionHistoryByAge on sessionHistory (savedAtMs);
create table callTotals (
    orgId text not null,
    agentId text not null,
    status text not null,
    calls real not null,
    durationSec real not null,
    primary key (orgId, agentId, status)
  ) strict, without rowid;
create trigger callTotalsOnInsert after insert on calls begin insert into callTotals (orgId, agentId, status, calls, durationSec)
  values (new.orgId, new.agentId, new.status, 1, coalesce(new.durationSec, 0))
  on conflict (orgId, agentId, status)
  do update set calls = calls + 1, durationSec = durationSec + excluded.durationSec; end;
create trigger callTotalsOnUpdate after update of orgId, agentId, status, durationSec on calls
    begin update callTotals
  set calls = calls - 1, durationSec = durationSec - coalesce(old.durationSec, 0)
  where orgId = old.orgId and agentId = old.agentId and status = old.status; insert into callTotals (orgId, agentId, status, calls, durationSec)
  values (new.orgId, new.agentId, new.status, 1, coalesce(new.durationSec, 0))
  on conflict (orgId, agentId, status)
  do update set calls = calls + 1, durationSec = durationSec + excluded.durationSec; end;
create trigger callTotalsOnDelete after delete on calls begin update callTotals
  set calls = calls - 1, durationSec = durationSec - coalesce(old.durationSec, 0)
  where orgId = old.orgId and agentId = old.agentId and status = old.status; end;

-- 002-audit-trail
create table auditEntries (
    sequence integer primary key,
    id text not null unique,
    orgId text references organizations (id),
    atMs real not null,
    actorType text not null check (actorType in ('user', 'apiKey', 'administrator')),
    actorId text not null,
    action text not null,
    targetType text not null check (targetType in ('agent', 'provider', 'apiKey', 'organization')),
    targetId text not null,
    targetName text not null,
    changes text not null
  ) strict;
create index auditEntriesInOrder on auditEntries (orgId, atMs);
create index auditEntriesByAge on auditEntries (atMs);
create trigger auditEntriesAreFinal before update on auditEntries
    begin select raise(abort, 'an audit entry is never changed'); end;
create table auditTotals (
    orgId text not null primary key,
    entries real not null
  ) strict, without rowid;
create trigger auditTotalsOnInsert after insert on auditEntries when new.orgId is not null begin
    insert into auditTotals (orgId, entries) values (new.orgId, 1)
    on conflict (orgId) do update set entries = entries + 1;
  end;
create trigger auditTotalsOnDelete after delete on auditEntries when old.orgId is not null begin
    update auditTotals set entries = entries - 1 where orgId = old.orgId;
  end;

-- 003-agent-tools
alter table agents add column tools text not null default '[]';
alter table agents add column sealedToolHeaders text;

-- 004-recordings
alter table agents add column recording text not null default '{"enabled":false,"retentionDays":30}';
create table recordings (
    callId text primary key references calls (id) on delete cascade,
    orgId text not null,
    isFinished integer not null check (isFinished in (0, 1)),
    expiresAtMs real not null
  ) strict, without rowid;
create index recordingsByExpiry on recordings (expiresAtMs);
create index recordingsUnfinished on recordings (callId) where isFinished = 0;

-- 005-phone-numbers
create table phoneNumbers (
    number text primary key,
    orgId text not null references organizations (id) on delete cascade,
    createdAtMs real not null
  ) strict, without rowid;
create index phoneNumbersOfOrganization on phoneNumbers (orgId);

-- 006-run-clocks
alter table calls add column beganUptimeMs real;
alter table runs add column uptimeMs real;

-- 007-dial-targets
create table dialTargets (
    orgId text not null references organizations (id) on delete cascade,
    target text not null,
    createdAtMs real not null,
    primary key (orgId, target)
  ) strict, without rowid;

-- 008-agent-fallbacks
alter table agents add column sttModelId text;
alter table agents add column fallbacks text not null default '{"llm":[],"tts":[],"stt":[]}';

-- 009-public-agents
alter table agents add column publicOrigins text not null default '[]';

-- 011-operators
alter table users add column isOperator integer not null default 0 check (isOperator in (0, 1));

-- 013-members
create table auditEntriesAnew (
    sequence integer primary key,
    id text not null unique,
    orgId text references organizations (id),
    atMs real not null,
    actorType text not null check (actorType in ('user', 'apiKey', 'administrator')),
    actorId text not null,
    action text not null,
    targetType text not null
      check (targetType in ('agent', 'provider', 'apiKey', 'organization', 'member')),
    targetId text not null,
    targetName text not null,
    changes text not null
  ) strict;
insert into auditEntriesAnew
      (sequence, id, orgId, atMs, actorType, actorId, action, targetType, targetId, targetName, changes)
    select sequence, id, orgId, atMs, actorType, actorId, action, targetType, targetId, targetName, changes
    from auditEntries;
drop table auditEntries;
alter table auditEntriesAnew rename to auditEntries;
create index auditEntriesInOrder on auditEntries (orgId, atMs);
create index auditEntriesByAge on auditEntries (atMs);
create trigger auditEntriesAreFinal before update on auditEntries
    begin select raise(abort, 'an audit entry is never changed'); end;
create trigger auditTotalsOnInsert after insert on auditEntries when new.orgId is not null begin
    insert into auditTotals (orgId, entries) values (new.orgId, 1)
    on conflict (orgId) do update set entries = entries + 1;
  end;
create trigger auditTotalsOnDelete after delete on auditEntries when old.orgId is not null begin
    update auditTotals set entries = entries - 1 where orgId = old.orgId;
  end;

-- 014-encryption-key-check
create table encryptionKeyCheck (
    id integer primary key check (id = 1),
    sealed text not null
  ) strict;

-- 015-call-numbers
alter table calls add column direction text;
alter table calls add column fromNumber text;
alter table calls add column toNumber text;
create index callsFromNumber on calls (orgId, fromNumber, startedAtMs, sequence)
    where fromNumber is not null;
create index callsToNumber on calls (orgId, toNumber, startedAtMs, sequence)
    where toNumber is not null;

-- 016-conversation-summaries
alter table sessionHistory add column summary text;
