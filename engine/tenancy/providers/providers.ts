import type { Database } from "../../../storage/database.js";
import type {
  JsonObject,
  ProviderRecord,
  ProviderTest,
  RegistryRecord,
} from "../../../storage/records.js";
import { UniqueViolationError } from "../../../storage/statements/unique-violation.js";
import type { AuditActor, AuditRecord } from "../../../storage/tenancy/audit-record.js";
import { type FieldFault, invalidFields, RequestError } from "../../request-error.js";
import type { CredentialCipher } from "../../security/credential-cipher.js";
import type { Clock } from "../../time/clock.js";
import { actorOf, auditEntry } from "../audit-entry.js";
import { changeNewest, nextVersionMs } from "../next-version.js";
import type { Tenant } from "../tenant.js";
import {
  changedProviderFields,
  credentialFaults,
  keptCredentialFaults,
  mergedSettings,
  modelFaults,
  type ProviderInput,
  type ProviderPatch,
  privateUrlFaults,
  settingFaults,
} from "./provider-input.js";

export interface ProvidersOptions {
  readonly database: Pick<Database, "agents" | "providers" | "registry">;
  readonly cipher: CredentialCipher;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Lets organizations use private addresses; an operator decides this. */
  readonly allowPrivateAddresses: boolean;
}

/** An organization id that sees all global providers and no organization's own. */
const NOBODY = "";

/** The platform's providers and a tenant's own. Never send these records: they contain sealed credentials. */
export class Providers {
  readonly #database: ProvidersOptions["database"];
  readonly #cipher: CredentialCipher;
  readonly #clock: Clock;
  readonly #newId: () => string;
  readonly #allowPrivateAddresses: boolean;

  constructor({ database, cipher, clock, newId, allowPrivateAddresses }: ProvidersOptions) {
    this.#database = database;
    this.#cipher = cipher;
    this.#clock = clock;
    this.#newId = newId;
    this.#allowPrivateAddresses = allowPrivateAddresses;
  }

  registry(): Promise<readonly RegistryRecord[]> {
    return this.#database.registry.list();
  }

  /** Global providers first; each group in creation order. */
  list(
    tenant: Tenant,
    { clientOnly }: { readonly clientOnly: boolean },
  ): Promise<readonly ProviderRecord[]> {
    const orgId = tenant.organization.id;
    return clientOnly
      ? this.#database.providers.listOwned(orgId)
      : this.#database.providers.listVisible(orgId);
  }

  /** RequestError `not_found`, also for a provider of another organization. */
  async get(tenant: Tenant, id: string): Promise<ProviderRecord> {
    const provider = await this.#database.providers.findById(id);
    if (provider === undefined) throw noSuchProvider();
    if (provider.orgId !== null && provider.orgId !== tenant.organization.id) {
      throw noSuchProvider();
    }
    return provider;
  }

  /** Stores the result of a test, unless the provider was changed meanwhile. */
  noteTest({ id, updatedAtMs }: ProviderRecord, test: ProviderTest): Promise<void> {
    return this.#database.providers.noteTest(id, test, updatedAtMs);
  }

  /** RequestError `plan_feature_missing`, `plan_limit_reached`, `invalid_request`, `name_taken`. */
  async create(tenant: Tenant, input: ProviderInput): Promise<ProviderRecord> {
    const { features, slug } = tenant.plan;
    const provider = await this.draft(tenant, input);
    const auditRecord = this.#auditRecord(actorOf(tenant), "provider.create", provider);
    const inserted = await this.#orNameTaken(
      this.#database.providers.insertOwned(provider, features.maxCustomProviders, auditRecord),
    );
    if (!inserted) {
      const limit = `the plan "${slug}" allows ${features.maxCustomProviders} of your own providers`;
      throw new RequestError("plan_limit_reached", limit);
    }
    return provider;
  }

  /** Returns the provider that `create` would store. RequestError `plan_feature_missing`, `invalid_request`. */
  async draft(tenant: Tenant, input: ProviderInput): Promise<ProviderRecord> {
    const { features, slug } = tenant.plan;
    if (!features.customProviders) {
      throw new RequestError(
        "plan_feature_missing",
        `the plan "${slug}" does not include providers of your own`,
      );
    }
    return this.#newProvider(tenant.organization.id, input);
  }

  /** The platform's providers, in creation order. */
  listGlobal(): Promise<readonly ProviderRecord[]> {
    return this.#database.providers.listVisible(NOBODY);
  }

  /** The platform's, also one of the environment. RequestError `not_found`, also for an organization's. */
  async getGlobal(id: string): Promise<ProviderRecord> {
    const provider = await this.#database.providers.findById(id);
    if (provider === undefined || provider.orgId !== null) throw noSuchProvider();
    return provider;
  }

  /** The provider that `createGlobal` would store, to be tried before. RequestError `invalid_request`. */
  async draftGlobal(input: ProviderInput): Promise<ProviderRecord> {
    return { ...(await this.#newProvider(null, input)), origin: "operator" };
  }

  /** For an operator. RequestError `invalid_request`; `name_taken`. */
  async createGlobal(input: ProviderInput, actor: AuditActor): Promise<ProviderRecord> {
    const provider = await this.draftGlobal(input);
    const auditRecord = this.#auditRecord(actor, "provider.create", provider);
    await this.#orNameTaken(this.#database.providers.insertGlobal(provider, auditRecord));
    return provider;
  }

  /** For an operator. RequestErrors as in `update`; `provider_read_only`: the provider comes from the environment. */
  updateGlobal(id: string, patch: ProviderPatch, actor: AuditActor): Promise<ProviderRecord> {
    return changeNewest({
      read: () => this.#getOperators(id),
      change: (provider) => this.#updateFrom(provider, actor, patch),
      notFound: noSuchProvider,
      recordName: "provider",
    });
  }

  /** For an operator. RequestErrors as in `remove`; `provider_read_only`: the provider comes from the environment. */
  async removeGlobal(id: string, actor: AuditActor): Promise<void> {
    await this.#remove(await this.#getOperators(id), actor);
  }

  /** RequestError `not_found`; `provider_read_only`: a global provider; `invalid_request`; `name_taken`. */
  async update(tenant: Tenant, id: string, patch: ProviderPatch): Promise<ProviderRecord> {
    return changeNewest({
      read: () => this.#getOwned(tenant, id),
      change: (provider) => this.#updateFrom(provider, actorOf(tenant), patch),
      notFound: noSuchProvider,
      recordName: "provider",
    });
  }

  /** Returns undefined if the stored provider has changed meanwhile. */
  async #updateFrom(
    provider: ProviderRecord,
    actor: AuditActor,
    patch: ProviderPatch,
  ): Promise<ProviderRecord | undefined> {
    const { id, orgId } = provider;
    const settings = mergedSettings(provider.settings, patch.settings);
    const entry = await this.#registryEntry(provider);
    const faults: FieldFault[] = [];
    if (patch.models !== undefined) faults.push(...modelFaults(patch.models));
    if (patch.settings !== undefined)
      faults.push(...this.#settingFaults(entry, settings, provider.orgId));
    if (patch.credentials !== undefined) {
      faults.push(...credentialFaults(entry, patch.credentials));
    }
    refuse(faults.length > 0 ? faults : keptCredentialFaults(provider, patch, settings));
    const changes = changedProviderFields(provider, patch, settings);
    const auditRecord = this.#auditRecord(actor, "provider.update", provider, changes);
    return this.#orNameTaken(
      this.#database.providers.update(
        id,
        orgId,
        {
          ...(patch.name === undefined ? {} : { name: patch.name }),
          ...(patch.active === undefined ? {} : { active: patch.active }),
          ...(patch.models === undefined ? {} : { models: patch.models }),
          ...(patch.settings === undefined ? {} : { settings }),
          ...(patch.credentials === undefined
            ? {}
            : { sealedCredentials: this.#sealed(patch.credentials) }),
        },
        nextVersionMs(provider, this.#clock),
        auditRecord,
        provider.updatedAtMs,
      ),
    );
  }

  /** RequestError `not_found`; `provider_read_only`: a global one; `provider_in_use` with the `agents` that use it. */
  async remove(tenant: Tenant, id: string): Promise<void> {
    await this.#remove(await this.#getOwned(tenant, id), actorOf(tenant));
  }

  async #remove(provider: ProviderRecord, actor: AuditActor): Promise<void> {
    const { id, orgId } = provider;
    const auditRecord = this.#auditRecord(actor, "provider.delete", provider);
    const outcome = await this.#database.providers.removeUnused(id, orgId, auditRecord);
    if (outcome === "removed") return;
    if (outcome === "notFound") throw noSuchProvider();
    const users = await this.#database.agents.listReferencing(id);
    const agents = users
      .filter((agent) => orgId === null || agent.orgId === orgId)
      .map((agent) => ({ _id: agent.id, name: agent.name }));
    const words =
      agents.length === 0
        ? "the knowledge of an organization is embedded with the provider"
        : "the provider is in use by agents";
    throw new RequestError("provider_in_use", words, { extra: { agents } });
  }

  async #newProvider(orgId: string | null, input: ProviderInput): Promise<ProviderRecord> {
    const entry = await this.#registryEntry(input);
    const settings = mergedSettings({}, input.settings);
    refuse([
      ...modelFaults(input.models),
      ...this.#settingFaults(entry, settings, orgId),
      ...credentialFaults(entry, input.credentials),
    ]);
    const nowMs = this.#clock.epochMs();
    return {
      id: this.#newId(),
      orgId,
      category: input.category,
      providerKey: input.providerKey,
      name: input.name,
      sealedCredentials: this.#sealed(input.credentials),
      models: input.models,
      settings,
      active: true,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
  }

  #auditRecord(
    actor: AuditActor,
    action: "provider.create" | "provider.update" | "provider.delete",
    { id, orgId, name }: ProviderRecord,
    changes: readonly string[] = [],
  ): AuditRecord {
    const target = { type: "provider", id, orgId, name } as const;
    const atMs = this.#clock.epochMs();
    return auditEntry({
      id: this.#newId(),
      atMs,
      actor,
      action,
      target,
      changes,
    });
  }

  /** An operator may use any address, as the environment may. */
  #settingFaults(
    entry: RegistryRecord,
    settings: JsonObject,
    orgId: string | null,
  ): readonly FieldFault[] {
    const faults = settingFaults(entry, settings);
    return this.#allowPrivateAddresses || orgId === null
      ? faults
      : [...faults, ...privateUrlFaults(settings)];
  }

  async #getOwned(tenant: Tenant, id: string): Promise<ProviderRecord> {
    const provider = await this.get(tenant, id);
    if (provider.orgId === null) {
      throw new RequestError(
        "provider_read_only",
        "only the platform can change a global provider",
      );
    }
    return provider;
  }

  async #getOperators(id: string): Promise<ProviderRecord> {
    const provider = await this.getGlobal(id);
    if (provider.origin === "operator") return provider;
    throw new RequestError(
      "provider_read_only",
      "this provider comes from the environment: change its variable and restart the server",
    );
  }

  async #registryEntry(
    wanted: Pick<ProviderRecord, "category" | "providerKey">,
  ): Promise<RegistryRecord> {
    const entries = await this.#database.registry.list();
    const inCategory = entries.filter((entry) => entry.category === wanted.category);
    const entry = inCategory.find((each) => each.providerKey === wanted.providerKey);
    if (entry === undefined) {
      const known = inCategory.map((each) => each.providerKey).join(", ");
      throw invalidFields([
        {
          path: "providerKey",
          message: `expected one of the ${wanted.category} vendors in the registry: ${known}`,
        },
      ]);
    }
    return entry;
  }

  async #orNameTaken<Result>(stored: Promise<Result>): Promise<Result> {
    try {
      return await stored;
    } catch (error) {
      if (!(error instanceof UniqueViolationError)) throw error;
      const message = "another provider of this vendor and category has this name already";
      throw invalidFields([{ path: "name", message }], "name_taken");
    }
  }

  #sealed(credentials: JsonObject | undefined): string | null {
    if (credentials === undefined || Object.keys(credentials).length === 0) return null;
    return this.#cipher.seal(credentials);
  }
}

function refuse(faults: readonly FieldFault[]): void {
  if (faults.length > 0) throw invalidFields(faults);
}

function noSuchProvider(): RequestError {
  return new RequestError("not_found", "there is no such provider");
}
