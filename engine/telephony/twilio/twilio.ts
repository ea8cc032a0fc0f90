import { idField, keyField } from "../account-form.js";
import { XML_DOCUMENT } from "../call-instructions.js";
import type { PhoneVendor } from "../phone-vendor.js";
import { twimlPlacedReport } from "../placed-report.js";
import { TwilioCalls } from "./twilio-calls.js";
import { isTwilioWebhook } from "./twilio-signature.js";
import { twilioWire } from "./twilio-wire.js";
import {
  dialAndAsk,
  dialReport,
  hangUp,
  pauseAndAsk,
  sayAndHangUp,
  TWIML_WARM_TRANSFER,
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
    warmTransfer: TWIML_WARM_TRANSFER,
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
  placedReport: twimlPlacedReport,
  account: {
    fields: [idField("accountSid", "Account SID"), keyField("authToken", "Auth token")],
    settings: ({ accountSid, authToken }, { twilio }) => ({
      twilio: { accountSid, authToken, baseUrl: twilio.baseUrl },
    }),
    webhookKeys: ({ authToken }) => ({ twilio: authToken }),
    namesAddress: false,
    provesNumbers: true,
  },
  accountVariables: ["TWILIO_ACCOUNT_SID", "TWILIO_AUTH_TOKEN"],
  callControl: ({ twilio: { accountSid, authToken, baseUrl } }, context) => {
    if (accountSid === undefined || authToken === undefined) return undefined;
    const account = { vendor: "twilio", accountSid, authToken, baseUrl } as const;
    const calls = new TwilioCalls(account, context);
    return {
      place: (call) => calls.place(call),
      hangUp: (callSid) => calls.hangUp(callSid),
      transfer: (callSid, dial) => calls.replaceDocument(callSid, dialAndAsk(dial)),
      redirect: (callSid, next) => calls.redirect(callSid, next),
      isLive: (callSid) => calls.isLive(callSid),
      verify: () => calls.verify(),
      numbers: calls.numbers,
    };
  },
  capabilities: {
    place: "rest",
    machineDetection: "greetingEnd",
    hangUp: "rest",
    transfer: "rest",
    transferCallerId: "caller",
    failedTransfer: "comesBack",
    warmTransfer: "conference",
    sendDigits: "tones",
    receiveDigits: "messages",
    importNumbers: "rest",
  },
};
