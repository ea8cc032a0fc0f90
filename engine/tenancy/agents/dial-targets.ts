import type { Database } from "../../../storage/database.js";
import type { OrganizationRecord } from "../../../storage/records.js";
import { UniqueViolationError } from "../../../storage/statements/unique-violation.js";
import type { AuditActor, AuditRecord } from "../../../storage/tenancy/audit-record.js";
import { RequestError } from "../../request-error.js";
import type { Clock } from "../../time/clock.js";
import { auditEntry, SERVER_ACTOR } from "../audit-entry.js";
import { canonicalEmail } from "../people/email-address.js";

/** A number in E.164, or its first digits. */
const NUMBER_BEGINNING = /^\+[1-9]\d{0,14}$/;
const SIP_ADDRESS = /^sips?:[^\s@<>"\p{Cc}]{1,128}@[^\s@<>"\p{Cc}]{1,128}$/u;

export interface DialTargetsOptions {
  readonly database: Pick<Database, "organizations" | "dialTargets">;
  readonly clock: Clock;
  readonly newId: () => string;
  /** The administrator's id, as in `OrganizationsOptions`. */
  readonly administratorId?: string;
}

export interface TargetsOfOrganization {
  readonly organization: OrganizationRecord;
  readonly targets: readonly string[];
}

/**
 * The numbers and SIP addresses that an organization's agents may call or transfer callers to. The platform's account
 * pays for the calls, so no target is allowed until the operator adds it.
 */
export class DialTargets {
  readonly #database: DialTargetsOptions["database"];
  readonly #clock: Clock;
  readonly #newId: () => string;
  readonly #administrator: AuditActor;

  constructor({ database, clock, newId, administratorId: id }: DialTargetsOptions) {
    this.#database = database;
    this.#clock = clock;
    this.#newId = newId;
    this.#administrator = id === undefined ? SERVER_ACTOR : { type: "administrator", id };
  }

  /** `target`: a number in E.164, allowed by a prefix, or a SIP address, which has to match exactly. */
  mayReach(orgId: string, target: string): Promise<boolean> {
    const isNumber = target.startsWith("+");
    const allowing = isNumber
      ? Array.from({ length: target.length - 1 }, (_, index) => target.slice(0, index + 2))
      : [target];
    return this.#database.dialTargets.hasAny(orgId, allowing);
  }

  /** Returns the number prefixes and SIP addresses that the organization's agents may call, in ascending order. */
  listOf(orgId: string): Promise<readonly string[]> {
    return this.#database.dialTargets.listOf(orgId);
  }

  /**
   * For the platform's administrator. Resolves with false if the target was allowed already. RequestError
   * `invalid_request`: the target is neither a number, nor a prefix of one, nor a SIP address; `not_found`: no
   * organization has an owner with this e-mail.
   */
  async allow(ownerEmail: string, target: string): Promise<boolean> {
    requireTarget(target);
    const organization = await this.#findOwned(ownerEmail);
    const entry = this.#entry("organization.allowNumber", organization);
    const record = { orgId: organization.id, target, createdAtMs: entry.atMs };
    try {
      await this.#database.dialTargets.insert(record, entry);
      return true;
    } catch (error) {
      if (error instanceof UniqueViolationError) return false;
      throw error;
    }
  }

  /**
   * For the platform's administrator. Calls in progress continue. RequestErrors as in `allow`; `not_found` also if the
   * organization has no such target.
   */
  async revoke(ownerEmail: string, target: string): Promise<void> {
    requireTarget(target);
    const organization = await this.#findOwned(ownerEmail);
    const entry = this.#entry("organization.revokeNumber", organization);
    const isRemoved = await this.#database.dialTargets.remove(organization.id, target, entry);
    if (!isRemoved) throw new RequestError("not_found", "the organization has no such target");
  }

  /** For the platform's administrator: every organization with at least one allowed target. */
  async list(): Promise<readonly TargetsOfOrganization[]> {
    const [records, organizations] = await Promise.all([
      this.#database.dialTargets.list(),
      this.#database.organizations.list(),
    ]);
    return organizations.flatMap(({ organization }) => {
      const own = records.filter(({ orgId }) => orgId === organization.id);
      const targets = own.map(({ target }) => target);
      return targets.length === 0 ? [] : [{ organization, targets }];
    });
  }

  #entry(
    action: "organization.allowNumber" | "organization.revokeNumber",
    { id, name }: OrganizationRecord,
  ): AuditRecord {
    const target = { type: "organization", id, orgId: id, name } as const;
    const made = { id: this.#newId(), atMs: this.#clock.epochMs(), actor: this.#administrator };
    return auditEntry({ ...made, action, target, changes: ["dialTargets"] });
  }

  async #findOwned(ownerEmail: string): Promise<OrganizationRecord> {
    const email = canonicalEmail(ownerEmail);
    const organization = await this.#database.organizations.findByOwnerEmail(email);
    if (organization !== undefined) return organization;
    throw new RequestError("not_found", "no organization has an owner with this e-mail");
  }
}

function requireTarget(target: string): void {
  if (NUMBER_BEGINNING.test(target) || SIP_ADDRESS.test(target)) return;
  const expected = "a number such as +15550101000, its beginning such as +49, or sip:desk@a.org";
  throw new RequestError("invalid_request", `target: expected ${expected}`);
}
