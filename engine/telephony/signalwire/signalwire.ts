import * as v from "valibot";
import { MULAW_8K, type PcmEncoding } from "../../audio/audio-format.js";
import { addressField, idField, keyField } from "../account-form.js";
import { XML_DOCUMENT } from "../call-instructions.js";
import { MediaStream, type StreamDialect } from "../media-stream.js";
import type { PhoneVendor } from "../phone-vendor.js";
import type { PhoneWire } from "../phone-wire.js";
import { twimlPlacedReport } from "../placed-report.js";
import { parseJson } from "../stream-message.js";
import { TwilioCalls } from "../twilio/twilio-calls.js";
import { isTwilioWebhook } from "../twilio/twilio-signature.js";
import { twilioMessage, twilioVoice } from "../twilio/twilio-wire.js";
import {
  dialAndAsk,
  dialReport,
  hangUp,
  pauseAndAsk,
  sayAndHangUp,
  signalwireConnect,
  TWIML_WARM_TRANSFER,
} from "../twilio/twiml.js";
import type { SignedWebhook } from "../webhook-signature.js";

const SPACE_HOST = /^[\w-]+\.signalwire\.com$/;

export interface SignalwireOptions {
  /** The byte order of `L16` audio, which SignalWire does not state. */
  readonly pcm?: PcmEncoding;
}

/** One call over SignalWire's cXML streams: Twilio's messages, but for ids in fewer places and wider codecs. */
export function signalwireWire({ pcm = "pcm16" }: SignalwireOptions = {}): PhoneWire {
  const schema = twilioMessage(pcm);
  const dialect: StreamDialect = {
    traits: { needsPacing: false, reorders: false, clearDropsMarks: false, closingHangsUp: true },
    format: MULAW_8K,
    audioIn: "json",
    read: (text) => {
      const message = v.safeParse(schema, parseJson(text));
      return message.success ? message.output : undefined;
    },
    voice: ({ streamId }) => twilioVoice(streamId),
  };
  return new MediaStream(dialect);
}

/** Where the compatibility API is, below the address of the space. */
const LAML_PATH = "/api/laml";

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
    warmTransfer: TWIML_WARM_TRANSFER,
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
  placedReport: twimlPlacedReport,
  account: {
    fields: [
      idField("projectId", "Project ID"),
      addressField("baseUrl", "Space address", {
        expected: "the space's address, such as https://example.signalwire.com",
      }),
      keyField("apiToken", "API token"),
      keyField("signingKey", "Signing key", { isRequired: false }),
    ],
    settings: ({ projectId, apiToken, baseUrl }) => ({
      signalwire: { projectId, apiToken, baseUrl },
    }),
    webhookKeys: ({ signingKey }) => ({ signalwire: signingKey }),
    namesAddress: true,
    isVendorAddress: ({ protocol, port, hostname, origin }, { signalwire: { baseUrl } }) =>
      (protocol === "https:" && port === "" && SPACE_HOST.test(hostname)) ||
      (baseUrl !== undefined && new URL(baseUrl).origin === origin),
    provesNumbers: true,
  },
  accountVariables: ["SIGNALWIRE_PROJECT_ID", "SIGNALWIRE_API_TOKEN", "SIGNALWIRE_BASE_URL"],
  callControl: ({ signalwire: { projectId, apiToken, baseUrl } }, context) => {
    if (projectId === undefined || apiToken === undefined || baseUrl === undefined)
      return undefined;
    const account = {
      vendor: "signalwire",
      accountSid: projectId,
      authToken: apiToken,
      baseUrl: `${baseUrl.replace(/\/$/, "")}${LAML_PATH}`,
    } as const;
    const calls = new TwilioCalls(account, context);
    return {
      place: (call) => calls.place(call),
      hangUp: (callSid) => calls.hangUp(callSid),
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
    transfer: "document",
    transferCallerId: "caller",
    failedTransfer: "comesBack",
    warmTransfer: "conference",
    sendDigits: "tones",
    receiveDigits: "messages",
    importNumbers: "rest",
  },
};

function signatureIn(header: SignedWebhook["header"]): string {
  return header("x-signalwire-signature") || header("x-twilio-signature");
}
