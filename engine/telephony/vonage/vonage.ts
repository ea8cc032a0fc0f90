import { randomUUID } from "node:crypto";
import { importPKCS8, jwtVerify, SignJWT } from "jose";
import * as v from "valibot";
import { frameBytesOf, PCM_16K, PHONE_RATE_HZ, type RawFormat } from "../../audio/audio-format.js";
import { VendorError } from "../../vendors/contracts.js";
import { parseAnswer } from "../../vendors/vendor-json.js";
import type { VendorContext } from "../../vendors/vendor-settings.js";
import { idField, keyField, pemField } from "../account-form.js";
import {
  type AccountNumber,
  type AccountNumbersApi,
  type AccountNumbersPage,
  accountNumber,
  NUMBERS_PAGE_MAX_BYTES,
  readPages,
} from "../account-numbers.js";
import { bodyHash } from "../body-hash.js";
import type { CallControlApi, CallToPlace, NextStep } from "../call-control.js";
import {
  type BriefingPart,
  type Dial,
  type Farewell,
  isSipAddress,
  JSON_DOCUMENT,
  plainAddress,
  type StreamTarget,
  type WarmTransferDocuments,
} from "../call-instructions.js";
import { MediaStream, type StreamDialect, type StreamVoice } from "../media-stream.js";
import { offeredFormat, wholeFrames } from "../phone-format.js";
import type { PhoneVendor, PlacedReport } from "../phone-vendor.js";
import type { PhoneWire } from "../phone-wire.js";
import { placedReport } from "../placed-report.js";
import { parametersOf, parseJson, type StreamMessage, startMessage } from "../stream-message.js";
import {
  basicAuthorization,
  isLiveAfter,
  isOver,
  telephonyRequest,
  unlessOver,
} from "../telephony-request.js";
import { withLineBreaks } from "../telephony-settings.js";
import { type TransferReport, transferReport } from "../transfer-report.js";
import { isRecent, WEBHOOK_AGE_MAX_MS } from "../webhook-age.js";
import { webhookField } from "../webhook-field.js";

export interface VonageSignedRequest {
  readonly body: Uint8Array;
  /** The header `Authorization`: `Bearer <JWT>`. */
  readonly authorization: string;
  readonly nowMs: number;
}

const BEARER = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i;
const CLOCK_SKEW_MAX_SEC = WEBHOOK_AGE_MAX_MS / 1_000;
const Claims = v.object({ iat: v.number(), payload_hash: v.optional(v.string()) });

/**
 * Whether the account's signature secret signed the token, and the token this body: one without a hash
 * fits an empty body only
 * (https://developer.vonage.com/en/getting-started/concepts/webhooks#decoding-signed-webhooks). Never rejects.
 */
export async function isVonageSignature(
  secret: string,
  { body, authorization, nowMs }: VonageSignedRequest,
): Promise<boolean> {
  const token = BEARER.exec(authorization)?.[1];
  if (token === undefined) return false;
  try {
    const { payload } = await jwtVerify(token, Buffer.from(secret), {
      algorithms: ["HS256"],
      currentDate: new Date(nowMs),
      clockTolerance: CLOCK_SKEW_MAX_SEC,
    });
    const { iat, payload_hash: hash } = v.parse(Claims, payload);
    // The library would add the tolerance to the age, and a replay is not known for so long.
    if (!isRecent(String(Math.floor(iat)), nowMs)) return false;
    return hash === undefined ? body.length === 0 : hash.toLowerCase() === bodyHash(body);
  } catch {
    return false;
  }
}

/** Vonage refuses more. */
const HEADERS_BYTES_MAX = 512;

/** A call control object (NCCO). Throws a RangeError for parameters that are too long for Vonage. */
export function vonageConnect(target: StreamTarget, sampleRateHz: 8000 | 16_000 = 16_000): string {
  const headers = target.parameters;
  if (Buffer.byteLength(JSON.stringify(headers)) > HEADERS_BYTES_MAX) {
    throw new RangeError(`Vonage passes on at most ${HEADERS_BYTES_MAX} bytes`);
  }
  const endpoint = {
    type: "websocket",
    uri: plainAddress(target.url),
    "content-type": `audio/l16;rate=${sampleRateHz}`,
    headers,
  };
  return JSON.stringify([{ action: "connect", endpoint: [endpoint], ...eventsOf(target) }]);
}

/** A synchronous `connect` does what the answer to its last event says; see https://developer.vonage.com/en/voice/voice-api/guides/websockets. */
function eventsOf({ continueUrl, statusUrl }: StreamTarget): Readonly<Record<string, unknown>> {
  if (continueUrl !== undefined) return { eventType: "synchronous", eventUrl: [continueUrl] };
  return statusUrl === undefined ? {} : { eventUrl: [statusUrl] };
}

/** The field of our `notify` actions, which have no other data. */
const NOTIFY_FIELD = "parley";
/** States of the stream in which Vonage waits for what comes next: ended by us, or never opened. */
const WAITS = new Set(["disconnected", "failed", "unanswered", "rejected", "busy", "timeout"]);

/** Our `notify` has this, and no state: Vonage waits for the answer. */
const NotifyEvent = v.object({ payload: v.object({ [NOTIFY_FIELD]: v.string() }) });

/** Vonage only tells of all other states, and must not be given another stream then. */
export function isVonageWaiting(body: string): boolean {
  return WAITS.has(webhookField(body, "status")) || v.is(NotifyEvent, parseJson(body));
}

/** No document: nothing stands behind the stream in the one before, and the call ends with it. */
export function vonageHangUp(): string {
  return "";
}

/** The call ends with the document. */
export function vonageSayAndHangUp({ text, language }: Farewell): string {
  return JSON.stringify([
    { action: "talk", text, ...(language === undefined ? {} : { language }) },
  ]);
}

/** Vonage writes numbers without the plus. As a synchronous `connect` it asks what to do when nobody is reached. */
export function vonageDial(dial: Dial): string {
  return JSON.stringify(dialActions(dial));
}

/** A number or a SIP address, as orders and documents name it. */
function endpointOf(to: string) {
  return isSipAddress(to) ? { type: "sip", uri: to } : { type: "phone", number: plain(to) };
}

/** Vonage allows no more. */
const TALK_MAX_SEC = 2 * 60 * 60;

/**
 * A telephone is called from one of the account's numbers or the caller's own, or the call does not connect
 * (https://developer.vonage.com/en/voice/voice-api/ncco-reference#connect).
 */
function dialActions({ to, ringSec, talkMaxSec, resultUrl, callerId }: Dial): readonly unknown[] {
  const connect = {
    action: "connect",
    ...(callerId === undefined ? { randomFromNumber: true } : { from: plain(callerId) }),
    timeout: ringSec,
    limit: Math.min(talkMaxSec, TALK_MAX_SEC),
    endpoint: [endpointOf(to)],
    eventType: "synchronous",
    eventUrl: [resultUrl],
  };
  return [connect];
}

/** How long the person may take to begin an answer; Vonage takes 0 to 10 seconds for keys. */
const ANSWER_SEC = 5;
const END_OF_SPEECH_SEC = 1;
const CALL_IS_OVER: ReadonlySet<string> = new Set([
  "completed",
  "busy",
  "timeout",
  "unanswered",
  "rejected",
  "failed",
  "cancelled",
]);
/** What an `input` action posts: https://developer.vonage.com/en/voice/voice-api/webhook-reference#input */
const InputEvent = v.object({
  dtmf: v.optional(v.nullable(v.object({ digits: v.optional(v.nullable(v.string())) }))),
  speech: v.optional(
    v.nullable(
      v.object({ results: v.optional(v.nullable(v.array(v.object({ text: v.string() })))) }),
    ),
  ),
});

/**
 * A warm transfer at Vonage: `conversation`, `input` and `notify` of
 * https://developer.vonage.com/en/voice/voice-api/ncco-reference. No request says that a caller in a conversation has hung up.
 */
export const VONAGE_WARM_TRANSFER: WarmTransferDocuments = {
  reportsCallerExit: false,
  wait: ({ conference, resultUrl, music }) =>
    JSON.stringify([
      conversation(conference, { startOnEnter: false, musicOnHoldUrl: [music.soundUrl] }),
      notify(resultUrl),
    ]),
  ask: ({ introduction, question, language, answerUrl }) => {
    const introduced = introduction === undefined ? [] : [spoken(introduction, language)];
    const input = {
      action: "input",
      type: ["dtmf", "speech"],
      dtmf: { maxDigits: 1, timeOut: ANSWER_SEC },
      speech: {
        language,
        context: ["1", "2", "yes", "no"],
        startTimeout: ANSWER_SEC,
        endOnSilence: END_OF_SPEECH_SEC,
      },
      eventUrl: [answerUrl],
      eventMethod: "POST",
    };
    return JSON.stringify([...introduced, { ...spoken(question, language), bargeIn: true }, input]);
  },
  join: (conference) => JSON.stringify([conversation(conference, { startOnEnter: true })]),
  goOn: (url) => JSON.stringify([notify(url)]),
  answer: (body) => {
    const parsed = v.safeParse(InputEvent, parseJson(body));
    const { dtmf, speech } = parsed.success ? parsed.output : {};
    return { digits: dtmf?.digits ?? "", speech: speech?.results?.[0]?.text ?? "" };
  },
  personReport: (body) =>
    CALL_IS_OVER.has(webhookField(body, "status"))
      ? transferReport(body, { status: "status", reasons: ["detail"], duration: "duration" })
      : undefined,
};

/** Ends with either of the two. */
function conversation(name: string, own: Readonly<Record<string, unknown>>) {
  return { action: "conversation", name, endOnExit: true, ...own };
}

/** Vonage posts it, and does what the answer says. */
function notify(url: string) {
  return {
    action: "notify",
    payload: { [NOTIFY_FIELD]: "next" },
    eventUrl: [url],
    eventMethod: "POST",
  };
}

function spoken({ audioUrl, text }: BriefingPart, language: string) {
  return audioUrl === undefined
    ? { action: "talk", text, language }
    : { action: "stream", streamUrl: [audioUrl] };
}

function plain(number: string): string {
  return number.replace(/^\+/, "");
}

const VENDOR = "vonage";
const TOKEN_LIFETIME_SEC = 5 * 60;
const Placed = v.object({ uuid: v.string() });
const CallState = v.object({ status: v.string() });

/**
 * The paid detection also reports beeps, while the call goes on
 * (https://developer.vonage.com/en/voice/voice-api/concepts/advanced-machine-detection).
 */
function machineDetection({ detectMessageEnd }: CallToPlace) {
  return detectMessageEnd
    ? { advanced_machine_detection: { behavior: "continue", mode: "default" } }
    : { machine_detection: "continue" };
}

/** What Vonage posts to `event_url`; the verdict on a machine is a status of its own, and its beep a part of that. */
export function vonagePlacedReport(body: string): PlacedReport {
  const { status } = placedReport(body, "status");
  if (status !== "machine" && status !== "human") return { status, answeredBy: "" };
  const isBeep = status === "machine" && webhookField(body, "sub_state") === "beep_start";
  return { status: "in-progress", answeredBy: isBeep ? "machine_end_beep" : status };
}

export interface VonageAccount {
  readonly applicationId: string;
  /** PEM (PKCS #8). */
  readonly privateKey: string;
  /** What the APIs of numbers and applications want in place of a token. */
  readonly apiKey?: string | undefined;
  readonly apiSecret?: string | undefined;
  readonly baseUrl: string;
}

/** The numbers have a host of their own, unless a test or a proxy stands for both. */
const NUMBERS_HOSTS: readonly (readonly [api: string, numbers: string])[] = [
  ["//api.nexmo.com", "//rest.nexmo.com"],
  ["//api.vonage.com", "//rest.nexmo.com"],
];
const PAGE_SIZE = 100;
const NumbersPage = v.object({
  count: v.optional(v.number(), 0),
  numbers: v.optional(v.array(v.object({ country: v.string(), msisdn: v.string() })), []),
});
/** Parts that are not named here are sent back as they came: a PUT replaces the application. */
const Application = v.looseObject({
  name: v.string(),
  capabilities: v.optional(v.record(v.string(), v.unknown()), {}),
});
const VoiceCapability = v.looseObject({
  webhooks: v.optional(v.record(v.string(), v.unknown()), {}),
});

interface VonageRequest {
  readonly baseUrl: string;
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly json?: string | undefined;
  readonly form?: URLSearchParams;
}

/** Vonage's REST API of calls (https://developer.vonage.com/en/api/voice), each request with a token of the application's. */
export class VonageCalls implements CallControlApi {
  readonly #account: VonageAccount;
  readonly #context: VendorContext;

  constructor(account: VonageAccount, context: VendorContext) {
    this.#account = account;
    this.#context = context;
  }

  async place(call: CallToPlace): Promise<string> {
    const order = {
      to: [endpointOf(call.to)],
      from: { type: "phone", number: plain(call.from) },
      answer_url: [call.answerUrl],
      answer_method: "POST",
      event_url: [call.statusUrl],
      event_method: "POST",
      ringing_timer: call.ringTimeoutSec,
      ...(call.detectMachine && machineDetection(call)),
    };
    return parseAnswer(VENDOR, Placed, await this.#request("POST", "", order)).uuid;
  }

  async hangUp(uuid: string): Promise<void> {
    await unlessOver(this.#request("PUT", `/${encodeURIComponent(uuid)}`, { action: "hangup" }));
  }

  /** The caller's leg leaves the stream, which ends, for the objects (https://developer.vonage.com/en/api/voice#updateCall). */
  async transfer(uuid: string, dial: Dial): Promise<void> {
    const destination = { type: "ncco", ncco: dialActions(dial) };
    const path = `/${encodeURIComponent(uuid)}`;
    await this.#request("PUT", path, { action: "transfer", destination });
  }

  /** As `transfer`, to what the document says. */
  redirect(uuid: string, { document }: NextStep): Promise<boolean> {
    const destination = { type: "ncco", ncco: JSON.parse(document) };
    const path = `/${encodeURIComponent(uuid)}`;
    return isLiveAfter(this.#request("PUT", path, { action: "transfer", destination }));
  }

  /** The verdict of the machine detection is a state, too, which says nothing of the call's end. */
  async isLive(uuid: string): Promise<boolean> {
    try {
      const answer = await this.#request("GET", `/${encodeURIComponent(uuid)}`);
      return !CALL_IS_OVER.has(parseAnswer(VENDOR, CallState, answer).status);
    } catch (error) {
      if (isOver(error)) return false;
      throw error;
    }
  }

  async verify(): Promise<void> {
    await this.#request("GET", "?page_size=1");
  }

  /** https://developer.vonage.com/en/api/numbers, with https://developer.vonage.com/en/api/application.v2 for the address. */
  get numbers(): AccountNumbersApi | undefined {
    const { apiKey, apiSecret } = this.#account;
    if (apiKey === undefined || apiSecret === undefined) return undefined;
    const authorization = basicAuthorization(apiKey, apiSecret);
    return {
      list: () => readPages((index) => this.#numbersPage(authorization, index)),
      setWebhook: async ({ number, ref: country }, url) => {
        await this.#setAnswerUrl(authorization, url);
        const { applicationId } = this.#account;
        const form = { country, msisdn: plain(number), app_id: applicationId };
        await this.#ask(authorization, {
          baseUrl: this.#numbersUrl,
          method: "POST",
          path: "/number/update",
          form: new URLSearchParams(form),
        });
      },
    };
  }

  get #numbersUrl(): string {
    const { baseUrl } = this.#account;
    const [api, numbers] = NUMBERS_HOSTS.find(([host]) => baseUrl.includes(host)) ?? [];
    return api === undefined || numbers === undefined ? baseUrl : baseUrl.replace(api, numbers);
  }

  /** A number is named by its country beside itself. */
  async #numbersPage(authorization: string, index: number): Promise<AccountNumbersPage> {
    const path = `/account/numbers?size=${PAGE_SIZE}&index=${index + 1}`;
    const baseUrl = this.#numbersUrl;
    const answer = await this.#ask(authorization, { baseUrl, method: "GET", path });
    const page = parseAnswer(VENDOR, NumbersPage, answer);
    const numbers = page.numbers.flatMap(({ country, msisdn }): readonly AccountNumber[] => {
      const number = accountNumber(msisdn);
      return number === undefined
        ? []
        : [{ number, ref: country, label: "", webhookUrl: undefined }];
    });
    return { numbers, isLast: (index + 1) * PAGE_SIZE >= page.count };
  }

  async #setAnswerUrl(authorization: string, url: string): Promise<void> {
    const { applicationId, baseUrl } = this.#account;
    const path = `/v2/applications/${encodeURIComponent(applicationId)}`;
    const answer = await this.#ask(authorization, { baseUrl, method: "GET", path });
    const { id: _id, _links, ...application } = parseAnswer(VENDOR, Application, answer);
    const voice = v.parse(VoiceCapability, application.capabilities["voice"] ?? {});
    const answer_url = { address: url, http_method: "POST" };
    const capabilities = {
      ...application.capabilities,
      voice: { ...voice, webhooks: { ...voice.webhooks, answer_url } },
    };
    const body = JSON.stringify({ ...application, capabilities });
    await this.#ask(authorization, { baseUrl, method: "PUT", path, json: body });
  }

  async #request(method: "GET" | "POST" | "PUT", path: string, body?: unknown): Promise<string> {
    const { baseUrl } = this.#account;
    const json = body === undefined ? undefined : JSON.stringify(body);
    const authorization = `Bearer ${await this.#token()}`;
    return this.#ask(authorization, { baseUrl, method, path: `/v1/calls${path}`, json });
  }

  #ask(
    authorization: string,
    { baseUrl, method, path, json, form }: VonageRequest,
  ): Promise<string> {
    const body = json ?? form?.toString();
    const contentType =
      form === undefined ? "application/json" : "application/x-www-form-urlencoded";
    return telephonyRequest(this.#context, {
      vendor: VENDOR,
      baseUrl,
      method,
      path,
      headers: {
        accept: "application/json",
        authorization,
        ...(body !== undefined && { "content-type": contentType }),
      },
      ...(body !== undefined && { body }),
      answerMaxBytes: NUMBERS_PAGE_MAX_BYTES,
    });
  }

  async #token(): Promise<string> {
    const { applicationId, privateKey } = this.#account;
    const nowSec = Math.floor(this.#context.clock.epochMs() / 1_000);
    try {
      const key = await importPKCS8(privateKey, "RS256");
      return await new SignJWT({ application_id: applicationId })
        .setProtectedHeader({ alg: "RS256", typ: "JWT" })
        .setIssuedAt(nowSec)
        .setExpirationTime(nowSec + TOKEN_LIFETIME_SEC)
        .setJti(randomUUID())
        .sign(key);
    } catch {
      // The cause could quote the key.
      throw new VendorError(
        VENDOR,
        "unauthorized",
        "vonage: the private key is not PKCS #8 in PEM form",
      );
    }
  }
}

/** States in which nothing is decided yet. */
const ON_THE_WAY = new Set(["started", "ringing", "machine", "human", "transfer"]);

export function vonageDialReport(body: string): TransferReport | undefined {
  if (ON_THE_WAY.has(webhookField(body, "status"))) return undefined;
  return transferReport(body, { status: "status", reasons: ["detail"], duration: "duration" });
}

const ConnectedMessage = v.pipe(
  v.looseObject({ event: v.literal("websocket:connected"), "content-type": v.string() }),
  v.transform((message): StreamMessage => startOf(message)),
);

const DigitText = v.pipe(v.union([v.string(), v.number()]), v.transform(String));

/** The digit stands at the top, or as older releases put it, one level deeper. */
const DigitMessage = v.pipe(
  v.object({
    event: v.literal("websocket:dtmf"),
    digit: v.optional(DigitText),
    dtmf: v.optional(v.object({ digit: DigitText })),
  }),
  v.transform(
    ({ digit, dtmf }): StreamMessage => ({ kind: "digit", digit: digit ?? dtmf?.digit ?? "" }),
  ),
);

const ClearedMessage = v.pipe(
  v.object({ event: v.literal("websocket:cleared") }),
  v.transform((): StreamMessage => ({ kind: "cleared" })),
);

const NotifyMessage = v.pipe(
  v.object({ event: v.literal("websocket:notify"), payload: v.object({ id: v.string() }) }),
  v.transform(({ payload }): StreamMessage => ({ kind: "mark", name: payload.id })),
);

const Message = v.variant("event", [ConnectedMessage, DigitMessage, ClearedMessage, NotifyMessage]);

/** The headers of our document come flattened into the message; the call's id is among them if we put it there. */
function startOf(message: Readonly<Record<string, unknown>>): StreamMessage {
  const { event: _, "content-type": contentType = "", ...parameters } = parametersOf(message);
  const rate = /;\s*rate=(\d{4,6})/i.exec(contentType)?.[1];
  const offered = offeredFormat(contentType, { sampleRateHz: Number(rate ?? "16000") });
  const ids = { streamId: "", callId: parameters["callId"] ?? "", parameters };
  return startMessage(ids, offered);
}

function vonageVoice(format: RawFormat): StreamVoice {
  const frameBytes = frameBytesOf(format);
  return {
    frameBytes,
    audio: (bytes) => wholeFrames(bytes, frameBytes, format.encoding),
    mark: (name) => `{"action":"notify","payload":{"id":"${name}"}}`,
    clear: () => '{"action":"clear"}',
    hangUp: [],
  };
}

const VONAGE_STREAM: StreamDialect = {
  traits: { needsPacing: false, reorders: false, clearDropsMarks: true, closingHangsUp: true },
  format: PCM_16K,
  audioIn: "binary",
  read: (text) => {
    const message = v.safeParse(Message, parseJson(text));
    return message.success ? message.output : undefined;
  },
  voice: vonageVoice,
};

/** One call over Vonage's WebSocket endpoint. Whether a `clear` gives marks back is not documented: do not wait. */
export function vonageWire(): PhoneWire {
  return new MediaStream(VONAGE_STREAM);
}

export const VONAGE: PhoneVendor = {
  newWire: vonageWire,
  documents: {
    contentType: JSON_DOCUMENT,
    connect: (target) => vonageConnect(target, PHONE_RATE_HZ),
    farewell: vonageSayAndHangUp,
    hangUp: vonageHangUp,
    dial: vonageDial,
    warmTransfer: VONAGE_WARM_TRANSFER,
  },
  transferReport: vonageDialReport,
  isCallerWaiting: isVonageWaiting,
  callIdField: "uuid",
  callInfoFields: { from: "from", to: "to", callerName: "caller_name", direction: "direction" },
  alwaysNamesCall: true,
  passesCallId: true,
  placedReport: vonagePlacedReport,
  account: {
    fields: [
      idField("applicationId", "Application ID"),
      pemField("privateKey", "Private key"),
      keyField("signatureSecret", "Signature secret", { isRequired: false }),
      idField("apiKey", "API key, to import numbers", { isRequired: false }),
      keyField("apiSecret", "API secret, to import numbers", { isRequired: false }),
    ],
    settings: ({ applicationId, privateKey, apiKey, apiSecret }, { vonage }) => ({
      vonage: {
        applicationId,
        privateKey: withLineBreaks(privateKey),
        apiKey,
        apiSecret,
        baseUrl: vonage.baseUrl,
      },
    }),
    webhookKeys: ({ signatureSecret }) => ({ vonage: signatureSecret }),
    namesAddress: false,
    provesNumbers: true,
    importsWith: ["apiKey", "apiSecret"],
    numbersNeed:
      "settings.apiKey: expected the API key, with credentials.apiSecret, to import numbers",
  },
  accountVariables: ["VONAGE_APPLICATION_ID", "VONAGE_PRIVATE_KEY"],
  capabilities: {
    place: "rest",
    machineDetection: "beep",
    hangUp: "rest",
    transfer: "rest",
    transferCallerId: "caller",
    failedTransfer: "comesBack",
    warmTransfer: "conference",
    sendDigits: "tones",
    receiveDigits: "messages",
    importNumbers: "rest",
  },
  callControl: ({ vonage }, context) => {
    const { applicationId, privateKey } = vonage;
    if (applicationId === undefined || privateKey === undefined) return undefined;
    return new VonageCalls({ ...vonage, applicationId, privateKey }, context);
  },
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
