import type { Database } from "../../storage/database.js";
import type {
  JsonObject,
  PhoneNumberRecord,
  TelephonyAccountRecord,
} from "../../storage/records.js";
import { UniqueViolationError } from "../../storage/statements/unique-violation.js";
import type { AuditRecord } from "../../storage/tenancy/audit-record.js";
import type { Logger } from "../log.js";
import { type FieldFault, invalidFields, RequestError } from "../request-error.js";
import type { CredentialCipher } from "../security/credential-cipher.js";
import type { AccountField, AccountForm, AccountValues } from "../telephony/account-form.js";
import type { AccountNumber, AccountNumbersApi } from "../telephony/account-numbers.js";
import type { CallAccount, CallControlApi, CallControlApis } from "../telephony/call-control.js";
import { ACCOUNT_VENDORS, callControlApis, phoneVendor } from "../telephony/phone-vendors.js";
import type { CallControlSettings, WebhookKeys } from "../telephony/telephony-settings.js";
import type { PhoneNumbers } from "../tenancy/agents/phone-numbers.js";
import { actorOf, auditEntry } from "../tenancy/audit-entry.js";
import { changeNewest, nextVersionMs } from "../tenancy/next-version.js";
import { vendorWords } from "../tenancy/providers/vendor-words.js";
import type { Tenant } from "../tenancy/tenant.js";
import type { Clock } from "../time/clock.js";
import { VendorError } from "../vendors/contracts.js";
import {
  namesPrivateHost,
  PUBLIC_ADDRESS_EXPECTED,
} from "../vendors/transport/private-addresses.js";
import type { VendorContext } from "../vendors/vendor-settings.js";

const RETRY_AFTER_SEC = 10;
const UNREADABLE_CREDENTIALS = "the stored credentials cannot be read any more: enter them again";

/** Where an account's webhooks come, below the server's address. */
export function accountWebhookPath({
  id,
  vendor,
}: Pick<TelephonyAccountRecord, "id" | "vendor">): string {
  return `/api/telephony/voice?vendor=${vendor}&account=${id}`;
}

export type TextValues = Readonly<Record<string, string | null>>;

export interface AccountInput {
  readonly vendor: string;
  readonly name: string;
  readonly settings?: TextValues | undefined;
  readonly credentials?: TextValues | undefined;
}

/** Settings and credentials merge key by key, and a null removes one. */
export interface AccountChange extends Pick<AccountInput, "settings" | "credentials"> {
  readonly name?: string | undefined;
}

export type AccountTest =
  | { readonly ok: true; readonly latencyMs: number }
  | { readonly ok: false; readonly latencyMs: number; readonly error: string };

/** A number of the account, and what the organization has made of it here. */
export interface ListedNumber extends AccountNumber {
  readonly isImported: boolean;
}

export interface ImportInput {
  readonly number: string;
  readonly agentId: string | null;
  readonly setWebhook: boolean;
}

export interface TelephonyAccountsOptions {
  readonly database: Pick<Database, "telephonyAccounts" | "phoneNumbers">;
  readonly phoneNumbers: Pick<PhoneNumbers, "importFrom">;
  readonly cipher: CredentialCipher;
  /** The installation's own accounts, with the vendors' addresses. */
  readonly settings: CallControlSettings;
  readonly context: VendorContext;
  /** This server's address as vendors reach it; undefined where they cannot. */
  readonly baseUrl: () => string | undefined;
  readonly allowPrivateAddresses: boolean;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly log: Logger;
}

/** Accounts at telephony vendors: the installation's, and those of organizations, one for each vendor. */
export class TelephonyAccounts implements CallControlApis {
  readonly #options: TelephonyAccountsOptions;
  readonly #installation: Readonly<Record<string, CallControlApi | undefined>>;

  constructor(options: TelephonyAccountsOptions) {
    this.#options = options;
    this.#installation = callControlApis(options.settings, options.context);
  }

  /** Rejects when the account's credentials cannot be opened, or the database is away. */
  async of({ vendor, orgId, ownAccount }: CallAccount): Promise<CallControlApi | undefined> {
    if (ownAccount !== true) return this.#installation[vendor];
    const account = await this.#options.database.telephonyAccounts.findByVendor(orgId, vendor);
    return account && this.#apiOf(account);
  }

  /** What the vendor signs requests about the account's calls with; nothing where it does not sign, or the account is gone. */
  async webhookKeysOf({ vendor, orgId }: CallAccount): Promise<Partial<WebhookKeys>> {
    const account = await this.#options.database.telephonyAccounts.findByVendor(orgId, vendor);
    if (account === undefined) return {};
    return phoneVendor(vendor)?.account?.webhookKeys?.(this.#valuesOf(account)) ?? {};
  }

  /** The account that a webhook's address names; undefined for one that is not there or at another vendor. */
  async named(id: string, vendor: string): Promise<TelephonyAccountRecord | undefined> {
    const account = await this.#options.database.telephonyAccounts.findById(id);
    return account?.vendor === vendor ? account : undefined;
  }

  list(tenant: Tenant): Promise<readonly TelephonyAccountRecord[]> {
    return this.#options.database.telephonyAccounts.list(tenant.organization.id);
  }

  /** RequestError `not_found`, also for another organization's. */
  async get({ organization }: Tenant, id: string): Promise<TelephonyAccountRecord> {
    const account = await this.#options.database.telephonyAccounts.findById(id);
    if (account?.orgId !== organization.id) throw noSuchAccount();
    return account;
  }

  /** The names of the credentials that are stored, whose values are never shown; none where they cannot be opened. */
  credentialNames(account: TelephonyAccountRecord): readonly string[] {
    const values = this.#openedValuesOf(account) ?? {};
    return formOf(account.vendor)
      .fields.filter(({ isSecret, name }) => isSecret && values[name] !== undefined)
      .map(({ name }) => name);
  }

  /** RequestError `invalid_request`; `conflict`: the organization has an account at that vendor. */
  async create(tenant: Tenant, input: AccountInput): Promise<TelephonyAccountRecord> {
    const { database, clock, newId } = this.#options;
    const { vendor, name } = input;
    const values = merged(merged({}, input.settings), input.credentials);
    this.#requireValues(formOf(vendor), values, input);
    const nowMs = clock.epochMs();
    const account: TelephonyAccountRecord = {
      id: newId(),
      orgId: tenant.organization.id,
      vendor,
      name,
      ...this.#stored(formOf(vendor), values),
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    const entry = this.#entry(tenant, "telephonyAccount.create", account);
    try {
      await database.telephonyAccounts.insert(account, entry);
    } catch (error) {
      if (!(error instanceof UniqueViolationError)) throw error;
      const message = `the organization has an account at ${vendor} already`;
      throw new RequestError("conflict", message, { cause: error });
    }
    return account;
  }

  /**
   * Credentials that cannot be opened have to be given again. RequestError `not_found`, `invalid_request`: also where a new
   * address would get the stored credentials.
   */
  update(tenant: Tenant, id: string, change: AccountChange): Promise<TelephonyAccountRecord> {
    return changeNewest({
      read: () => this.get(tenant, id),
      change: (known) => this.#updateFrom(tenant, known, change),
      notFound: noSuchAccount,
      recordName: "telephony account",
    });
  }

  /** With the numbers that came from it; calls in progress finish. RequestError `not_found`. */
  async remove(tenant: Tenant, id: string): Promise<void> {
    const account = await this.get(tenant, id);
    const entry = this.#entry(tenant, "telephonyAccount.delete", account);
    await this.#options.database.telephonyAccounts.remove(account.orgId, id, entry);
  }

  /** Tries the account with a request that changes nothing. Every answer of the vendor is a result. */
  async test(tenant: Tenant, id: string): Promise<AccountTest> {
    const { clock } = this.#options;
    const account = await this.get(tenant, id);
    const values = this.#openedValuesOf(account);
    if (values === undefined) return { ok: false, latencyMs: 0, error: UNREADABLE_CREDENTIALS };
    const api = this.#apiOf(account, values);
    const startedMs = clock.monotonicMs();
    const latencyMs = () => Math.round(clock.monotonicMs() - startedMs);
    if (api === undefined) return { ok: false, latencyMs: 0, error: "the account is not complete" };
    try {
      await api.verify();
      return { ok: true, latencyMs: latencyMs() };
    } catch (error) {
      if (!(error instanceof VendorError)) throw error;
      return { ok: false, latencyMs: latencyMs(), error: vendorWords(error, true) };
    }
  }

  /** Whether the vendor's API lists the account's numbers, and proves whose they are. */
  canImport(account: TelephonyAccountRecord): boolean {
    const { provesNumbers = false, importsWith = [] } = phoneVendor(account.vendor)?.account ?? {};
    const names = new Set([...Object.keys(account.settings), ...this.credentialNames(account)]);
    return provesNumbers && importsWith.every((name) => names.has(name));
  }

  /** RequestError `not_found`; `invalid_request`: numbers of this account cannot be imported; `telephony_unavailable`. */
  async numbers(tenant: Tenant, id: string): Promise<readonly ListedNumber[]> {
    const account = await this.get(tenant, id);
    const [listed, known] = await Promise.all([
      this.#atVendor(account, () => this.#numbersApi(account).list()),
      this.#options.database.phoneNumbers.listOf(account.orgId),
    ]);
    const imported = new Set(
      known.filter((each) => each.accountId === id).map((each) => each.number),
    );
    return listed.map((each) => ({ ...each, isImported: imported.has(each.number) }));
  }

  /**
   * The number is the organization's from then on, and the vendor asks here about its calls. Doing it again is no error.
   * RequestError as `numbers`, `agent_not_found`, `number_taken`, `not_configured`: the server has no public address;
   * `invalid_request`, too, where nothing could check the webhooks that the vendor would be told to send.
   */
  async importNumber(
    tenant: Tenant,
    id: string,
    { number, agentId, setWebhook }: ImportInput,
  ): Promise<PhoneNumberRecord> {
    const { phoneNumbers, baseUrl } = this.#options;
    const account = await this.get(tenant, id);
    const api = this.#numbersApi(account);
    const base = baseUrl();
    if (setWebhook && base === undefined) {
      const message = "the vendor's webhook cannot be set before the platform sets PUBLIC_BASE_URL";
      throw new RequestError("not_configured", message);
    }
    if (setWebhook) requireWebhookKey(formOf(account.vendor), this.#valuesOf(account));
    const listed = await this.#atVendor(account, () => api.list());
    const found = listed.find((each) => each.number === number);
    if (found === undefined) {
      throw new RequestError("not_found", "number: expected a number of the account");
    }
    const record = await phoneNumbers.importFrom(tenant, account, number, agentId);
    if (setWebhook && base !== undefined) {
      const url = `${base.replace(/\/$/, "")}${accountWebhookPath(account)}`;
      await this.#atVendor(account, () => api.setWebhook(found, url));
    }
    return record;
  }

  async #updateFrom(
    tenant: Tenant,
    known: TelephonyAccountRecord,
    change: AccountChange,
  ): Promise<TelephonyAccountRecord | undefined> {
    const form = formOf(known.vendor);
    const before = this.#openedValuesOf(known) ?? textsOf(known.settings);
    const values = merged(merged(before, change.settings), change.credentials);
    this.#requireValues(form, values, change);
    requireKeptTogether(form, before, values, change);
    const { name = known.name } = change;
    const account = {
      ...known,
      name,
      ...this.#stored(form, values),
      updatedAtMs: nextVersionMs(known, this.#options.clock),
    };
    const changes = [
      ...(name === known.name ? [] : ["name"]),
      ...(JSON.stringify(account.settings) === JSON.stringify(known.settings) ? [] : ["settings"]),
      ...(change.credentials === undefined ? [] : ["credentials"]),
    ];
    const entry = this.#entry(tenant, "telephonyAccount.update", account, changes);
    const { telephonyAccounts } = this.#options.database;
    return (await telephonyAccounts.update(account, known.updatedAtMs, entry))
      ? account
      : undefined;
  }

  /** `given`: the objects of the request, in which other fields are faults. */
  #requireValues(
    form: AccountForm,
    values: AccountValues,
    given: Pick<AccountInput, "settings" | "credentials">,
  ): void {
    const faults: FieldFault[] = [];
    for (const part of ["settings", "credentials"] as const) {
      const known = form.fields.filter((field) => partOf(field) === part).map(({ name }) => name);
      for (const name of Object.keys(given[part] ?? {})) {
        if (known.includes(name)) continue;
        const message = `expected one of the fields ${known.join(", ")}`;
        faults.push({ path: `${part}.${name.slice(0, 60)}`, message });
      }
    }
    for (const field of form.fields) {
      const { name, isRequired, format, expected } = field;
      const value = values[name];
      const isWrong = value === undefined ? isRequired : !format.test(value);
      if (isWrong)
        faults.push({ path: `${partOf(field)}.${name}`, message: `expected ${expected}` });
      else if (value !== undefined && name === "baseUrl") {
        faults.push(...this.#addressFaults(form, value));
      }
    }
    if (faults.length > 0) throw invalidFields(faults);
  }

  #addressFaults(form: AccountForm, address: string): readonly FieldFault[] {
    const { allowPrivateAddresses, settings } = this.#options;
    const path = "settings.baseUrl";
    if (!URL.canParse(address)) return [{ path, message: "expected an http or https address" }];
    const url = new URL(address);
    if (!allowPrivateAddresses && namesPrivateHost(url)) {
      const message = PUBLIC_ADDRESS_EXPECTED;
      return [{ path, message }];
    }
    if (form.isVendorAddress?.(url, settings) !== false) return [];
    return [{ path, message: "expected https and the vendor's own host" }];
  }

  #stored(
    form: AccountForm,
    values: AccountValues,
  ): Pick<TelephonyAccountRecord, "settings" | "sealedCredentials"> {
    const of = (part: "settings" | "credentials"): JsonObject =>
      Object.fromEntries(
        form.fields.flatMap((field) => {
          const value = values[field.name];
          return partOf(field) === part && value !== undefined ? [[field.name, value]] : [];
        }),
      );
    const credentials = of("credentials");
    const isNone = Object.keys(credentials).length === 0;
    return {
      settings: of("settings"),
      sealedCredentials: isNone ? null : this.#options.cipher.seal(credentials),
    };
  }

  /** Throws where the credentials cannot be opened. */
  #valuesOf({ settings, sealedCredentials }: TelephonyAccountRecord): AccountValues {
    const opened = sealedCredentials === null ? {} : this.#options.cipher.open(sealedCredentials);
    return textsOf({ ...settings, ...opened });
  }

  /** Undefined where the credentials were sealed with another key, or are damaged. */
  #openedValuesOf(account: TelephonyAccountRecord): AccountValues | undefined {
    try {
      return this.#valuesOf(account);
    } catch {
      const { vendor, orgId } = account;
      this.#options.log.warn({ vendor, orgId }, "an account's credentials do not open");
      return undefined;
    }
  }

  #apiOf(
    account: TelephonyAccountRecord,
    values: AccountValues = this.#valuesOf(account),
  ): CallControlApi | undefined {
    const { settings: installation, context } = this.#options;
    const vendor = phoneVendor(account.vendor);
    const form = vendor?.account;
    if (form === undefined) return undefined;
    const settings = { ...installation, ...form.settings(values, installation) };
    const own = form.namesAddress ? { ...context, orgId: account.orgId } : context;
    return vendor?.callControl?.(settings, own);
  }

  #numbersApi(account: TelephonyAccountRecord): AccountNumbersApi {
    const values = this.#openedValuesOf(account);
    if (values === undefined) {
      throw new RequestError("invalid_request", `credentials: ${UNREADABLE_CREDENTIALS}`);
    }
    const { provesNumbers, numbersNeed } = formOf(account.vendor);
    const api = provesNumbers ? this.#apiOf(account, values)?.numbers : undefined;
    if (api !== undefined) return api;
    const refusal = `numbers of ${account.vendor} cannot be imported: the platform's operator assigns them`;
    throw new RequestError("invalid_request", numbersNeed ?? refusal);
  }

  /** The vendor's failure, as the organization whose account it is may read it. */
  async #atVendor<Result>(
    { vendor, orgId }: TelephonyAccountRecord,
    ask: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof VendorError)) throw error;
      this.#options.log.warn({ vendor, orgId, reason: error.message }, "failed to ask an account");
      const options = { cause: error, retryAfterSec: RETRY_AFTER_SEC };
      throw new RequestError("telephony_unavailable", vendorWords(error, true), options);
    }
  }

  #entry(
    tenant: Tenant,
    action: "telephonyAccount.create" | "telephonyAccount.update" | "telephonyAccount.delete",
    { id, orgId, name }: TelephonyAccountRecord,
    changes: readonly string[] = [],
  ): AuditRecord {
    return auditEntry({
      id: this.#options.newId(),
      atMs: this.#options.clock.epochMs(),
      actor: actorOf(tenant),
      action,
      target: { type: "telephonyAccount", id, orgId, name },
      changes,
    });
  }
}

function partOf({ isSecret }: AccountField): "settings" | "credentials" {
  return isSecret ? "credentials" : "settings";
}

function textsOf(values: JsonObject): AccountValues {
  const texts = Object.entries(values).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, value] as const] : [],
  );
  return Object.fromEntries(texts);
}

/** Without its key no webhook of the account is accepted, and one that worked before would be lost. */
function requireWebhookKey(form: AccountForm, values: AccountValues): void {
  const isKey = (of: AccountValues) =>
    Object.values(form.webhookKeys?.(of) ?? {}).some((key) => key !== undefined);
  const field = form.fields.find(({ name }) => isKey({ [name]: name }));
  if (field === undefined || isKey(values)) return;
  const path = `${partOf(field)}.${field.name}`;
  const message = "expected it before the vendor's webhook is set, since it checks the webhooks";
  throw invalidFields([{ path, message }]);
}

function formOf(vendor: string): AccountForm {
  const form = phoneVendor(vendor)?.account;
  if (form !== undefined) return form;
  const message = `expected one of ${ACCOUNT_VENDORS.join(", ")}`;
  throw invalidFields([{ path: "vendor", message }]);
}

function merged(values: AccountValues, change: TextValues | undefined): AccountValues {
  const all = Object.entries({ ...values, ...change });
  return Object.fromEntries(all.flatMap(([name, value]) => (value == null ? [] : [[name, value]])));
}

/** Stored credentials must not be sent to another server: a change of the address has to contain them again. */
function requireKeptTogether(
  { fields }: AccountForm,
  before: AccountValues,
  after: AccountValues,
  { credentials }: AccountChange,
): void {
  if (before["baseUrl"] === after["baseUrl"]) return;
  const missing = fields.filter(
    ({ name, isSecret }) =>
      isSecret && before[name] !== undefined && credentials?.[name] === undefined,
  );
  const message = "expected it again, since the address leads to another server";
  const faults = missing.map(({ name }) => ({ path: `credentials.${name}`, message }));
  if (faults.length > 0) throw invalidFields(faults);
}

function noSuchAccount(): RequestError {
  return new RequestError("not_found", "there is no such telephony account");
}
