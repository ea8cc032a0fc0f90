import { XML_DOCUMENT } from "../call-documents.js";
import type { PhoneVendor } from "../phone-vendor.js";
import { twilioCalls } from "./twilio-calls.js";
import { isTwilioWebhook } from "./twilio-signature.js";
import { twilioWire } from "./twilio-wire.js";
import {
  dialAndAsk,
  dialReport,
  hangUp,
  pauseAndAsk,
  sayAndHangUp,
  twilioConnect,
} from "./twiml.js";

export const TWILIO: PhoneVendor = {
  newWire: twilioWire,
  documents: {
    contentType: XML_DOCUMENT,
    connect: twilioConnect,
    farewell: sayAndHangUp,
    hangUp,
    hold: pauseAndAsk,
    dial: dialAndAsk,
  },
  transferReport: dialReport,
  callIdField: "CallSid",
  callInfoFields: { from: "From", to: "To", callerName: "CallerName", direction: "Direction" },
  alwaysNamesCall: true,
  signature: {
    keyOf: ({ twilio }) => twilio,
    header: "X-Twilio-Signature",
    headerNames: ["x-twilio-signature"],
    check: (key, { url, body, header }) => {
      const signature = header("x-twilio-signature");
      return isTwilioWebhook(key, { url, body, signature });
    },
    signsQuery: true,
    identity: ({ header }) => ({ id: header("x-twilio-signature"), isUnique: false }),
  },
  callControl: (settings, context) => {
    const calls = twilioCalls(settings, context);
    return (
      calls && {
        hangUp: (callSid) => calls.hangUp(callSid),
        transfer: (callSid, dial) => calls.redirect(callSid, dialAndAsk(dial)),
      }
    );
  },
};
