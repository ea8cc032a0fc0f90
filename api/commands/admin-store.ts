import { randomBytes, randomUUID } from "node:crypto";
import { userInfo } from "node:os";
import { drainNode } from "../../engine/cluster/node-registry.js";
import { AccessTokens } from "../../engine/security/access-token.js";
import { CredentialCipher } from "../../engine/security/credential-cipher.js";
import { Agents } from "../../engine/tenancy/agents/agents.js";
import { DialTargets } from "../../engine/tenancy/agents/dial-targets.js";
import type { FirstAgentServices } from "../../engine/tenancy/agents/first-agent.js";
import { PhoneNumbers } from "../../engine/tenancy/agents/phone-numbers.js";
import { AuditTrail } from "../../engine/tenancy/audit-trail.js";
import { CredentialRotation } from "../../engine/tenancy/credential-rotation.js";
import { Organizations } from "../../engine/tenancy/organizations.js";
import { Accounts } from "../../engine/tenancy/people/accounts.js";
import { ApiKeys } from "../../engine/tenancy/people/api-keys.js";
import { Operators } from "../../engine/tenancy/people/operators.js";
import { Plans } from "../../engine/tenancy/plans.js";
import { ModelSearch } from "../../engine/tenancy/providers/model-search.js";
import { SystemClock } from "../../engine/time/clock.js";
import type { Database } from "../../storage/database.js";
import type { AuditActor } from "../../storage/tenancy/audit-record.js";

export interface AdminServices extends FirstAgentServices {
  /** The actor of these commands in the audit trail. */
  readonly administrator: AuditActor;
  readonly auditTrail: AuditTrail;
  readonly operators: Operators;
  readonly organizations: Organizations;
  readonly dialTargets: DialTargets;
  readonly phoneNumbers: PhoneNumbers;
  readonly plans: Plans;
  /** Throws a RequestError `not_found` if no server has this name. */
  readonly drainNode: (name: string) => Promise<void>;
  readonly rotation: (cipher: CredentialCipher) => CredentialRotation;
}

/** The services that administrator commands use, on an open database. A running server has its own instances. */
export function adminServices(database: Database): AdminServices {
  const clock = new SystemClock();
  // The class Accounts requires a signing secret. This one signs no token, because commands have no sign-in.
  const secret = randomBytes(32).toString("hex");
  const tokens = new AccessTokens({ secret, expiresIn: "1m", clock });
  const onBackgroundError = (error: unknown) => {
    throw error;
  };
  // Agents are created without tools here, so nothing is encrypted with this key either.
  const cipher = new CredentialCipher(secret);
  const parts = { database, clock, newId: randomUUID, tokens, cipher, onBackgroundError };
  const accounts = new Accounts(parts);
  const apiKeys = new ApiKeys(parts);
  const administratorId = accountName();
  const administrator = { type: "administrator", id: administratorId } as const;
  return {
    agents: new Agents(parts),
    modelSearch: new ModelSearch(parts),
    administrator,
    auditTrail: new AuditTrail(parts),
    operators: new Operators({ ...parts, administrator }),
    organizations: new Organizations({ ...parts, accounts, apiKeys, administratorId }),
    dialTargets: new DialTargets({ ...parts, administratorId }),
    phoneNumbers: new PhoneNumbers({ ...parts, administratorId }),
    plans: new Plans(parts),
    drainNode: (name) => drainNode(parts, name, administrator),
    rotation: (keyed) => new CredentialRotation({ ...parts, cipher: keyed }),
  };
}

/** The operating-system account that runs the command. In containers it often has no name. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `account ${process.getuid?.() ?? "without a name"}`;
  }
}
