import type { CallDocuments } from "../call-documents.js";
import type { PhoneVendor } from "../phone-vendor.js";
import { asteriskWire } from "./asterisk-wire.js";

/** A dialplan adds them to its request: Asterisk itself sends nothing. */
const DIALPLAN_FIELDS = {
  from: "from",
  to: "to",
  callerName: "callerName",
  direction: "direction",
};

/** For a dialplan: what its stream is to begin with and where to ask behind it, or why there will be none in words. */
const DIALPLAN: CallDocuments = {
  contentType: "text/plain; charset=utf-8",
  connect: ({ parameters, continueUrl }) => {
    const token = parameters["token"] ?? "";
    return continueUrl === undefined ? token : `${token}|${continueUrl}`;
  },
  farewell: ({ text }) => text,
  hangUp: () => "over",
};

/** Asterisk's WebSocket channel. */
export const ASTERISK: PhoneVendor = {
  newWire: asteriskWire,
  documents: DIALPLAN,
  callInfoFields: DIALPLAN_FIELDS,
  hasTokenInAddress: true,
  namesNextOnRequest: true,
};

/** Asterisk's AudioSocket, which comes over plain TCP. */
export const AUDIO_SOCKET: PhoneVendor = {
  documents: DIALPLAN,
  callInfoFields: DIALPLAN_FIELDS,
  namesNextOnRequest: true,
};
