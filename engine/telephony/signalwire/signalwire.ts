import { XML_DOCUMENT } from "../call-documents.js";
import type { PhoneVendor } from "../phone-vendor.js";
import { isTwilioWebhook } from "../twilio/twilio-signature.js";
import {
  dialAndAsk,
  dialReport,
  hangUp,
  pauseAndAsk,
  sayAndHangUp,
  signalwireConnect,
} from "../twilio/twiml.js";
import type { SignedWebhook } from "../webhook-signature.js";
import { signalwireWire } from "./signalwire-wire.js";

/** SignalWire speaks Twilio's language, with ids in fewer places. */
export const SIGNALWIRE: PhoneVendor = {
  newWire: () => signalwireWire(),
  documents: {
    contentType: XML_DOCUMENT,
    connect: (target) => signalwireConnect(target),
    farewell: sayAndHangUp,
    hangUp,
    hold: pauseAndAsk,
    dial: dialAndAsk,
  },
  transferReport: dialReport,
  callIdField: "CallSid",
  callInfoFields: { from: "From", to: "To", callerName: "CallerName", direction: "Direction" },
  signature: {
    keyOf: ({ signalwire }) => signalwire,
    header: "X-SignalWire-Signature",
    headerNames: ["x-signalwire-signature", "x-twilio-signature"],
    check: (key, { url, body, header }) => {
      const signature = signatureIn(header);
      return isTwilioWebhook(key, { url, body, signature });
    },
    signsQuery: true,
    identity: ({ header }) => ({ id: signatureIn(header), isUnique: false }),
  },
};

function signatureIn(header: SignedWebhook["header"]): string {
  return header("x-signalwire-signature") || header("x-twilio-signature");
}
