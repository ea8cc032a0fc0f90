import { bodyHash } from "../body-hash.js";
import { XML_DOCUMENT } from "../call-documents.js";
import type { PhoneVendor } from "../phone-vendor.js";
import {
  dialAndAsk,
  dialReport,
  hangUp,
  pauseAndAsk,
  sayAndHangUp,
  telnyxConnect,
} from "../twilio/twiml.js";
import { TelnyxCalls } from "./telnyx-calls.js";
import { isTelnyxSignature } from "./telnyx-signature.js";
import { telnyxWire } from "./telnyx-wire.js";

export const TELNYX: PhoneVendor = {
  newWire: () => telnyxWire(),
  documents: {
    contentType: XML_DOCUMENT,
    connect: telnyxConnect,
    farewell: sayAndHangUp,
    hangUp,
    hold: pauseAndAsk,
    dial: dialAndAsk,
  },
  transferReport: dialReport,
  // The same as the stream's `call_control_id`.
  callIdField: "CallSid",
  callInfoFields: { from: "From", to: "To", callerName: "CallerName", direction: "Direction" },
  alwaysNamesCall: true,
  signature: {
    keyOf: ({ telnyx }) => telnyx,
    header: "telnyx-signature-ed25519",
    headerNames: ["telnyx-signature-ed25519", "telnyx-timestamp"],
    check: (key, { body, nowMs, header }) => {
      const timestamp = header("telnyx-timestamp");
      const signature = header("telnyx-signature-ed25519");
      return isTelnyxSignature(key, { body, timestamp, signature, nowMs });
    },
    signsQuery: false,
    identity: ({ body, header }) => ({
      id: `${header("telnyx-timestamp")}|${bodyHash(body)}`,
      isUnique: true,
    }),
  },
  callControl: ({ telnyx }, context) => {
    const { apiKey } = telnyx;
    return apiKey === undefined ? undefined : new TelnyxCalls({ ...telnyx, apiKey }, context);
  },
};
