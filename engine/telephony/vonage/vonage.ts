import { PHONE_RATE_HZ } from "../../audio/audio-format.js";
import { JSON_DOCUMENT } from "../call-documents.js";
import type { PhoneVendor } from "../phone-vendor.js";
import {
  isVonageWaiting,
  vonageConnect,
  vonageDial,
  vonageDialReport,
  vonageHangUp,
  vonageSayAndHangUp,
} from "./vonage-ncco.js";
import { isVonageSignature } from "./vonage-signature.js";
import { vonageWire } from "./vonage-wire.js";

export const VONAGE: PhoneVendor = {
  newWire: vonageWire,
  documents: {
    contentType: JSON_DOCUMENT,
    connect: (target) => vonageConnect(target, PHONE_RATE_HZ),
    farewell: vonageSayAndHangUp,
    hangUp: vonageHangUp,
    dial: vonageDial,
  },
  transferReport: vonageDialReport,
  isCallerWaiting: isVonageWaiting,
  callIdField: "uuid",
  callInfoFields: { from: "from", to: "to", callerName: "caller_name", direction: "direction" },
  alwaysNamesCall: true,
  passesCallId: true,
  signature: {
    keyOf: ({ vonage }) => vonage,
    header: "Authorization",
    headerNames: ["authorization"],
    check: (key, { body, nowMs, header }) =>
      isVonageSignature(key, { body, authorization: header("authorization"), nowMs }),
    signsQuery: false,
    // The token without its signature, whose last character has several spellings.
    identity: ({ header }) => ({
      id: header("authorization").split(" ")[1]?.split(".").slice(0, 2).join(".") ?? "",
      isUnique: true,
    }),
  },
};
