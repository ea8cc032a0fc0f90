import type { Database } from "../../storage/database.js";
import type { Logger } from "../log.js";
import type { AccessTokens } from "../security/access-token.js";
import type { CredentialCipher } from "../security/credential-cipher.js";
import type { Clock } from "../time/clock.js";
import { Agents } from "./agents/agents.js";
import { DialTargets } from "./agents/dial-targets.js";
import { DoNotCall } from "./agents/do-not-call.js";
import { PhoneNumbers } from "./agents/phone-numbers.js";
import { AuditTrail } from "./audit-trail.js";
import { OrganizationOverviews } from "./organization-overviews.js";
import { Organizations } from "./organizations.js";
import { Accounts } from "./people/accounts.js";
import { ApiKeys } from "./people/api-keys.js";
import { Members } from "./people/members.js";
import { Plans } from "./plans.js";
import { ModelSearch } from "./providers/model-search.js";
import { Providers } from "./providers/providers.js";

export interface TenancyOptions {
  readonly database: Database;
  readonly cipher: CredentialCipher;
  readonly tokens: AccessTokens;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Lets organizations' own providers name private addresses. */
  readonly allowPrivateAddresses: boolean;
  readonly log: Logger;
}

/** The services for organizations and all that belongs to them. */
export interface Tenancy {
  readonly accounts: Accounts;
  readonly agents: Agents;
  readonly apiKeys: ApiKeys;
  readonly auditTrail: AuditTrail;
  readonly members: Members;
  readonly modelSearch: ModelSearch;
  readonly organizationOverviews: OrganizationOverviews;
  readonly organizations: Organizations;
  readonly dialTargets: DialTargets;
  readonly doNotCall: DoNotCall;
  readonly phoneNumbers: PhoneNumbers;
  readonly plans: Plans;
  readonly providers: Providers;
}

export function newTenancy(options: TenancyOptions): Tenancy {
  const onBackgroundError = (error: unknown) =>
    options.log.warn({ error }, "failed to store lastUsedAt");
  const accounts = new Accounts(options);
  const apiKeys = new ApiKeys({ ...options, onBackgroundError });
  return {
    accounts,
    agents: new Agents(options),
    apiKeys,
    auditTrail: new AuditTrail(options),
    members: new Members(options),
    modelSearch: new ModelSearch(options),
    organizationOverviews: new OrganizationOverviews(options),
    organizations: new Organizations({ ...options, accounts, apiKeys }),
    dialTargets: new DialTargets(options),
    doNotCall: new DoNotCall(options),
    phoneNumbers: new PhoneNumbers(options),
    plans: new Plans(options),
    providers: new Providers(options),
  };
}
