import type { CallControlApi, CallControlApis } from "../../engine/telephony/call-control.js";

/** The accounts of an installation, by their vendors, in which no organization has one of its own. */
export function installationApis(
  apis: Readonly<Record<string, CallControlApi | undefined>>,
): CallControlApis {
  return { of: ({ vendor, ownAccount }) => (ownAccount === true ? undefined : apis[vendor]) };
}

/** For placed calls: no number is in an account of its organization. */
export const NO_OWN_NUMBERS = { ownVendorOf: () => Promise.resolve(undefined) };
