import type { Database } from "../../../storage/database.js";
import type { OrganizationRecord, UserRecord } from "../../../storage/records.js";
import { UniqueViolationError } from "../../../storage/statements/unique-violation.js";
import type { AuditActor } from "../../../storage/tenancy/audit-record.js";
import { invalidFields, RequestError } from "../../request-error.js";
import type { AccessTokens } from "../../security/access-token.js";
import {
  hashPassword,
  matchPassword,
  passwordMark,
  verifyPassword,
} from "../../security/password.js";
import type { Clock } from "../../time/clock.js";
import { auditEntry } from "../audit-entry.js";
import { ReadCache } from "../read-cache.js";
import { ALL_SCOPES, type Tenant } from "../tenant.js";
import { canonicalEmail } from "./email-address.js";

const DEFAULT_ORGANIZATION_NAME = "Organization";
const SIGN_UP_PLAN_SLUG = "free";
/** Users cached for about a second, with their organizations and plans: about 2 kB each. */
const KEPT_MAX = 2_000;

/** Checked for unknown e-mails, so that they take as long as known ones. Nobody knows the password. */
const NOBODYS_PASSWORD_HASH =
  "f6be43f442f0ff4b2d29c7735405fff1:" +
  "68b63e95aa345a3daa6ed58026b83b8dc1924acd91d444804f63007f1baecd0c" +
  "35a718cd7754407abfb532fe761bc353c9faab5a2f47c890b9be08dc5dbb57f5";

export interface SignUp {
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly orgName?: string | undefined;
}

export interface PasswordChange {
  /** The current password. */
  readonly password: string;
  readonly newPassword: string;
}

export interface NewOwner extends SignUp {
  readonly status: OrganizationRecord["status"];
  readonly planSlug: string;
}

export interface Account {
  readonly user: UserRecord;
  readonly organization: OrganizationRecord;
}

export interface SignedIn extends Account {
  readonly token: string;
}

export interface AccountsOptions {
  readonly database: Pick<Database, "organizations" | "plans" | "users" | "recordChanges">;
  readonly tokens: AccessTokens;
  readonly clock: Clock;
  readonly newId: () => string;
}

interface KnownUser {
  readonly tenant: Tenant;
  readonly user: UserRecord;
  readonly passwordMark: string;
}

/** Users, their passwords and their access tokens. */
export class Accounts {
  readonly #database: AccountsOptions["database"];
  readonly #tokens: AccessTokens;
  readonly #clock: Clock;
  readonly #newId: () => string;
  readonly #known: ReadCache<KnownUser>;

  constructor({ database, tokens, clock, newId }: AccountsOptions) {
    this.#database = database;
    this.#tokens = tokens;
    this.#clock = clock;
    this.#newId = newId;
    this.#known = new ReadCache({ changes: database.recordChanges, clock, entriesMax: KEPT_MAX });
  }

  /** Creates a pending organization on the free plan with its first user. RequestError `email_taken`. */
  async signUp(signUp: SignUp): Promise<SignedIn> {
    const account = await this.createOwner({
      ...signUp,
      status: "pending",
      planSlug: SIGN_UP_PLAN_SLUG,
    });
    return { ...account, token: await this.#issueToken(account.user) };
  }

  /**
   * Creates an organization and its owner in one transaction. RequestError `email_taken`, `plan_not_found`.
   * `actor`: who makes them, for the audit trail; default: the owner.
   */
  async createOwner(owner: NewOwner, actor?: AuditActor): Promise<Account> {
    const plan = await this.#database.plans.findBySlug(owner.planSlug);
    if (plan === undefined)
      throw new RequestError("plan_not_found", `there is no plan "${owner.planSlug}"`);
    const email = canonicalEmail(owner.email);
    const passwordHash = await hashPassword(owner.password);
    const nowMs = this.#clock.epochMs();
    const organization: OrganizationRecord = {
      id: this.#newId(),
      name: owner.orgName ?? DEFAULT_ORGANIZATION_NAME,
      planId: plan.id,
      status: owner.status,
      ownerEmail: email,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    const user: UserRecord = {
      id: this.#newId(),
      orgId: organization.id,
      email,
      passwordHash,
      name: owner.name,
      role: "admin",
      isOperator: false,
      createdAtMs: nowMs,
    };
    const entry = auditEntry({
      id: this.#newId(),
      atMs: nowMs,
      actor: actor ?? { type: "user", id: user.id },
      action: "organization.create",
      target: {
        type: "organization",
        id: organization.id,
        orgId: organization.id,
        name: organization.name,
      },
    });
    try {
      await this.#database.organizations.insertWithOwner(organization, user, entry);
    } catch (error) {
      if (error instanceof UniqueViolationError) throw emailTaken();
      throw error;
    }
    return { user, organization };
  }

  /** RequestError `wrong_credentials` for an unknown e-mail and for a wrong password, after the same time. */
  async signIn({ email, password }: Pick<SignUp, "email" | "password">): Promise<SignedIn> {
    const user = await this.#database.users.findByEmail(canonicalEmail(email));
    const match = await matchPassword(password, user?.passwordHash ?? NOBODYS_PASSWORD_HASH);
    if (user === undefined || match === undefined) {
      throw new RequestError("wrong_credentials", "the e-mail or the password is wrong");
    }
    const organization = await this.#database.organizations.findById(user.orgId);
    if (organization === undefined) throw new Error(`user ${user.id} has no organization`);
    const signedIn = match === "otherForm" ? await this.#normalizePassword(user, password) : user;
    return { user: signedIn, organization, token: await this.#issueToken(signedIn) };
  }

  /** As after every change of the hash, earlier tokens of the user become invalid. */
  async #normalizePassword(user: UserRecord, password: string): Promise<UserRecord> {
    const passwordHash = await hashPassword(password);
    const isReplaced = await this.#database.users.replacePassword(user, passwordHash);
    return isReplaced ? { ...user, passwordHash } : user;
  }

  /** Returns a new token; tokens from earlier sign-ins become invalid. RequestError `wrong_password`. */
  async changePassword(user: UserRecord, change: PasswordChange): Promise<string> {
    if (!(await verifyPassword(change.password, user.passwordHash))) throw wrongPassword();
    const { id, orgId, name } = user;
    const entry = auditEntry({
      id: this.#newId(),
      atMs: this.#clock.epochMs(),
      actor: { type: "user", id },
      action: "member.update",
      target: { type: "member", id, orgId, name },
      changes: ["password"],
    });
    const newHash = await hashPassword(change.newPassword);
    const isReplaced = await this.#database.users.replacePassword(user, newHash, entry);
    if (!isReplaced) throw wrongPassword();
    return this.#issueToken({ ...user, passwordHash: newHash });
  }

  async currentAccount(userId: string): Promise<Account | undefined> {
    const user = await this.#database.users.findById(userId);
    if (user === undefined) return undefined;
    const organization = await this.#database.organizations.findById(user.orgId);
    return organization === undefined ? undefined : { user, organization };
  }

  /**
   * Returns undefined if the token is not ours, has expired, or its user is deleted or has changed the password. Also
   * returns users of pending organizations.
   */
  async authenticateUser(token: string): Promise<KnownUser | undefined> {
    const claims = await this.#tokens.verify(token);
    if (claims === undefined) return undefined;
    const { userId, orgId, passwordMark: mark } = claims;
    const known = await this.#known.get(userId, () => this.#find(userId));
    if (known?.user.orgId !== orgId) return undefined;
    return mark === undefined || mark === known.passwordMark ? known : undefined;
  }

  async #find(userId: string): Promise<KnownUser | undefined> {
    const found = await this.#database.users.findWithOwner(userId);
    if (found === undefined) return undefined;
    const { user, organization, plan } = found;
    const tenant = { organization, plan, userId: user.id, apiKeyId: undefined, scopes: ALL_SCOPES };
    return { tenant, user, passwordMark: passwordMark(user.passwordHash) };
  }

  #issueToken({ id, orgId, email, passwordHash }: UserRecord): Promise<string> {
    const mark = passwordMark(passwordHash);
    return this.#tokens.issue({ userId: id, orgId, email, passwordMark: mark });
  }
}

export function emailTaken(): RequestError {
  return invalidFields(
    [{ path: "email", message: "an account with this e-mail already exists" }],
    "email_taken",
  );
}

function wrongPassword(): RequestError {
  return invalidFields(
    [{ path: "password", message: "this is not the current password" }],
    "wrong_password",
  );
}
