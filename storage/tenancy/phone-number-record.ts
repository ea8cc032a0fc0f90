/** A number, in E.164, from which an organization's agents may call. */
export interface PhoneNumberRecord {
  readonly number: string;
  readonly orgId: string;
  readonly createdAtMs: number;
}
