import assert from "node:assert/strict";
import { test } from "node:test";
import type { Database } from "../../../storage/database.js";
import {
  agentRecord,
  apiKeyRecord,
  insertProviders,
  NOON_MS,
  providerRecord,
  userRecord,
} from "../sample-records.js";
import { temporaryDatabase } from "../temporary-file.js";

const ATTEMPTS = 30;
const MAX = 10;

/** A kind of record of which an organization has a limited number: inserts one more, and returns their number. */
interface Limited {
  readonly insert: (database: Database, id: string, orgId: string) => Promise<boolean>;
  readonly count: (database: Database, orgId: string) => Promise<number>;
  /** The number of records of every organization of these tests. */
  readonly before: number;
}

const KINDS: Readonly<Record<string, Limited>> = {
  agents: {
    insert: ({ agents }, id, orgId) => agents.insert(agentRecord({ id, orgId, name: id }), MAX),
    count: async ({ agents }, orgId) => (await agents.list(orgId)).length,
    before: 0,
  },
  providers: {
    insert: ({ providers }, id, orgId) =>
      providers.insertOwned(providerRecord({ id, orgId, name: id }), MAX),
    count: async ({ providers }, orgId) =>
      (await providers.listVisible(orgId)).filter((each) => each.orgId === orgId).length,
    before: 0,
  },
  keys: {
    insert: ({ apiKeys }, id, orgId) =>
      apiKeys.insertWithin(apiKeyRecord({ id, orgId, keyHash: id }), MAX, entryOf(id, orgId)),
    count: async ({ apiKeys }, orgId) => (await apiKeys.list(orgId)).length,
    before: 0,
  },
  users: {
    insert: ({ users }, id, orgId) =>
      users.insertWithin(userRecord({ id, orgId, email: id }), MAX, entryOf(id, orgId)),
    count: async ({ users }, orgId) => (await users.listOf(orgId)).length,
    before: 1,
  },
};

function entryOf(id: string, orgId: string) {
  return {
    id: `entry ${id}`,
    orgId,
    atMs: NOON_MS,
    actor: { type: "administrator", id: "" },
    action: "member.create",
    targetType: "member",
    targetId: id,
    targetName: id,
    changes: [],
  } as const;
}

for (const [kind, { insert, count, before }] of Object.entries(KINDS)) {
  test(`${kind} that are created at the same time do not exceed the limit of either organization`, async (context) => {
    const database = await temporaryDatabase(context);
    await insertProviders(database);
    const made = Array.from({ length: ATTEMPTS }, (_, n) =>
      Promise.all(["org", "other"].map((orgId) => insert(database, `${orgId} ${n}`, orgId))),
    );
    const inserted = (await Promise.all(made)).flat().filter(Boolean).length;
    assert.equal(inserted, 2 * (MAX - before));
    for (const orgId of ["org", "other"]) assert.equal(await count(database, orgId), MAX);
  });
}
