import type { VendorContext } from "../vendors/vendor-settings.js";
import { ASTERISK, AUDIO_SOCKET } from "./asterisk/asterisk.js";
import type { CallControlApi } from "./call-control.js";
import { JAMBONZ } from "./jambonz/jambonz.js";
import type { PhoneVendor } from "./phone-vendor.js";
import { PLIVO } from "./plivo/plivo.js";
import { SIGNALWIRE } from "./signalwire/signalwire.js";
import {
  type CallControlSettings,
  isPhoneVendorName,
  PHONE_VENDOR_NAMES,
  type PhoneVendorName,
} from "./telephony-settings.js";
import { TELNYX } from "./telnyx/telnyx.js";
import { TWILIO } from "./twilio/twilio.js";
import { VONAGE } from "./vonage/vonage.js";

const PHONE_VENDORS: Readonly<Record<PhoneVendorName, PhoneVendor>> = {
  twilio: TWILIO,
  telnyx: TELNYX,
  signalwire: SIGNALWIRE,
  plivo: PLIVO,
  vonage: VONAGE,
  jambonz: JAMBONZ,
  asterisk: ASTERISK,
  audiosocket: AUDIO_SOCKET,
};

export const DEFAULT_PHONE_VENDOR: PhoneVendorName = "twilio";

export function phoneVendor(name: string): PhoneVendor | undefined {
  return isPhoneVendorName(name) ? PHONE_VENDORS[name] : undefined;
}

/** What an endpoint has to keep of a request, so that any vendor's signature can be checked. */
export const SIGNATURE_HEADERS: readonly string[] = [
  ...new Set(Object.values(PHONE_VENDORS).flatMap(({ signature }) => signature?.headerNames ?? [])),
];

/** The vendors at which an organization can have an account of its own. */
export const ACCOUNT_VENDORS: readonly PhoneVendorName[] = PHONE_VENDOR_NAMES.filter(
  (name) => PHONE_VENDORS[name].account !== undefined,
);

/** The settings without which no call can be placed at the vendor; none where it has no API for that. */
export function accountVariables(name: PhoneVendorName = DEFAULT_PHONE_VENDOR): readonly string[] {
  return PHONE_VENDORS[name].accountVariables ?? [];
}

/** The REST APIs of the vendors whose accounts are configured, by the vendors' names. */
export function callControlApis(
  settings: CallControlSettings,
  context: VendorContext,
): Readonly<Record<string, CallControlApi | undefined>> {
  return Object.fromEntries(
    Object.entries(PHONE_VENDORS).map(([name, vendor]) => [
      name,
      vendor.callControl?.(settings, context),
    ]),
  );
}
