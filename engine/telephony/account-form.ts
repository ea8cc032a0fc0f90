import type { CallControlSettings, WebhookKeys } from "./telephony-settings.js";

/** What an organization has entered of its account, by the fields' names. */
export type AccountValues = Readonly<Record<string, string | undefined>>;

/** One field of an account at a vendor. */
export interface AccountField {
  readonly name: string;
  /** As the vendor's own pages name it. */
  readonly label: string;
  /** Sealed, and never shown again. */
  readonly isSecret: boolean;
  readonly isRequired: boolean;
  readonly format: RegExp;
  /** Completes "expected …". */
  readonly expected: string;
}

/** What an account at a vendor consists of, and what Parley makes of it. */
export interface AccountForm {
  readonly fields: readonly AccountField[];
  /** The settings of `callControl` for this account; `installation` has the vendor's address. */
  settings(values: AccountValues, installation: CallControlSettings): Partial<CallControlSettings>;
  /** What the vendor signs the account's webhooks with; absent where it does not sign. */
  webhookKeys?(values: AccountValues): Partial<WebhookKeys>;
  /** The fields that calls are placed with, where the account is complete without them. */
  readonly placesWith?: readonly string[];
  /** The API's address is the organization's to name: it leads to no private network. */
  readonly namesAddress: boolean;
  /** Where all such addresses are the vendor's: whether this one is, or is the one that the operator has set. */
  isVendorAddress?(url: URL, installation: CallControlSettings): boolean;
  /**
   * Whether the address of the API is the vendor's own, so that its list of numbers proves whose they are. A server that the
   * organization runs could list anybody's.
   */
  readonly provesNumbers: boolean;
  /** The fields that numbers are imported with, where the account is complete without them. */
  readonly importsWith?: readonly string[];
  /** Names those fields in an error. */
  readonly numbersNeed?: string;
}

const ID = /^[\w.-]{1,64}$/;
/** What a header can carry. */
const KEY = /^[\x21-\x7e]{1,512}$/;
const PEM =
  /^-{5}BEGIN PRIVATE KEY-{5}[A-Za-z0-9+/=\\\s]{1,8000}-{5}END PRIVATE KEY-{5}(?:\s|\\n)*$/;
const HTTP_ADDRESS = /^https?:\/\/[\w.:[\]-]{1,200}(?:\/[\w./-]{0,200})?$/;

type FieldOptions = Partial<Pick<AccountField, "isRequired" | "format" | "expected">>;

export function idField(name: string, label: string, options: FieldOptions = {}): AccountField {
  const expected = "1 to 64 letters, digits, hyphens and underscores";
  return { name, label, isSecret: false, isRequired: true, format: ID, expected, ...options };
}

export function keyField(name: string, label: string, options: FieldOptions = {}): AccountField {
  const expected = "1 to 512 printable ASCII characters without blanks";
  return { name, label, isSecret: true, isRequired: true, format: KEY, expected, ...options };
}

export function pemField(name: string, label: string): AccountField {
  const expected = "a private key in PEM form (PKCS #8)";
  return { name, label, isSecret: true, isRequired: true, format: PEM, expected };
}

export function addressField(
  name: string,
  label: string,
  options: FieldOptions = {},
): AccountField {
  const expected = "an http or https address without user name and query";
  return {
    name,
    label,
    isSecret: false,
    isRequired: true,
    format: HTTP_ADDRESS,
    expected,
    ...options,
  };
}
