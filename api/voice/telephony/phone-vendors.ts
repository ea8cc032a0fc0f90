import type { PhoneVendorName } from "../../contract/telephony-operation.js";
import type { PhoneWire } from "./adapter.js";
import { asteriskWire } from "./asterisk-websocket.js";
import { jambonzWire } from "./jambonz.js";
import { jambonzConnect, jambonzSayAndHangUp } from "./jambonz-verbs.js";
import { plivoWire } from "./plivo.js";
import { plivoConnect, plivoSayAndHangUp } from "./plivo-xml.js";
import { signalwireWire } from "./signalwire.js";
import type { Farewell, StreamTarget } from "./stream-address.js";
import { telnyxWire } from "./telnyx.js";
import { twilioWire } from "./twilio.js";
import { sayAndHangUp, signalwireConnect, telnyxConnect, twilioConnect } from "./twiml.js";
import { vonageWire } from "./vonage.js";
import { vonageConnect, vonageSayAndHangUp } from "./vonage-ncco.js";

/** The documents that a vendor's webhook is answered with. */
export interface CallDocuments {
  readonly contentType: string;
  connect(target: StreamTarget): string;
  farewell(farewell: Farewell): string;
}

export interface PhoneVendor {
  /** Absent where calls do not come over WebSockets. */
  newWire?(): PhoneWire;
  readonly documents: CallDocuments;
  /** The field of the webhook's body that names the call; the stream names it again. */
  readonly callIdField?: string;
  /** The stream names its call always: one that does not is none of the vendor's. */
  readonly alwaysNamesCall?: boolean;
  /** The stream names its call only if our document does. */
  readonly passesCallId?: boolean;
  /** The stream's address may have our token in its query, where no message of the vendor's has a place for it. */
  readonly hasTokenInAddress?: boolean;
}

const XML = "text/xml; charset=utf-8";
const JSON_DOCUMENT = "application/json; charset=utf-8";
const RATE_HZ = 8_000;

/** For a dialplan of Asterisk: what its stream is to begin with, or why there will be none in words. */
const DIALPLAN: CallDocuments = {
  contentType: "text/plain; charset=utf-8",
  connect: ({ parameters }) => parameters["token"] ?? "",
  farewell: ({ text }) => text,
};

/** Every vendor of telephone calls, by the name that addresses carry. */
const PHONE_VENDORS: Readonly<Record<PhoneVendorName, PhoneVendor>> = {
  twilio: {
    newWire: twilioWire,
    documents: { contentType: XML, connect: twilioConnect, farewell: sayAndHangUp },
    callIdField: "CallSid",
    alwaysNamesCall: true,
  },
  telnyx: {
    newWire: () => telnyxWire(),
    documents: { contentType: XML, connect: telnyxConnect, farewell: sayAndHangUp },
    // The same as the stream's `call_control_id`.
    callIdField: "CallSid",
    alwaysNamesCall: true,
  },
  signalwire: {
    newWire: () => signalwireWire(),
    documents: {
      contentType: XML,
      connect: (target) => signalwireConnect(target),
      farewell: sayAndHangUp,
    },
    callIdField: "CallSid",
  },
  plivo: {
    newWire: () => plivoWire(),
    documents: { contentType: XML, connect: plivoConnect, farewell: plivoSayAndHangUp },
    callIdField: "CallUUID",
    alwaysNamesCall: true,
  },
  vonage: {
    newWire: vonageWire,
    documents: {
      contentType: JSON_DOCUMENT,
      connect: (target) => vonageConnect(target, RATE_HZ),
      farewell: vonageSayAndHangUp,
    },
    callIdField: "uuid",
    alwaysNamesCall: true,
    passesCallId: true,
  },
  jambonz: {
    newWire: jambonzWire,
    documents: {
      contentType: JSON_DOCUMENT,
      connect: (target) => jambonzConnect(target, RATE_HZ),
      farewell: jambonzSayAndHangUp,
    },
    callIdField: "call_sid",
    alwaysNamesCall: true,
  },
  asterisk: { newWire: asteriskWire, documents: DIALPLAN, hasTokenInAddress: true },
  audiosocket: { documents: DIALPLAN },
};

export const DEFAULT_PHONE_VENDOR = "twilio";

export function phoneVendor(name: string): PhoneVendor | undefined {
  return isPhoneVendor(name) ? PHONE_VENDORS[name] : undefined;
}

function isPhoneVendor(name: string): name is PhoneVendorName {
  return Object.hasOwn(PHONE_VENDORS, name);
}
