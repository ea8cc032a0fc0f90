import { PHONE_RATE_HZ } from "../../audio/audio-format.js";
import { bodyHash } from "../body-hash.js";
import { JSON_DOCUMENT } from "../call-documents.js";
import { isCallerThere } from "../caller-state.js";
import type { PhoneVendor } from "../phone-vendor.js";
import { isJambonzSignature, jambonzTimestamp } from "./jambonz-signature.js";
import {
  jambonzConnect,
  jambonzDial,
  jambonzDialReport,
  jambonzHangUp,
  jambonzPauseAndAsk,
  jambonzSayAndHangUp,
} from "./jambonz-verbs.js";
import { jambonzWire } from "./jambonz-wire.js";

export const JAMBONZ: PhoneVendor = {
  newWire: jambonzWire,
  documents: {
    contentType: JSON_DOCUMENT,
    connect: (target) => jambonzConnect(target, PHONE_RATE_HZ),
    farewell: jambonzSayAndHangUp,
    hangUp: jambonzHangUp,
    hold: jambonzPauseAndAsk,
    dial: jambonzDial,
  },
  transferReport: jambonzDialReport,
  isCallerWaiting: (body) => isCallerThere(body, "call_status"),
  callIdField: "call_sid",
  callInfoFields: { from: "from", to: "to", callerName: "caller_name", direction: "direction" },
  alwaysNamesCall: true,
  signature: {
    keyOf: ({ jambonz }) => jambonz,
    header: "Jambonz-Signature",
    headerNames: ["jambonz-signature"],
    check: (key, { body, nowMs, header }) =>
      isJambonzSignature(key, { body, signature: header("jambonz-signature"), nowMs }),
    signsQuery: false,
    identity: ({ body, header }) => ({
      id: `${jambonzTimestamp(header("jambonz-signature"))}|${bodyHash(body)}`,
      isUnique: true,
    }),
  },
};
