import type { Database } from "../../../storage/database.js";
import type { OrganizationRecord, PhoneNumberRecord } from "../../../storage/records.js";
import { UniqueViolationError } from "../../../storage/statements/unique-violation.js";
import type { AuditActor, AuditRecord } from "../../../storage/tenancy/audit-record.js";
import { RequestError } from "../../request-error.js";
import type { Clock } from "../../time/clock.js";
import { auditEntry, SERVER_ACTOR } from "../audit-entry.js";
import { canonicalEmail } from "../people/email-address.js";

const E164 = /^\+[1-9]\d{6,14}$/;

export interface PhoneNumbersOptions {
  readonly database: Pick<Database, "organizations" | "phoneNumbers">;
  readonly clock: Clock;
  readonly newId: () => string;
  /** The administrator's id, as in `OrganizationsOptions`. */
  readonly administratorId?: string;
}

export interface NumberOfOrganization extends PhoneNumberRecord {
  readonly organization: OrganizationRecord;
}

/**
 * From which numbers the agents of which organization may call. All of them are numbers of the platform's account at the
 * vendor, which itself would let any customer call in the name of any other.
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

  /** `number` in E.164. */
  isAllowed(orgId: string, number: string): Promise<boolean> {
    return this.#database.phoneNumbers.belongsTo(orgId, number);
  }

  /** From which numbers its agents may call, in ascending order. */
  listOf(orgId: string): Promise<readonly string[]> {
    return this.#database.phoneNumbers.listOf(orgId);
  }

  /**
   * For the platform's administrator. Resolves with false when it was allowed already. RequestError `invalid_request`: no number in E.164;
   * `not_found`: no organization has an owner with this e-mail; `conflict`: it is another organization's.
   */
  async allow(
    ownerEmail: string,
    number: string,
  ): Promise<{ readonly organization: OrganizationRecord; readonly isNew: boolean }> {
    requireE164(number);
    const organization = await this.#findOwned(ownerEmail);
    const entry = this.#entry("organization.allowNumber", organization);
    try {
      const { id: orgId } = organization;
      const record = { number, orgId, createdAtMs: entry.atMs };
      await this.#database.phoneNumbers.insert(record, entry);
      return { organization, isNew: true };
    } catch (error) {
      if (!(error instanceof UniqueViolationError)) throw error;
      if (await this.isAllowed(organization.id, number)) return { organization, isNew: false };
      throw new RequestError(
        "number_taken",
        "the number belongs to another organization: revoke it there first",
        {
          cause: error,
        },
      );
    }
  }

  /** For the platform's administrator; calls in progress finish. RequestError `not_found`: no organization has it. */
  async revoke(number: string): Promise<OrganizationRecord> {
    requireE164(number);
    const found = await this.#database.phoneNumbers.find(number);
    const organization = found && (await this.#database.organizations.findById(found.orgId));
    if (organization === undefined) {
      throw new RequestError("not_found", "no organization may call from this number");
    }
    const entry = this.#entry("organization.revokeNumber", organization);
    await this.#database.phoneNumbers.remove(organization.id, number, entry);
    return organization;
  }

  /** For the platform's administrator: all of them, in the order of the numbers. */
  async list(): Promise<readonly NumberOfOrganization[]> {
    const [numbers, organizations] = await Promise.all([
      this.#database.phoneNumbers.list(),
      this.#database.organizations.list(),
    ]);
    const byId = new Map(organizations.map(({ organization }) => [organization.id, organization]));
    return numbers.flatMap((record) => {
      const organization = byId.get(record.orgId);
      return organization === undefined ? [] : [{ ...record, organization }];
    });
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

  async #findOwned(ownerEmail: string): Promise<OrganizationRecord> {
    const email = canonicalEmail(ownerEmail);
    const organization = await this.#database.organizations.findByOwnerEmail(email);
    if (organization !== undefined) return organization;
    throw new RequestError("not_found", "no organization has an owner with this e-mail");
  }
}

function requireE164(number: string): void {
  if (E164.test(number)) return;
  throw new RequestError("invalid_request", "number: expected E.164, for example +15550101000");
}
