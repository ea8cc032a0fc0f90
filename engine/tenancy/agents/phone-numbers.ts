import type { Database } from "../../../storage/database.js";
import type {
  OrganizationRecord,
  PhoneNumberRecord,
  TelephonyAccountRecord,
} from "../../../storage/records.js";
import { UniqueViolationError } from "../../../storage/statements/unique-violation.js";
import type { AuditActor, AuditRecord } from "../../../storage/tenancy/audit-record.js";
import { invalidFields, RequestError } from "../../request-error.js";
import type { Clock } from "../../time/clock.js";
import { actorOf, auditEntry, SERVER_ACTOR } from "../audit-entry.js";
import { canonicalEmail } from "../people/email-address.js";
import type { Tenant } from "../tenant.js";
import { calledNumber } from "./called-number.js";

export interface PhoneNumbersOptions {
  readonly database: Pick<
    Database,
    "agents" | "organizations" | "phoneNumbers" | "telephonyAccounts"
  >;
  readonly clock: Clock;
  readonly newId: () => string;
  /** The administrator's id, as in `OrganizationsOptions`. */
  readonly administratorId?: string;
}

export interface NumberOfOrganization extends PhoneNumberRecord {
  readonly organization: OrganizationRecord;
  /** The name of the agent that answers; undefined if the first active agent answers. */
  readonly agentName: string | undefined;
}

/** These vendors write E.164 without the plus. */
const VENDORS_WITHOUT_PLUS: ReadonlySet<string> = new Set(["plivo", "vonage"]);

/**
 * Which organization owns which number. Calls to the number reach the organization, and its agents may call from it.
 * The numbers belong to the platform's account at the vendor, which would let any organization call from any of them,
 * so the operator assigns each number to an organization.
 */
export class PhoneNumbers {
  readonly #database: PhoneNumbersOptions["database"];
  readonly #clock: Clock;
  readonly #newId: () => string;
  readonly #administrator: AuditActor;

  constructor({ database, clock, newId, administratorId: id }: PhoneNumbersOptions) {
    this.#database = database;
    this.#clock = clock;
    this.#newId = newId;
    this.#administrator = id === undefined ? SERVER_ACTOR : { type: "administrator", id };
  }

  /** `number`: in E.164. */
  isAllowed(orgId: string, number: string): Promise<boolean> {
    return this.#database.phoneNumbers.belongsTo(orgId, number);
  }

  /** Returns the numbers that the organization's agents may call from, in ascending order. */
  async listOf(orgId: string): Promise<readonly string[]> {
    const numbers = await this.#database.phoneNumbers.listOf(orgId);
    // A SIP address cannot be a caller id.
    return numbers.map(({ number }) => number).filter((number) => number.startsWith("+"));
  }

  /** Returns the organization's numbers with the agents that answer them, in ascending order. */
  recordsOf(orgId: string): Promise<readonly PhoneNumberRecord[]> {
    return this.#database.phoneNumbers.listOf(orgId);
  }

  /** Finds the number that a vendor's webhook names. Returns undefined if the number belongs to no organization. */
  async findCalled(to: string, vendor: string): Promise<PhoneNumberRecord | undefined> {
    const number = calledNumber(to);
    if (number === undefined) return undefined;
    const found = await this.#database.phoneNumbers.find(number);
    if (found === undefined || found.vendor === vendor) return found;
    // Digits without a plus may be a national number, so they match only a number assigned with this vendor.
    const isWhole = /^(?:\+|sips?:)/i.test(to) || VENDORS_WITHOUT_PLUS.has(vendor);
    return found.vendor === null && isWhole ? found : undefined;
  }

  /**
   * The vendor of the organization's own account that carries calls from this number. RequestError `invalid_request`:
   * the account is deleted, and no other account may replace it.
   */
  async ownVendorOf(orgId: string, number: string): Promise<string | undefined> {
    const vendor = await this.#database.phoneNumbers.ownVendorOf(orgId, number);
    if (vendor !== null) return vendor;
    const message = "expected a number whose telephony account is not deleted";
    throw invalidFields([{ path: "from", message }]);
  }

  /**
   * Sets which agent answers the number (null: the first active one), and which account carries its calls (null: the
   * installation's). Only admins of the organization may choose the account, since it pays for the calls.
   * RequestError `not_found`, `admin_required`, `agent_not_found`, `invalid_request`.
   */
  async assign(
    tenant: Tenant,
    number: string,
    change: { readonly agentId: string | null; readonly accountId?: string | null | undefined },
    isAdmin = false,
  ): Promise<PhoneNumberRecord> {
    const found = await this.#requireOwn(tenant, number);
    if (change.accountId !== undefined && !isAdmin) {
      const message = "accountId: only signed-in admins of the organization may change it";
      throw new RequestError("admin_required", message);
    }
    const { orgId } = found;
    const { agentId, accountId = found.accountId } = change;
    await this.#requireAgent(orgId, agentId);
    if (accountId !== found.accountId) await this.#requireAccount(found, accountId);
    const entry = this.#entryOf(tenant, "organization.assignNumber");
    const { phoneNumbers } = this.#database;
    if (!(await phoneNumbers.update({ number, orgId, agentId, accountId }, entry))) {
      if (accountId !== null) await this.#requireAccount(found, accountId);
      throw noSuchNumber();
    }
    return { ...found, agentId, accountId };
  }

  /**
   * Imports a number that the organization's own account lists. If the organization has the number already and no agent
   * is named, the number keeps its agent.
   * RequestError `agent_not_found`, `number_taken`, `not_found`: the account is deleted.
   */
  async importFrom(
    tenant: Tenant,
    { id: accountId, vendor }: Pick<TelephonyAccountRecord, "id" | "vendor">,
    number: string,
    agentId: string | null,
  ): Promise<PhoneNumberRecord> {
    const orgId = tenant.organization.id;
    const { phoneNumbers } = this.#database;
    await this.#requireAgent(orgId, agentId);
    const entry = this.#entryOf(tenant, "organization.importNumber");
    const { atMs: createdAtMs } = entry;
    const record = { number, orgId, createdAtMs, vendor, agentId, accountId };
    const imported: PhoneNumberRecord = { ...record, importedAtMs: createdAtMs };
    try {
      if (await phoneNumbers.insert(imported, entry)) return imported;
    } catch (error) {
      if (!(error instanceof UniqueViolationError)) throw error;
      const found = await phoneNumbers.find(number);
      if (found?.orgId !== orgId) throw takenNumber(error);
      // The API lets only admins import numbers.
      const change = { agentId: agentId ?? found.agentId, accountId };
      return this.assign(tenant, number, change, true);
    }
    throw new RequestError("not_found", "the telephony account is deleted");
  }

  /** Removes a number imported from an account. RequestError `not_found`; `conflict`: the operator assigned it. */
  async release(tenant: Tenant, number: string): Promise<void> {
    const { orgId, importedAtMs } = await this.#requireOwn(tenant, number);
    if (importedAtMs === null) {
      const message = "the platform's operator has assigned this number and has to revoke it";
      throw new RequestError("conflict", message);
    }
    const entry = this.#entryOf(tenant, "organization.releaseNumber");
    await this.#database.phoneNumbers.remove(orgId, number, entry);
  }

  /**
   * For the platform's administrator. `isNew` is false if the number was allowed already. `vendor`: only this vendor's
   * webhooks may name the number; default: any vendor's. RequestError `invalid_request`: neither a number in E.164 nor
   * a SIP address; `not_found`: no organization has an owner with this e-mail; `conflict`: the number has another
   * vendor; `number_taken`: it belongs to another organization.
   */
  async allow(
    ownerEmail: string,
    written: string,
    vendor?: string,
  ): Promise<{ readonly organization: OrganizationRecord; readonly isNew: boolean }> {
    const number = requireNumber(written);
    const organization = await this.#findOwned(ownerEmail);
    const entry = this.#entry("organization.allowNumber", organization);
    try {
      const { id: orgId } = organization;
      const createdAtMs = entry.atMs;
      const none = { agentId: null, accountId: null, importedAtMs: null };
      const record = { number, orgId, createdAtMs, vendor: vendor ?? null, ...none };
      await this.#database.phoneNumbers.insert(record, entry);
      return { organization, isNew: true };
    } catch (error) {
      if (!(error instanceof UniqueViolationError)) throw error;
      const found = await this.#database.phoneNumbers.find(number);
      if (found?.orgId === organization.id) {
        if (vendor === undefined || vendor === found.vendor) return { organization, isNew: false };
        const message = `the number already has ${found.vendor === null ? "no vendor" : `the vendor ${found.vendor}`}: revoke it first`;
        throw new RequestError("conflict", message);
      }
      throw takenNumber(error);
    }
  }

  /** For the platform's administrator. Calls in progress continue. RequestError `not_found`: it is not assigned. */
  async revoke(written: string): Promise<OrganizationRecord> {
    const number = requireNumber(written);
    const found = await this.#database.phoneNumbers.find(number);
    const organization = found && (await this.#database.organizations.findById(found.orgId));
    if (organization === undefined) {
      throw new RequestError("not_found", "no organization may call from this number");
    }
    const entry = this.#entry("organization.revokeNumber", organization);
    await this.#database.phoneNumbers.remove(organization.id, number, entry);
    return organization;
  }

  /** For the platform's administrator: all numbers in ascending order. */
  async list(): Promise<readonly NumberOfOrganization[]> {
    const [numbers, organizations] = await Promise.all([
      this.#database.phoneNumbers.list(),
      this.#database.organizations.list(),
    ]);
    const byId = new Map(organizations.map(({ organization }) => [organization.id, organization]));
    const named = numbers.map(async (record): Promise<readonly NumberOfOrganization[]> => {
      const organization = byId.get(record.orgId);
      if (organization === undefined) return [];
      const { orgId, agentId } = record;
      const agent =
        agentId === null ? undefined : await this.#database.agents.findById(orgId, agentId);
      return [{ ...record, organization, agentName: agent?.name }];
    });
    return (await Promise.all(named)).flat();
  }

  #entry(
    action: "organization.allowNumber" | "organization.revokeNumber",
    { id, name }: OrganizationRecord,
  ): AuditRecord {
    const target = { type: "organization", id, orgId: id, name } as const;
    const atMs = this.#clock.epochMs();
    const changes = ["phoneNumbers"];
    const actor = this.#administrator;
    return auditEntry({ id: this.#newId(), atMs, actor, action, target, changes });
  }

  #entryOf(
    tenant: Tenant,
    action:
      | "organization.assignNumber"
      | "organization.importNumber"
      | "organization.releaseNumber",
  ): AuditRecord {
    const { id, name } = tenant.organization;
    return auditEntry({
      id: this.#newId(),
      atMs: this.#clock.epochMs(),
      actor: actorOf(tenant),
      action,
      target: { type: "organization", id, orgId: id, name },
      changes: ["phoneNumbers"],
    });
  }

  async #requireOwn({ organization }: Tenant, number: string): Promise<PhoneNumberRecord> {
    const found = await this.#database.phoneNumbers.find(number);
    if (found?.orgId !== organization.id) throw noSuchNumber();
    return found;
  }

  async #requireAgent(orgId: string, agentId: string | null): Promise<void> {
    const { agents } = this.#database;
    if (agentId !== null && (await agents.findById(orgId, agentId)) === undefined) {
      throw new RequestError("agent_not_found", "agentId: expected an agent of the organization");
    }
  }

  async #requireAccount(
    { orgId, vendor, importedAtMs }: PhoneNumberRecord,
    accountId: string | null,
  ): Promise<void> {
    if (accountId === null) {
      if (importedAtMs === null) return;
      throw wrongAccount("expected the account that the number came from");
    }
    const account = await this.#database.telephonyAccounts.findById(accountId);
    if (account?.orgId !== orgId) throw wrongAccount("expected an account of the organization");
    if (vendor !== null && vendor !== account.vendor) {
      throw wrongAccount(`expected an account at ${vendor}, the number's vendor`);
    }
  }

  async #findOwned(ownerEmail: string): Promise<OrganizationRecord> {
    const email = canonicalEmail(ownerEmail);
    const organization = await this.#database.organizations.findByOwnerEmail(email);
    if (organization !== undefined) return organization;
    throw new RequestError("not_found", "no organization has an owner with this e-mail");
  }
}

function requireNumber(written: string): string {
  // Digits without a plus could be a national number.
  const number = /^(?:\+|sip)/i.test(written) ? calledNumber(written) : undefined;
  if (number !== undefined) return number;
  const expected = "a number in E.164 such as +15550101000, or an address such as sip:desk@a.org";
  throw new RequestError("invalid_request", `number: expected ${expected}`);
}

function noSuchNumber(): RequestError {
  return new RequestError("not_found", "the organization has no such number");
}

function wrongAccount(message: string): RequestError {
  return invalidFields([{ path: "accountId", message }]);
}

function takenNumber(cause: unknown): RequestError {
  const message = "the number belongs to another organization: revoke it there first";
  return new RequestError("number_taken", message, { cause });
}
