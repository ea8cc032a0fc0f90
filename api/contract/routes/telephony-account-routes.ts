import * as v from "valibot";
import { InboundNumber } from "../call.js";
import { Success } from "../fields.js";
import {
  AccountNumbers,
  ImportNumberBody,
  TelephonyAccount,
  TelephonyAccountBody,
  TelephonyAccountChangeBody,
  TelephonyAccountTest,
  TelephonyVendors,
} from "../telephony-account.js";
import type { Route } from "./route.js";
import { created, ok, refused } from "./route-answer.js";

const group = "Telephony accounts";
const dashboard = { auth: "dashboard", limit: "general", group } as const;
const admin = { auth: "admin", limit: "general", group } as const;
const atVendor = { auth: "admin", limit: "vendor", group } as const;
const vendorFails = refused(503, "The vendor refuses, or does not answer");

/** Accounts of organizations at telephony vendors, and the numbers in them. */
export const TELEPHONY_ACCOUNT_ROUTES = {
  listTelephonyVendors: {
    method: "get",
    path: "/api/dashboard/telephony-vendors",
    summary: "List the vendors at which an organization can have an account",
    ...dashboard,
    success: ok("Each vendor with the fields of its accounts", TelephonyVendors),
  },
  listTelephonyAccounts: {
    method: "get",
    path: "/api/dashboard/telephony-accounts",
    summary: "List the organization's telephony accounts",
    ...dashboard,
    success: ok("All accounts, oldest first", v.array(TelephonyAccount)),
  },
  createTelephonyAccount: {
    method: "post",
    path: "/api/dashboard/telephony-accounts",
    summary: "Add a telephony account",
    ...admin,
    body: TelephonyAccountBody,
    success: created("The account, without its credentials", TelephonyAccount),
    others: [refused(409, "The organization has an account at this vendor")],
  },
  getTelephonyAccount: {
    method: "get",
    path: "/api/dashboard/telephony-accounts/:id",
    summary: "Show a telephony account",
    ...dashboard,
    success: ok("The account, without its credentials", TelephonyAccount),
  },
  updateTelephonyAccount: {
    method: "patch",
    path: "/api/dashboard/telephony-accounts/:id",
    summary: "Change a telephony account",
    ...admin,
    body: TelephonyAccountChangeBody,
    success: ok("The account as it is now", TelephonyAccount),
  },
  deleteTelephonyAccount: {
    method: "delete",
    path: "/api/dashboard/telephony-accounts/:id",
    summary: "Delete a telephony account",
    ...admin,
    success: ok("Deleted, with the numbers that were imported from it", Success),
  },
  testTelephonyAccount: {
    method: "post",
    path: "/api/dashboard/telephony-accounts/:id/test",
    summary: "Try a telephony account",
    ...atVendor,
    success: ok("What the vendor answered", TelephonyAccountTest),
  },
  listAccountNumbers: {
    method: "get",
    path: "/api/dashboard/telephony-accounts/:id/numbers",
    summary: "List the numbers in a telephony account",
    ...atVendor,
    success: ok("The account's numbers, 1,000 at most", AccountNumbers),
    others: [vendorFails],
  },
  importAccountNumber: {
    method: "post",
    path: "/api/dashboard/telephony-accounts/:id/numbers",
    summary: "Import a number from a telephony account",
    ...atVendor,
    body: ImportNumberBody,
    success: created("The number: it is the organization's now", InboundNumber),
    others: [refused(409, "Another organization has the number"), vendorFails],
  },
} as const satisfies Record<string, Route>;
