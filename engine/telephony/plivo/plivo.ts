import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import * as v from "valibot";
import {
  bytesPerSample,
  MULAW_8K,
  type PcmEncoding,
  type RawFormat,
} from "../../audio/audio-format.js";
import { parseAnswer } from "../../vendors/vendor-json.js";
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
import type { CallControlApi, CallToPlace, HangUpState, NextStep } from "../call-control.js";
import {
  type BriefingPart,
  CONFERENCE_MAX_SEC,
  type Dial,
  type Farewell,
  isSipAddress,
  plainAddress,
  type StreamTarget,
  type Wait,
  type WarmTransferDocuments,
  XML_DOCUMENT,
} from "../call-instructions.js";
import { MediaStream, type StreamDialect, type StreamVoice } from "../media-stream.js";
import { mediaFormat } from "../phone-format.js";
import type { PhoneVendor, PlacedReport } from "../phone-vendor.js";
import type { PhoneWire } from "../phone-wire.js";
import { placedReport } from "../placed-report.js";
import {
  ConnectedMessage,
  DigitMessage,
  MediaMessage,
  Parameters,
  parametersOf,
  parseJson,
  StopMessage,
  type StreamMessage,
  startMessage,
} from "../stream-message.js";
import {
  basicAuthorization,
  isLiveAfter,
  telephonyRequest,
  unlessOver,
} from "../telephony-request.js";
import { type TransferReport, transferReport } from "../transfer-report.js";
import { behindStream, hangUp } from "../twilio/twiml.js";
import { webhookField } from "../webhook-field.js";
import { formOf } from "../webhook-signature.js";
import { element, escapeText, xmlDocument } from "../xml.js";

export interface PlivoSignedRequest {
  /** As the vendor was given it, with its query. */
  readonly url: string;
  /** The fields of the form body, decoded. */
  readonly fields: Iterable<readonly [name: string, value: string]>;
  /** The header `X-Plivo-Signature-V3-Nonce`. */
  readonly nonce: string;
  /** The header `X-Plivo-Signature-V3`, or `X-Plivo-Signature-Ma-V3` of a main account: one or more with commas between. */
  readonly signatures: string;
}

const SIGNATURES_MAX = 8;

/**
 * Whether a POST was signed with that auth token: base64 of HMAC-SHA256 over the address, the sorted query, the sorted fields
 * and the nonce (https://www.plivo.com/docs/voice/concepts/signature-validation, and `validateV3Signature` of Plivo's library).
 */
export function isPlivoSignature(authToken: string, request: PlivoSignedRequest): boolean {
  if (request.nonce === "" || !URL.canParse(request.url)) return false;
  const expected = createHmac("sha256", authToken)
    .update(`${signedText(request)}.${request.nonce}`)
    .digest("base64");
  const given = request.signatures.split(",").slice(0, SIGNATURES_MAX);
  return given.some((signature) => isEqual(signature.trim(), expected));
}

function signedText({ url, fields }: PlivoSignedRequest): string {
  const { protocol, host, pathname, searchParams } = new URL(url);
  const query = sorted(searchParams)
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
  const form = sorted(fields).flat().join("");
  const address = `${protocol}//${host}${pathname}`;
  if (query === "" && form === "") return address;
  return `${address}?${query}${query !== "" && form !== "" ? "." : ""}${form}`;
}

/** By name, and values of one name by themselves, in the order of UTF-16 code units. */
function sorted(
  pairs: Iterable<readonly [string, string]>,
): readonly (readonly [string, string])[] {
  return [...pairs].sort(([name, value], [otherName, otherValue]) => {
    if (name !== otherName) return name < otherName ? -1 : 1;
    return value < otherValue ? -1 : 1;
  });
}

function isEqual(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Plivo cuts what is longer. */
const EXTRA_HEADERS_BYTES_MAX = 512;
const PLAIN = /^[A-Za-z0-9]+$/;
/** A day, the most that Plivo takes: a call's length is limited elsewhere. */
const STREAM_TIMEOUT_SEC = 86_400;

/** Throws a RangeError for parameters that are not letters and digits, or too long: Plivo would spoil them. */
export function plivoConnect(target: StreamTarget): string {
  const pairs = Object.entries(target.parameters);
  const extraHeaders = pairs.map(([name, value]) => `${name}=${value}`).join(",");
  if (!pairs.flat().every((text) => PLAIN.test(text))) {
    throw new RangeError("Plivo passes on only letters and digits");
  }
  if (extraHeaders.length > EXTRA_HEADERS_BYTES_MAX) {
    throw new RangeError(`Plivo passes on at most ${EXTRA_HEADERS_BYTES_MAX} bytes`);
  }
  const attributes = {
    bidirectional: "true",
    keepCallAlive: "true",
    contentType: "audio/x-mulaw;rate=8000",
    streamTimeout: String(STREAM_TIMEOUT_SEC),
    statusCallbackUrl: target.statusUrl,
    extraHeaders: extraHeaders === "" ? undefined : extraHeaders,
  };
  const stream = element("Stream", attributes, escapeText(plainAddress(target.url)));
  // `keepCallAlive` holds the document until the stream has ended (https://www.plivo.com/docs/voice/xml/audiostream).
  return xmlDocument(element("Response", {}, stream + behindStream(target)));
}

export function plivoWaitAndAsk({ url, pauseSec }: Wait): string {
  const wait = element("Wait", { length: String(pauseSec) });
  return xmlDocument(element("Response", {}, wait + behindStream({ continueUrl: url })));
}

export function plivoSayAndHangUp({ text, language }: Farewell): string {
  const speak = element("Speak", { language }, escapeText(text));
  return xmlDocument(element("Response", {}, speak + element("Hangup", {})));
}

/** `User` is Plivo's word for a SIP endpoint; see https://www.plivo.com/docs/voice/xml/dial. */
export function plivoDial({ to, ringSec, resultUrl, callerId }: Dial): string {
  const target = element(isSipAddress(to) ? "User" : "Number", {}, escapeText(to));
  const attributes = { action: resultUrl, method: "POST", timeout: String(ringSec), callerId };
  return xmlDocument(element("Response", {}, element("Dial", attributes, target)));
}

export function plivoDialReport(body: string): TransferReport | undefined {
  const fields = {
    status: "DialStatus",
    reason: "DialHangupCause",
    duration: "DialBLegDuration",
  };
  return transferReport(body, fields);
}

/** How long the person may take to answer, from the end of the question on; Plivo takes 5 to 60 seconds. */
const ANSWER_SEC = 8;
const CALL_IS_OVER: ReadonlySet<string> = new Set([
  "completed",
  "busy",
  "failed",
  "timeout",
  "no-answer",
  "cancel",
  "canceled",
]);

/**
 * A warm transfer at Plivo: https://plivo.com/docs/voice/xml/conferencing (whoever waits for the start hears its music) and
 * https://plivo.com/docs/voice/xml/getinput, which without an answer does what is behind it.
 */
export const PLIVO_WARM_TRANSFER: WarmTransferDocuments = {
  reportsCallerExit: true,
  wait: ({ conference, resultUrl }) =>
    conferenceOf(conference, { action: resultUrl, method: "POST" }, "false"),
  ask: ({ introduction, question, language, answerUrl }) => {
    const introduced = introduction === undefined ? "" : spoken(introduction, language);
    const attributes = {
      inputType: "dtmf speech",
      numDigits: "1",
      executionTimeout: String(ANSWER_SEC),
      language,
      hints: "1,2,yes,no",
      action: answerUrl,
      method: "POST",
    };
    const input = element("GetInput", attributes, spoken(question, language));
    const unanswered = behindStream({ continueUrl: answerUrl });
    return xmlDocument(element("Response", {}, introduced + input + unanswered));
  },
  join: (conference) => conferenceOf(conference, {}, "true"),
  goOn: (url) => xmlDocument(element("Response", {}, behindStream({ continueUrl: url }))),
  answer: (body) => ({
    digits: webhookField(body, "Digits"),
    speech: new URLSearchParams(body).get("Speech") ?? "",
  }),
  personReport: (body) => {
    const isEnd = CALL_IS_OVER.has(webhookField(body, "CallStatus"));
    if (!isEnd || webhookField(body, "Machine") !== "") return undefined;
    return transferReport(body, {
      status: "CallStatus",
      reason: "HangupCause",
      duration: "Duration",
    });
  },
};

function spoken({ audioUrl, text }: BriefingPart, language: string): string {
  return audioUrl === undefined
    ? element("Speak", { language }, escapeText(text))
    : element("Play", {}, escapeText(audioUrl));
}

/** Ends with either of the two. */
function conferenceOf(
  name: string,
  own: Readonly<Record<string, string>>,
  startConferenceOnEnter: string,
): string {
  const attributes = {
    startConferenceOnEnter,
    endConferenceOnExit: "true",
    maxMembers: "2",
    timeLimit: String(CONFERENCE_MAX_SEC),
    ...own,
  };
  return xmlDocument(element("Response", {}, element("Conference", attributes, escapeText(name))));
}

const VENDOR = "plivo";
const Placed = v.object({ request_uuid: v.string() });
const PAGE_SIZE = 20;
/** More applications of one account are not looked through: another one is made. */
const APPLICATION_PAGES_MAX = 5;
const Meta = v.object({ next: v.optional(v.nullable(v.string())) });
const NumbersPage = v.object({
  meta: Meta,
  objects: v.array(v.object({ number: v.string(), alias: v.optional(v.nullable(v.string())) })),
});
const ApplicationsPage = v.object({
  meta: Meta,
  objects: v.array(
    v.object({ app_id: v.string(), answer_url: v.optional(v.nullable(v.string())) }),
  ),
});
const CreatedApplication = v.object({ app_id: v.string() });

/** What Plivo posts to `hangup_url`, and to `machine_detection_url` with the verdict alone. */
export function plivoPlacedReport(body: string): PlacedReport {
  const verdicts: Readonly<Record<string, string>> = { true: "machine", false: "human" };
  const answeredBy = verdicts[webhookField(body, "Machine").toLowerCase()] ?? "";
  return answeredBy === ""
    ? placedReport(body, "CallStatus")
    : { status: "in-progress", answeredBy };
}

export interface PlivoAccount {
  readonly authId: string;
  readonly authToken: string;
  readonly baseUrl: string;
}

/** Plivo's REST API of calls (https://www.plivo.com/docs/voice/api/call). */
export class PlivoCalls implements CallControlApi {
  readonly #account: PlivoAccount;
  readonly #context: VendorContext;

  constructor(account: PlivoAccount, context: VendorContext) {
    this.#account = account;
    this.#context = context;
  }

  /** Resolves with the id of the request, which is the call's own as long as it has one target. */
  async place(call: CallToPlace): Promise<string> {
    const order = {
      to: withoutPlus(call.to),
      from: withoutPlus(call.from),
      answer_url: call.answerUrl,
      answer_method: "POST",
      hangup_url: call.statusUrl,
      hangup_method: "POST",
      ring_timeout: call.ringTimeoutSec,
      ...(call.detectMachine && {
        machine_detection: "true",
        machine_detection_url: call.statusUrl,
        machine_detection_method: "POST",
      }),
    };
    const answer = await this.#request("POST", "Call/", JSON.stringify(order));
    return parseAnswer(VENDOR, Placed, answer).request_uuid;
  }

  /** A call that still rings is known by its request only. */
  async hangUp(callUuid: string, state: HangUpState = "answered"): Promise<void> {
    const id = encodeURIComponent(callUuid);
    if (state !== "answered") await unlessOver(this.#request("DELETE", `Request/${id}/`));
    if (state !== "ringing") await unlessOver(this.#request("DELETE", `Call/${id}/`));
  }

  /** https://www.plivo.com/docs/voice/api/call/transfer-a-call */
  redirect(callUuid: string, { url }: NextStep): Promise<boolean> {
    const order = { legs: "aleg", aleg_url: url, aleg_method: "POST" };
    const path = `Call/${encodeURIComponent(callUuid)}/`;
    return isLiveAfter(this.#request("POST", path, JSON.stringify(order)));
  }

  /** Whether a call that has been answered is still connected. */
  isLive(callUuid: string): Promise<boolean> {
    return isLiveAfter(this.#request("GET", `Call/${encodeURIComponent(callUuid)}/?status=live`));
  }

  async verify(): Promise<void> {
    await this.#request("GET", "");
  }

  /** A number names an application, and that the address (https://www.plivo.com/docs/numbers/api/account-phone-number). */
  get numbers(): AccountNumbersApi {
    return {
      list: () => readPages((index) => this.#numbersPage(index)),
      setWebhook: async ({ ref }, url) => {
        const app_id = (await this.#applicationFor(url)) ?? (await this.#newApplication(url));
        await this.#request(
          "POST",
          `Number/${encodeURIComponent(ref)}/`,
          JSON.stringify({ app_id }),
        );
      },
    };
  }

  async #numbersPage(index: number): Promise<AccountNumbersPage> {
    const answer = await this.#request("GET", `Number/?${pageQuery(index)}`);
    const { objects, meta } = parseAnswer(VENDOR, NumbersPage, answer);
    const numbers = objects.flatMap(({ number: written, alias }) => {
      const number = accountNumber(written);
      const label = alias ?? "";
      return number === undefined ? [] : [{ number, ref: written, label, webhookUrl: undefined }];
    });
    return { numbers, isLast: (meta.next ?? "") === "" };
  }

  /** Another number of the account has it already. */
  async #applicationFor(url: string): Promise<string | undefined> {
    for (let index = 0; index < APPLICATION_PAGES_MAX; index += 1) {
      const answer = await this.#request("GET", `Application/?${pageQuery(index)}`);
      const { objects, meta } = parseAnswer(VENDOR, ApplicationsPage, answer);
      const found = objects.find(({ answer_url }) => answer_url === url);
      if (found !== undefined) return found.app_id;
      if ((meta.next ?? "") === "") return undefined;
    }
    return undefined;
  }

  async #newApplication(url: string): Promise<string> {
    const application = {
      app_name: `Parley ${randomUUID()}`,
      answer_url: url,
      answer_method: "POST",
    };
    const answer = await this.#request("POST", "Application/", JSON.stringify(application));
    return parseAnswer(VENDOR, CreatedApplication, answer).app_id;
  }

  #request(method: "GET" | "POST" | "DELETE", path: string, body?: string): Promise<string> {
    const { authId, authToken, baseUrl } = this.#account;
    return telephonyRequest(this.#context, {
      vendor: VENDOR,
      baseUrl,
      method,
      path: `/v1/Account/${encodeURIComponent(authId)}/${path}`,
      headers: {
        accept: "application/json",
        authorization: basicAuthorization(authId, authToken),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body }),
      answerMaxBytes: NUMBERS_PAGE_MAX_BYTES,
    });
  }
}

/** Plivo lists 20 at most. */
function pageQuery(index: number): string {
  return `limit=${PAGE_SIZE}&offset=${index * PAGE_SIZE}`;
}

/** Plivo and Vonage write numbers without it. */
function withoutPlus(number: string): string {
  return number.replace(/^\+/, "");
}

export interface PlivoOptions {
  /** The byte order of `audio/x-l16`, which Plivo does not state. */
  readonly pcm?: PcmEncoding;
}

const StartMessage = v.object({
  event: v.literal("start"),
  streamId: v.optional(v.string()),
  start: v.object({
    callId: v.optional(v.string(), ""),
    streamId: v.optional(v.string()),
    mediaFormat: v.optional(v.unknown()),
  }),
  extra_headers: v.optional(v.unknown()),
});

const PlayedMessage = v.pipe(
  v.object({ event: v.literal("playedStream"), name: v.string() }),
  v.transform(({ name }): StreamMessage => ({ kind: "mark", name })),
);

const ClearedMessage = v.pipe(
  v.object({ event: v.literal("clearedAudio") }),
  v.transform((): StreamMessage => ({ kind: "cleared" })),
);

function plivoMessage(pcm: PcmEncoding) {
  return v.variant("event", [
    ConnectedMessage,
    v.pipe(
      StartMessage,
      v.transform((message) => startOf(message, pcm)),
    ),
    MediaMessage,
    DigitMessage,
    PlayedMessage,
    ClearedMessage,
    StopMessage,
  ]);
}

function startOf(message: v.InferOutput<typeof StartMessage>, pcm: PcmEncoding): StreamMessage {
  const { start } = message;
  const streamId = start.streamId ?? message.streamId ?? "";
  const parameters = extraHeaders(message.extra_headers);
  const ids = { streamId, callId: start.callId, parameters };
  return startMessage(ids, mediaFormat(start.mediaFormat, { pcm }));
}

/** Seen as an object, as JSON in a text, and as `{X-PH-name: value, …}`; the prefix is Plivo's. */
function extraHeaders(value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== "string") {
    const values = v.safeParse(Parameters, value);
    return withoutPrefix(values.success ? values.output : {});
  }
  const json = v.safeParse(Parameters, parseJson(value));
  if (json.success) return withoutPrefix(json.output);
  const pairs = value.replace(/^\{|\}$/g, "").split(/[,;]/);
  return withoutPrefix(Object.fromEntries(pairs.flatMap(headerOf)));
}

/** Without an expression for the whole pair: one that also trims takes seconds for 64 KiB of spaces. */
function headerOf(pair: string): readonly (readonly [string, string])[] {
  const at = pair.search(/[:=]/);
  const name = pair.slice(0, Math.max(0, at)).trim();
  return name === "" || /\s/.test(name) ? [] : [[name, pair.slice(at + 1).trim()]];
}

function withoutPrefix(
  values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
  const entries = Object.entries(parametersOf(values));
  return Object.fromEntries(entries.map(([name, value]) => [name.replace(/^X-PH-/i, ""), value]));
}

function plivoVoice(streamId: string, { encoding, sampleRateHz }: RawFormat): StreamVoice {
  const id = JSON.stringify(streamId);
  const contentType = bytesPerSample(encoding) === 2 ? "audio/x-l16" : "audio/x-mulaw";
  const media = `"contentType":"${contentType}","sampleRate":${sampleRateHz}`;
  const audioHead = `{"event":"playAudio","media":{${media},"payload":"`;
  const markHead = `{"event":"checkpoint","streamId":${id},"name":"`;
  const clear = `{"event":"clearAudio","streamId":${id}}`;
  return {
    frameBytes: undefined,
    audio: (bytes) => [`${audioHead}${toBase64(bytes)}"}}`],
    mark: (name) => `${markHead}${name}"}`,
    clear: () => clear,
    hangUp: [],
  };
}

/** One call over Plivo's bidirectional `<Stream>`. It tells no reliable end: the socket's close is it. */
export function plivoWire({ pcm = "pcm16" }: PlivoOptions = {}): PhoneWire {
  const schema = plivoMessage(pcm);
  const dialect: StreamDialect = {
    traits: { needsPacing: false, reorders: false, clearDropsMarks: true, closingHangsUp: false },
    format: MULAW_8K,
    audioIn: "json",
    read: (text) => {
      const message = v.safeParse(schema, parseJson(text));
      return message.success ? message.output : undefined;
    },
    voice: (started) => plivoVoice(started.streamId, started),
  };
  return new MediaStream(dialect);
}

export const PLIVO: PhoneVendor = {
  newWire: () => plivoWire(),
  documents: {
    contentType: XML_DOCUMENT,
    connect: plivoConnect,
    farewell: plivoSayAndHangUp,
    hangUp,
    hold: plivoWaitAndAsk,
    dial: plivoDial,
    warmTransfer: PLIVO_WARM_TRANSFER,
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
  placedReport: plivoPlacedReport,
  account: {
    fields: [idField("authId", "Auth ID"), keyField("authToken", "Auth token")],
    settings: ({ authId, authToken }, { plivo }) => ({
      plivo: { authId, authToken, baseUrl: plivo.baseUrl },
    }),
    webhookKeys: ({ authToken }) => ({ plivo: authToken }),
    namesAddress: false,
    provesNumbers: true,
  },
  accountVariables: ["PLIVO_AUTH_ID", "PLIVO_AUTH_TOKEN"],
  capabilities: {
    place: "rest",
    machineDetection: "report",
    hangUp: "rest",
    transfer: "document",
    failedTransfer: "comesBack",
    warmTransfer: "conference",
    sendDigits: "tones",
    receiveDigits: "messages",
    importNumbers: "rest",
  },
  callControl: ({ plivo }, context) => {
    const { authId, authToken } = plivo;
    if (authId === undefined || authToken === undefined) return undefined;
    return new PlivoCalls({ ...plivo, authId, authToken }, context);
  },
};
