import { createPublicKey, type KeyObject, verify } from "node:crypto";
import * as v from "valibot";
import { MULAW_8K, type PcmEncoding } from "../../audio/audio-format.js";
import { parseAnswer, tryParse } from "../../vendors/vendor-json.js";
import type { VendorContext } from "../../vendors/vendor-settings.js";
import { idField, keyField } from "../account-form.js";
import {
  type AccountNumbersApi,
  type AccountNumbersPage,
  accountNumber,
  NUMBERS_PAGE_MAX_BYTES,
  readPages,
} from "../account-numbers.js";
import { toBase64 } from "../base64-audio.js";
import { bodyHash } from "../body-hash.js";
import type { CallToPlace, NextStep } from "../call-control.js";
import { XML_DOCUMENT } from "../call-instructions.js";
import { MediaStream, type StreamDialect, type StreamVoice } from "../media-stream.js";
import { mediaFormat } from "../phone-format.js";
import type { PhoneVendor } from "../phone-vendor.js";
import type { PhoneWire } from "../phone-wire.js";
import { twimlPlacedReport } from "../placed-report.js";
import {
  ConnectedMessage,
  DigitMessage,
  MarkMessage,
  MediaMessage,
  Parameters,
  parametersOf,
  parseJson,
  StopMessage,
  type StreamMessage,
  startMessage,
} from "../stream-message.js";
import { isLiveAfter, isOver, telephonyRequest, unlessOver } from "../telephony-request.js";
import {
  dialAndAsk,
  dialReport,
  hangUp,
  pauseAndAsk,
  sayAndHangUp,
  TEXML_WARM_TRANSFER,
  telnyxConnect,
} from "../twilio/twiml.js";
import { isRecent } from "../webhook-age.js";

export interface TelnyxSignedRequest {
  readonly body: Uint8Array;
  /** The header `telnyx-timestamp`: seconds since 1970. */
  readonly timestamp: string;
  /** The header `telnyx-signature-ed25519`: base64. */
  readonly signature: string;
  readonly nowMs: number;
}

const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
/** What stands before the 32 bytes of an Ed25519 key in DER (RFC 8410). */
const DER_HEAD = Buffer.from("302a300506032b6570032100", "hex");

/** Whether the vendor signed timestamp and body with the key whose public half this is: 32 bytes in base64. */
export function isTelnyxSignature(publicKey: string, request: TelnyxSignedRequest): boolean {
  const { body, timestamp, nowMs } = request;
  const signature = Buffer.from(request.signature, "base64");
  if (signature.length !== SIGNATURE_BYTES || !isRecent(timestamp, nowMs)) return false;
  const signed = Buffer.concat([Buffer.from(`${timestamp}|`), body]);
  return verify(null, signed, keyOf(publicKey), signature);
}

function keyOf(publicKey: string): KeyObject {
  const bytes = Buffer.from(publicKey, "base64");
  if (bytes.length !== KEY_BYTES) throw new RangeError("the public key must have 32 bytes");
  return createPublicKey({ key: Buffer.concat([DER_HEAD, bytes]), format: "der", type: "spki" });
}

const VENDOR = "telnyx";
/** "Call has already ended", with the status 422. */
const CODE_ENDED = "90018";
const Refusal = v.object({
  errors: v.tupleWithRest([v.object({ code: v.string() })], v.unknown()),
});

const PAGE_SIZE = 100;
const NumbersPage = v.object({
  data: v.array(
    v.object({
      id: v.string(),
      phone_number: v.string(),
      connection_name: v.optional(v.nullable(v.string())),
    }),
  ),
  meta: v.object({ total_pages: v.number() }),
});
const Application = v.object({
  data: v.object({
    friendly_name: v.string(),
    voice_url: v.optional(v.nullable(v.string())),
    voice_method: v.optional(v.nullable(v.string())),
  }),
});

const CallState = v.object({ data: v.object({ is_alive: v.boolean() }) });
/** The call control id. */
const Placed = v.object({ call_sid: v.string() });
const REPORTED_STATES = "initiated ringing answered completed";

export interface TelnyxAccount {
  readonly apiKey: string;
  readonly baseUrl: string;
}

/**
 * Telnyx's REST API: calls are placed with a TeXML application
 * (https://developers.telnyx.com/api-reference/texml-rest-commands/create-a-connection-scoped-texml-call), and hung up by a command.
 */
export class TelnyxCalls {
  readonly #account: TelnyxAccount;
  readonly #context: VendorContext;

  constructor(account: TelnyxAccount, context: VendorContext) {
    this.#account = account;
    this.#context = context;
  }

  /** A call that has ended already is a success. */
  async hangUp(callControlId: string): Promise<void> {
    const path = `/v2/calls/${encodeURIComponent(callControlId)}/actions/hangup`;
    await unlessOver(this.#post(path, {}), CODE_ENDED);
  }

  /**
   * https://developers.telnyx.com/api-reference/texml-rest-commands/deprecated-update-call: its successor wants the account's id,
   * which no setting has.
   */
  redirect(callControlId: string, { url }: NextStep): Promise<boolean> {
    const path = `/v2/texml/calls/${encodeURIComponent(callControlId)}/update`;
    return isLiveAfter(this.#post(path, { Url: url, Method: "POST" }), CODE_ENDED);
  }

  /** https://developers.telnyx.com/api-reference/call-information/retrieve-a-call-status */
  async isLive(callControlId: string): Promise<boolean> {
    try {
      const path = `/v2/calls/${encodeURIComponent(callControlId)}`;
      return parseAnswer(VENDOR, CallState, await this.#request("GET", path)).data.is_alive;
    } catch (error) {
      if (isOver(error, CODE_ENDED)) return false;
      throw error;
    }
  }

  async place(texmlAppId: string, call: CallToPlace): Promise<string> {
    const order = {
      To: call.to,
      From: call.from,
      Url: call.answerUrl,
      UrlMethod: "POST",
      StatusCallback: call.statusUrl,
      StatusCallbackMethod: "POST",
      StatusCallbackEvent: REPORTED_STATES,
      Timeout: call.ringTimeoutSec,
      ...(call.detectMachine && {
        MachineDetection: call.detectMessageEnd ? "DetectMessageEnd" : "Enable",
        AsyncAmd: true,
        AsyncAmdStatusCallback: call.statusUrl,
        AsyncAmdStatusCallbackMethod: "POST",
      }),
    };
    const answer = await this.#post(`/v2/texml/calls/${encodeURIComponent(texmlAppId)}`, order);
    return parseAnswer(VENDOR, Placed, answer).call_sid;
  }

  async verify(): Promise<void> {
    await this.#request("GET", "/v2/phone_numbers?page[size]=1");
  }

  /**
   * Telnyx has the address in the TeXML application, and the number names the application
   * (https://developers.telnyx.com/api-reference/phone-number-configurations/list-phone-numbers).
   */
  numbersOf(texmlAppId: string): AccountNumbersApi {
    const application = `/v2/texml_applications/${encodeURIComponent(texmlAppId)}`;
    return {
      list: () => readPages((index) => this.#numbersPage(index)),
      setWebhook: async ({ ref }, url) => {
        const { data } = parseAnswer(VENDOR, Application, await this.#request("GET", application));
        if (data.voice_url !== url || data.voice_method?.toLowerCase() !== "post") {
          const { friendly_name } = data;
          const change = { friendly_name, voice_url: url, voice_method: "post" };
          await this.#request("PATCH", application, change);
        }
        const path = `/v2/phone_numbers/${encodeURIComponent(ref)}`;
        await this.#request("PATCH", path, { connection_id: texmlAppId });
      },
    };
  }

  async #numbersPage(index: number): Promise<AccountNumbersPage> {
    const path = `/v2/phone_numbers?page[size]=${PAGE_SIZE}&page[number]=${index + 1}`;
    const { data, meta } = parseAnswer(VENDOR, NumbersPage, await this.#request("GET", path));
    const numbers = data.flatMap(({ id, phone_number, connection_name }) => {
      const number = accountNumber(phone_number);
      const label = connection_name ?? "";
      return number === undefined ? [] : [{ number, ref: id, label, webhookUrl: undefined }];
    });
    return { numbers, isLast: index + 1 >= meta.total_pages };
  }

  #post(path: string, body: Readonly<Record<string, unknown>>): Promise<string> {
    return this.#request("POST", path, body);
  }

  #request(
    method: "GET" | "POST" | "PATCH",
    path: string,
    body?: Readonly<Record<string, unknown>>,
  ): Promise<string> {
    const { apiKey, baseUrl } = this.#account;
    return telephonyRequest(this.#context, {
      vendor: VENDOR,
      baseUrl,
      method,
      path,
      headers: {
        accept: "application/json",
        authorization: `Bearer ${apiKey}`,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      answerMaxBytes: NUMBERS_PAGE_MAX_BYTES,
      codeOf: (words) => tryParse(Refusal, words)?.value.errors[0].code,
    });
  }
}

export interface TelnyxOptions {
  /** The byte order of `L16` audio: big in RFC 2586, and not stated by Telnyx. */
  readonly pcm?: PcmEncoding;
}

/** As a list of names and values, or as an object; an array would pass for an object as well, so it comes first. */
const CustomParameters = v.union([
  v.pipe(
    v.array(v.object({ name: v.string(), value: v.unknown() })),
    v.transform((list) =>
      parametersOf(Object.fromEntries(list.map(({ name, value }) => [name, value]))),
    ),
  ),
  Parameters,
]);

const StartMessage = v.object({
  event: v.literal("start"),
  stream_id: v.optional(v.string(), ""),
  start: v.object({
    call_control_id: v.optional(v.string(), ""),
    client_state: v.optional(v.nullable(v.string())),
    custom_parameters: v.fallback(v.optional(v.nullable(CustomParameters)), undefined),
    media_format: v.optional(v.unknown()),
  }),
});

const ErrorMessage = v.pipe(
  v.object({ event: v.literal("error") }),
  v.transform((): StreamMessage => ({ kind: "vendorError" })),
);

function telnyxMessage(pcm: PcmEncoding) {
  return v.variant("event", [
    ConnectedMessage,
    v.pipe(
      StartMessage,
      v.transform((message) => startOf(message, pcm)),
    ),
    MediaMessage,
    DigitMessage,
    MarkMessage,
    StopMessage,
    ErrorMessage,
  ]);
}

function startOf(
  { stream_id: streamId, start }: v.InferOutput<typeof StartMessage>,
  pcm: PcmEncoding,
): StreamMessage {
  const parameters = { ...clientState(start.client_state), ...start.custom_parameters };
  const ids = { streamId, callId: start.call_control_id, parameters };
  // The caller's audio has the call's codec where Telnyx cannot convert it, and it converts only PCMU and PCMA
  // (https://developers.telnyx.com/docs/voice/programmable-voice/texml-verbs/stream).
  return startMessage(ids, mediaFormat(start.media_format, { pcm, hasG722: true }));
}

/** Base64, and inside of it a JSON object if it is one of ours. */
function clientState(base64: string | null | undefined): Readonly<Record<string, string>> {
  if (base64 === null || base64 === undefined) return {};
  const values = v.safeParse(Parameters, parseJson(Buffer.from(base64, "base64").toString("utf8")));
  return values.success ? values.output : {};
}

const AUDIO_HEAD = '{"event":"media","media":{"payload":"';
const CLEAR = '{"event":"clear"}';

/** Needs `bidirectionalMode="rtp"`: otherwise Telnyx takes the payload for MP3 and drops it. */
const VOICE: StreamVoice = {
  frameBytes: undefined,
  audio: (bytes) => [`${AUDIO_HEAD}${toBase64(bytes)}"}}`],
  mark: (name) => `{"event":"mark","mark":{"name":"${name}"}}`,
  clear: () => CLEAR,
  hangUp: [],
};

/** One call over Telnyx's media streaming. Whether a `clear` gives marks back is not documented: do not wait for them. */
export function telnyxWire({ pcm = "pcm16be" }: TelnyxOptions = {}): PhoneWire {
  const schema = telnyxMessage(pcm);
  const dialect: StreamDialect = {
    traits: { needsPacing: false, reorders: true, clearDropsMarks: true, closingHangsUp: false },
    format: MULAW_8K,
    // `bidirectionalCodec` of our document; `start` names the codec of the caller's audio alone.
    outbound: MULAW_8K,
    audioIn: "json",
    read: (text) => {
      const message = v.safeParse(schema, parseJson(text));
      return message.success ? message.output : undefined;
    },
    voice: () => VOICE,
  };
  return new MediaStream(dialect);
}

export const TELNYX: PhoneVendor = {
  newWire: () => telnyxWire(),
  documents: {
    contentType: XML_DOCUMENT,
    connect: telnyxConnect,
    farewell: sayAndHangUp,
    hangUp,
    hold: pauseAndAsk,
    dial: dialAndAsk,
    warmTransfer: TEXML_WARM_TRANSFER,
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
  placedReport: twimlPlacedReport,
  account: {
    fields: [
      keyField("apiKey", "API key"),
      idField("texmlAppId", "TeXML application ID", { isRequired: false }),
      keyField("publicKey", "Public key", {
        isRequired: false,
        format: /^[A-Za-z0-9+/]{43}=$/,
        expected: "32 bytes in base64",
      }),
    ],
    settings: ({ apiKey, texmlAppId }, { telnyx }) => ({
      telnyx: { apiKey, texmlAppId, baseUrl: telnyx.baseUrl },
    }),
    webhookKeys: ({ publicKey }) => ({ telnyx: publicKey }),
    placesWith: ["texmlAppId"],
    namesAddress: false,
    provesNumbers: true,
    numbersNeed: "settings.texmlAppId: expected the TeXML application that the numbers are to have",
  },
  accountVariables: ["TELNYX_API_KEY", "TELNYX_TEXML_APP_ID"],
  capabilities: {
    place: "rest",
    machineDetection: "greetingEnd",
    hangUp: "rest",
    transfer: "document",
    failedTransfer: "comesBack",
    warmTransfer: "conference",
    sendDigits: "tones",
    receiveDigits: "messages",
    importNumbers: "rest",
  },
  callControl: ({ telnyx }, context) => {
    const { apiKey, texmlAppId, baseUrl } = telnyx;
    if (apiKey === undefined) return undefined;
    const calls = new TelnyxCalls({ apiKey, baseUrl }, context);
    return {
      hangUp: (callControlId) => calls.hangUp(callControlId),
      redirect: (callControlId, next) => calls.redirect(callControlId, next),
      isLive: (callControlId) => calls.isLive(callControlId),
      verify: () => calls.verify(),
      ...(texmlAppId !== undefined && {
        numbers: calls.numbersOf(texmlAppId),
        place: (call: CallToPlace) => calls.place(texmlAppId, call),
      }),
    };
  },
};
