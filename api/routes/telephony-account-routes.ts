import {
  accountWebhookPath,
  type TelephonyAccounts,
} from "../../engine/calls/telephony-accounts.js";
import { ACCOUNT_VENDORS, phoneVendor } from "../../engine/telephony/phone-vendors.js";
import type { PhoneVendorName } from "../../engine/telephony/telephony-settings.js";
import type { TelephonyAccountRecord } from "../../storage/records.js";
import type { Handlers } from "../http/endpoints/api-endpoint.js";
import { inboundNumber } from "./call-routes.js";
import { timestamp } from "./timestamp.js";

export function telephonyAccountRoutes(
  accounts: TelephonyAccounts,
): Handlers<
  | "listTelephonyVendors"
  | "listTelephonyAccounts"
  | "createTelephonyAccount"
  | "getTelephonyAccount"
  | "updateTelephonyAccount"
  | "deleteTelephonyAccount"
  | "testTelephonyAccount"
  | "listAccountNumbers"
  | "importAccountNumber"
> {
  const view = (account: TelephonyAccountRecord) => ({
    id: account.id,
    vendor: account.vendor,
    name: account.name,
    settings: account.settings,
    credentialNames: [...accounts.credentialNames(account)],
    webhookPath: accountWebhookPath(account),
    canImport: accounts.canImport(account),
    createdAt: timestamp(account.createdAtMs),
    updatedAt: timestamp(account.updatedAtMs),
  });
  return {
    listTelephonyVendors: () => ACCOUNT_VENDORS.map(vendorView),
    listTelephonyAccounts: async ({ tenant }) => (await accounts.list(tenant)).map(view),
    createTelephonyAccount: async ({ tenant, body }) => view(await accounts.create(tenant, body)),
    getTelephonyAccount: async ({ tenant, id }) => view(await accounts.get(tenant, id)),
    updateTelephonyAccount: async ({ tenant, id, body }) =>
      view(await accounts.update(tenant, id, body)),
    deleteTelephonyAccount: async ({ tenant, id }) => {
      await accounts.remove(tenant, id);
      return { success: true };
    },
    testTelephonyAccount: ({ tenant, id }) => accounts.test(tenant, id),
    listAccountNumbers: async ({ tenant, id }) =>
      (await accounts.numbers(tenant, id)).map(({ number, label, webhookUrl, isImported }) => ({
        number,
        label,
        webhookUrl: webhookUrl ?? null,
        isImported,
      })),
    importAccountNumber: async ({ tenant, id, body }) =>
      inboundNumber(await accounts.importNumber(tenant, id, body)),
  };
}

function vendorView(vendor: PhoneVendorName) {
  const { fields = [], provesNumbers = false } = phoneVendor(vendor)?.account ?? {};
  return {
    vendor,
    canImport: provesNumbers,
    fields: fields.map(({ name, label, isSecret, isRequired, expected }) => ({
      name,
      label,
      part: isSecret ? ("credentials" as const) : ("settings" as const),
      required: isRequired,
      expected,
    })),
  };
}
