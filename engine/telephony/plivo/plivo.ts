import { XML_DOCUMENT } from "../call-documents.js";
import type { PhoneVendor } from "../phone-vendor.js";
import { hangUp } from "../twilio/twiml.js";
import { formOf } from "../webhook-signature.js";
import { PlivoCalls } from "./plivo-calls.js";
import { isPlivoSignature } from "./plivo-signature.js";
import { plivoWire } from "./plivo-wire.js";
import {
  plivoConnect,
  plivoDial,
  plivoDialReport,
  plivoSayAndHangUp,
  plivoWaitAndAsk,
} from "./plivo-xml.js";

export const PLIVO: PhoneVendor = {
  newWire: () => plivoWire(),
  documents: {
    contentType: XML_DOCUMENT,
    connect: plivoConnect,
    farewell: plivoSayAndHangUp,
    hangUp,
    hold: plivoWaitAndAsk,
    dial: plivoDial,
  },
  transferReport: plivoDialReport,
  callIdField: "CallUUID",
  callInfoFields: { from: "From", to: "To", callerName: "CallerName", direction: "Direction" },
  alwaysNamesCall: true,
  signature: {
    keyOf: ({ plivo }) => plivo,
    header: "X-Plivo-Signature-V3",
    headerNames: ["x-plivo-signature-v3", "x-plivo-signature-ma-v3", "x-plivo-signature-v3-nonce"],
    check: (key, { url, body, header }) => {
      const nonce = header("x-plivo-signature-v3-nonce");
      const ours = header("x-plivo-signature-v3");
      const signatures = `${ours},${header("x-plivo-signature-ma-v3")}`;
      return isPlivoSignature(key, { url, fields: formOf(body), nonce, signatures });
    },
    signsQuery: true,
    identity: ({ header }) => ({ id: header("x-plivo-signature-v3-nonce"), isUnique: true }),
  },
  callControl: ({ plivo }, context) => {
    const { authId, authToken } = plivo;
    if (authId === undefined || authToken === undefined) return undefined;
    return new PlivoCalls({ ...plivo, authId, authToken }, context);
  },
};
