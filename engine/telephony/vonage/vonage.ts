import { PHONE_RATE_HZ } from "../../audio/phone-encoding.js";
import { JSON_DOCUMENT } from "../call-documents.js";
import type { PhoneVendor } from "../phone-vendor.js";
import { vonageConnect, vonageSayAndHangUp } from "./vonage-ncco.js";
import { isVonageSignature } from "./vonage-signature.js";
import { vonageWire } from "./vonage-wire.js";

export const VONAGE: PhoneVendor = {
  newWire: vonageWire,
  documents: {
    contentType: JSON_DOCUMENT,
    connect: (target) => vonageConnect(target, PHONE_RATE_HZ),
    farewell: vonageSayAndHangUp,
  },
  callIdField: "uuid",
  alwaysNamesCall: true,
  passesCallId: true,
  signature: {
    keyOf: ({ vonage }) => vonage,
    header: "Authorization",
    headerNames: ["authorization"],
    check: (key, { body, nowMs, header }) =>
      isVonageSignature(key, { body, authorization: header("authorization"), nowMs }),
  },
};
