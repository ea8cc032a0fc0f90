import { randomBytes } from "node:crypto";
import type { Database } from "../../storage/database.js";
import type {
  Category,
  OrganizationRecord,
  PlanFeatures,
  PlanLimits,
  PlanRecord,
} from "../../storage/records.js";
import type { AuditAction, AuditActor, AuditRecord } from "../../storage/tenancy/audit-record.js";
import { RequestError } from "../request-error.js";
import type { NewApiKey } from "../security/api-key.js";
import type { Clock } from "../time/clock.js";
import { actorOf, auditEntry, changedFields, SERVER_ACTOR } from "./audit-entry.js";
import type { Account, Accounts } from "./people/accounts.js";
import type { ApiKeys, CreatedApiKey } from "./people/api-keys.js";
import { canonicalEmail } from "./people/email-address.js";
import { ReadCache } from "./read-cache.js";
import { ALL_SCOPES, findOrganizationWithPlan, type Tenant } from "./tenant.js";

const GENERATED_PASSWORD_BYTES = 15;
/** Organizations of calls without an API key, cached for about a second: about 1 kB each. */
const KEPT_MAX = 2_000;
/** The name of an organization's first API key. */
export const SETUP_KEY_NAME = "Setup";

export interface OrganizationWithPlan {
  readonly organization: OrganizationRecord;
  readonly plan: PlanRecord;
}

export interface SetUp {
  readonly orgName: string;
  readonly email: string;
  /** Default: a generated password. */
  readonly password?: string | undefined;
  /** The owner's name. Default: `Administrator`. */
  readonly name?: string | undefined;
  /** Default: `free`. */
  readonly planSlug?: string | undefined;
  /** Default: a generated key. */
  readonly apiKey?: NewApiKey | undefined;
}

export interface SetUpResult extends Account {
  readonly password: string;
  readonly apiKey: CreatedApiKey;
}

export interface SetupStatus {
  readonly setupComplete: boolean;
  readonly hasOrganization: boolean;
  /** The number of active providers in each category. */
  readonly providers: Readonly<Record<Category, number>>;
}

/** Fields that are left out stay as they are. */
export interface OrganizationChange {
  readonly status?: OrganizationRecord["status"] | undefined;
  readonly planSlug?: string | undefined;
}

type PartialValues<Values> = { readonly [Name in keyof Values]?: Values[Name] | undefined };

/** What differs between the organization's own plan and its current plan; fields that are left out stay as they are. */
export interface OwnPlanTerms {
  readonly name?: string | undefined;
  readonly limits?: PartialValues<PlanLimits> | undefined;
  readonly features?: PartialValues<PlanFeatures> | undefined;
}

export interface OrganizationsOptions {
  readonly database: Pick<Database, "organizations" | "plans" | "providers" | "recordChanges">;
  readonly accounts: Accounts;
  readonly apiKeys: ApiKeys;
  readonly clock: Clock;
  readonly newId: () => string;
  /** The actor in the audit trail for the platform's changes of organizations. Default: the server itself. */
  readonly administratorId?: string;
}

/** Generates a password for an account that was given none. */
export function newPassword(): string {
  return randomBytes(GENERATED_PASSWORD_BYTES).toString("base64url");
}

export class Organizations {
  readonly #database: OrganizationsOptions["database"];
  readonly #accounts: Accounts;
  readonly #apiKeys: ApiKeys;
  readonly #clock: Clock;
  readonly #newId: () => string;
  readonly #administrator: AuditActor;
  readonly #found: ReadCache<OrganizationWithPlan>;

  constructor(options: OrganizationsOptions) {
    this.#database = options.database;
    this.#accounts = options.accounts;
    this.#apiKeys = options.apiKeys;
    this.#clock = options.clock;
    this.#newId = options.newId;
    const { administratorId: id, clock } = options;
    const changes = options.database.recordChanges;
    this.#found = new ReadCache({ changes, clock, entriesMax: KEPT_MAX });
    this.#administrator = id === undefined ? SERVER_ACTOR : { type: "administrator", id };
  }

  /** Returns undefined if there is no such organization. */
  find(orgId: string): Promise<OrganizationWithPlan | undefined> {
    return this.#found.get(orgId, () => findOrganizationWithPlan(this.#database, orgId));
  }

  describe({ organization, plan }: Tenant): OrganizationWithPlan {
    return { organization, plan };
  }

  async rename(tenant: Tenant, name: string): Promise<OrganizationWithPlan> {
    const before = tenant.organization;
    const entry = this.#entry(
      actorOf(tenant),
      "organization.rename",
      { ...before, name },
      name === before.name ? [] : ["name"],
    );
    const organization = await this.#database.organizations.rename(
      before.id,
      name,
      entry.atMs,
      entry,
    );
    if (organization === undefined)
      throw new RequestError("not_found", "the organization no longer exists");
    return { organization, plan: tenant.plan };
  }

  /** For the platform's administrator: every organization with the slug of its plan. */
  list(): ReturnType<Database["organizations"]["list"]> {
    return this.#database.organizations.list();
  }

  /** For the platform's administrator. RequestError `not_found`: no organization has an owner with this e-mail. */
  async activate(ownerEmail: string): Promise<OrganizationRecord> {
    return this.#setStatus(await this.#findOwned(ownerEmail), "active", this.#administrator);
  }

  /** As `activate`. All access except sign-in is refused at once. */
  async suspend(ownerEmail: string): Promise<OrganizationRecord> {
    return this.#setStatus(await this.#findOwned(ownerEmail), "pending", this.#administrator);
  }

  /** As `activate`, and RequestError `plan_not_found`. Agents that the plan does not allow become paused. */
  async changePlan(ownerEmail: string, planSlug: string): Promise<OrganizationRecord> {
    return this.#setPlan(await this.#findOwned(ownerEmail), planSlug, this.#administrator);
  }

  /**
   * For an operator of the platform. A field with its current value leaves no entry in the audit trail. RequestError
   * `not_found`: there is no such organization; `plan_not_found`: there is no such plan.
   */
  async change(
    orgId: string,
    { status, planSlug }: OrganizationChange,
    actor: AuditActor,
  ): Promise<void> {
    const found = await this.find(orgId);
    if (found === undefined) throw new RequestError("not_found", "there is no such organization");
    const { organization, plan } = found;
    if (planSlug !== undefined && planSlug !== plan.slug) {
      await this.#setPlan(organization, planSlug, actor);
    }
    if (status !== undefined && status !== organization.status) {
      await this.#setStatus(organization, status, actor);
    }
  }

  /**
   * Gives an organization its own plan, which starts as a copy of its current plan, or changes the own plan that it
   * has. RequestError `not_found`: there is no such organization.
   */
  async setOwnPlan(orgId: string, terms: OwnPlanTerms, actor: AuditActor): Promise<PlanRecord> {
    const found = await this.find(orgId);
    if (found === undefined) throw new RequestError("not_found", "there is no such organization");
    const { organization, plan } = found;
    const slug = `custom-${orgId}`;
    const earlier = await this.#database.plans.findBySlug(slug);
    const atMs = this.#clock.epochMs();
    const own: PlanRecord = {
      ...plan,
      id: earlier?.id ?? this.#newId(),
      slug,
      name: terms.name ?? (plan.slug === slug ? plan.name : `${plan.name} of ${organization.name}`),
      custom: true,
      public: false,
      limits: withDefined(plan.limits, terms.limits),
      features: withDefined(plan.features, terms.features),
      createdAtMs: earlier?.createdAtMs ?? atMs,
      updatedAtMs: atMs,
    };
    const { name, limits, features } = plan;
    const changes = changedFields(
      { name, limits, features },
      { name: own.name, limits: own.limits, features: own.features },
    );
    if (!(await this.#database.plans.insertIfAbsent(own))) {
      await this.#database.plans.replaceTerms(own);
    }
    const entry = this.#entry(actor, "organization.changePlan", organization, changes);
    await this.#database.organizations.setPlan(orgId, own.id, entry.atMs, entry);
    return own;
  }

  /** As `setOwnPlan`, for the platform's administrator. */
  async setOwnPlanOf(ownerEmail: string, terms: OwnPlanTerms): Promise<PlanRecord> {
    const { id } = await this.#findOwned(ownerEmail);
    return this.setOwnPlan(id, terms, this.#administrator);
  }

  async #setPlan(
    organization: OrganizationRecord,
    planSlug: string,
    actor: AuditActor,
  ): Promise<OrganizationRecord> {
    const plan = await this.#database.plans.findBySlug(planSlug);
    if (plan === undefined) {
      const known = (await this.#database.plans.list()).map(({ slug }) => slug).join(", ");
      throw new RequestError(
        "plan_not_found",
        `there is no plan "${planSlug}"; there are: ${known}`,
      );
    }
    const changes = organization.planId === plan.id ? [] : ["planId"];
    const action = "organization.changePlan";
    const entry = this.#entry(actor, action, organization, changes);
    await this.#database.organizations.setPlan(organization.id, plan.id, entry.atMs, entry);
    return { ...organization, planId: plan.id, updatedAtMs: entry.atMs };
  }

  /** Creates an active organization with its owner and an API key. RequestError `email_taken`, `plan_not_found`. */
  async setUp({
    orgName,
    email,
    password,
    name,
    planSlug,
    apiKey: made,
  }: SetUp): Promise<SetUpResult> {
    const ownerPassword = password ?? newPassword();
    const owner = {
      orgName,
      email,
      password: ownerPassword,
      name: name ?? "Administrator",
      status: "active",
      planSlug: planSlug ?? "free",
    } as const;
    const account = await this.#accounts.createOwner(owner, this.#administrator);
    const orgId = account.organization.id;
    const input = { name: SETUP_KEY_NAME };
    const apiKey = await this.#apiKeys.create(orgId, input, this.#administrator, ALL_SCOPES, made);
    return { ...account, password: ownerPassword, apiKey };
  }

  async setupStatus(): Promise<SetupStatus> {
    const [activeCount, providers] = await Promise.all([
      this.#database.organizations.countActive(),
      this.#database.providers.countActiveByCategory(),
    ]);
    const hasOrganization = activeCount > 0 || (await this.list()).length > 0;
    const hasEveryCategory = providers.llm > 0 && providers.tts > 0 && providers.stt > 0;
    return { setupComplete: activeCount > 0 && hasEveryCategory, hasOrganization, providers };
  }

  async #setStatus(
    organization: OrganizationRecord,
    status: OrganizationRecord["status"],
    actor: AuditActor,
  ): Promise<OrganizationRecord> {
    const action = status === "active" ? "organization.activate" : "organization.suspend";
    const changes = organization.status === status ? [] : ["status"];
    const entry = this.#entry(actor, action, organization, changes);
    await this.#database.organizations.setStatus(organization.id, status, entry.atMs, entry);
    return { ...organization, status, updatedAtMs: entry.atMs };
  }

  #entry(
    actor: AuditActor,
    action: Extract<AuditAction, `organization.${string}`>,
    { id, name }: OrganizationRecord,
    changes: readonly string[],
  ): AuditRecord {
    const atMs = this.#clock.epochMs();
    const target = { type: "organization", id, orgId: id, name } as const;
    return auditEntry({ id: this.#newId(), atMs, actor, action, target, changes });
  }

  async #findOwned(ownerEmail: string): Promise<OrganizationRecord> {
    const email = canonicalEmail(ownerEmail);
    const organization = await this.#database.organizations.findByOwnerEmail(email);
    if (organization === undefined) {
      throw new RequestError("not_found", "no organization has an owner with this e-mail");
    }
    return organization;
  }
}

/** Returns the values, overridden by the given ones that are defined. */
function withDefined<Values extends object>(
  values: Values,
  given: PartialValues<Values> = {},
): Values {
  const present = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...values, ...Object.fromEntries(present) };
}
