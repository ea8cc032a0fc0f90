import assert from "node:assert/strict";
import { test } from "node:test";
import { MonthlyMinutes } from "../../../engine/calls/admission.js";
import { AccessTokens } from "../../../engine/security/access-token.js";
import { newApiKey } from "../../../engine/security/api-key.js";
import { ClientTokens } from "../../../engine/security/client-token.js";
import { CredentialCipher } from "../../../engine/security/credential-cipher.js";
import { Agents } from "../../../engine/tenancy/agents/agents.js";
import { Organizations } from "../../../engine/tenancy/organizations.js";
import { Accounts } from "../../../engine/tenancy/people/accounts.js";
import { ApiKeys } from "../../../engine/tenancy/people/api-keys.js";
import { ClientAccess } from "../../../engine/tenancy/people/client-access.js";
import type { Database } from "../../../storage/database.js";
import { RecordChanges } from "../../../storage/statements/record-changes.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import {
  agentRecord,
  apiKeyRecord,
  organizationRecord,
  planRecord,
  userRecord,
} from "../../storage/sample-records.js";
import { TENANT } from "./sample-tenant.js";

const secret = "s".repeat(32);
const owner = { organization: organizationRecord({ status: "active" }), plan: planRecord() };

const AGENTS = Array.from({ length: 201 }, (_, index) => agentRecord({ id: `${index}` }));

/** A database that finds every requested record and counts the requests. */
function countingDatabase() {
  const reads = { count: 0 };
  const found =
    <Found>(record: Found) =>
    async () => {
      reads.count += 1;
      return record;
    };
  const recordChanges = new RecordChanges();
  const database = {
    recordChanges,
    usageChanges: recordChanges,
    apiKeys: {
      findWithOwner: found({ key: apiKeyRecord(), ...owner }),
      touch: () => Promise.resolve(),
    },
    users: { findWithOwner: found({ user: userRecord(), ...owner }) },
    organizations: { findById: found(owner.organization) },
    plans: { findById: () => Promise.resolve(owner.plan) },
    agents: {
      findPublic: found({ ...agentRecord(), allowedOrigins: ["https://a.example"] }),
      list: found(AGENTS),
    },
    providers: { findMany: () => Promise.resolve([]) },
    usage: { minutesBetween: found(0) },
    // The double has only the methods that are called.
  } as unknown as Database;
  return { database, reads };
}

/** Each cache, as a function that returns its number of entries and one that requests one of many records. */
async function keepers(database: Database) {
  const clock = new VirtualClock();
  const about = { database, clock, newId: () => "id" };
  const tokens = new AccessTokens({ secret, expiresIn: "1h", clock });
  tokens.verify = async (token) => ({ userId: token, orgId: "org", email: "", iat: 0, exp: 0 });
  const keys = Array.from({ length: 2_001 }, () => newApiKey().rawKey);
  const accounts = new Accounts({ ...about, tokens });
  const apiKeys = new ApiKeys({ ...about, onBackgroundError: () => undefined });
  const organizations = new Organizations({ ...about, accounts, apiKeys });
  const clientTokens = new ClientTokens({ secret, clock });
  const pages = new ClientAccess({
    ...about,
    clientTokens,
    organizations: { find: async () => owner },
  });
  const agents = new Agents({ ...about, cipher: new CredentialCipher("5a".repeat(32)) });
  const minutes = new MonthlyMinutes(database, clock);
  return [
    ["keys", 2_000, (index: number) => apiKeys.authenticate(keys[index] ?? "")],
    ["users", 2_000, (index: number) => accounts.authenticateUser(`${index}`)],
    ["organizations", 2_000, (index: number) => organizations.find(`${index}`)],
    ["public agents", 1_000, (index: number) => pages.byOrigin(`${index}`, "https://a.example")],
    ["minutes", 2_000, (index: number) => minutes.used(`${index}`)],
    ["agents", 200, (index: number) => agents.get(TENANT, `${index}`)],
  ] as const;
}

test("the number of cached records is limited, and the least recently used one is evicted", async () => {
  const { database, reads } = countingDatabase();
  for (const [what, max, ask] of await keepers(database)) {
    const readsOf = async (index: number) => {
      const before = reads.count;
      await ask(index);
      return reads.count - before;
    };
    for (let index = 0; index < max; index += 1) await ask(index);
    assert.equal(await readsOf(0), 0, `${what}: as many as there may be`);
    assert.equal(await readsOf(max), 1, `${what}: one more`);
    assert.deepEqual([await readsOf(0), await readsOf(1)], [0, 1], `${what}: the oldest went`);
  }
});
