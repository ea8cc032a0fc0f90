import { createHmac, timingSafeEqual } from "node:crypto";
import * as v from "valibot";
import { PCM_8K, PHONE_RATE_HZ } from "../../audio/audio-format.js";
import { parseAnswer } from "../../vendors/vendor-json.js";
import type { VendorContext } from "../../vendors/vendor-settings.js";
import { addressField, idField, keyField } from "../account-form.js";
import { bodyHash } from "../body-hash.js";
import type { CallControlApi, CallToPlace, HangUpState, NextStep } from "../call-control.js";
import {
  type BriefingPart,
  type Dial,
  type Farewell,
  isSipAddress,
  JSON_DOCUMENT,
  plainAddress,
  type StreamTarget,
  type Wait,
  type WarmTransferDocuments,
} from "../call-instructions.js";
import { isCallerThere } from "../caller-state.js";
import { MediaStream, type StreamDialect, type StreamVoice } from "../media-stream.js";
import { offeredFormat } from "../phone-format.js";
import type { PhoneVendor, PlacedReport } from "../phone-vendor.js";
import type { PhoneWire } from "../phone-wire.js";
import { placedReport } from "../placed-report.js";
import {
  parametersOf,
  parseJson,
  type StreamMessage,
  startMessage,
  WireNumber,
} from "../stream-message.js";
import { isLiveAfter, isOver, telephonyRequest, unlessOver } from "../telephony-request.js";
import { type TransferReport, transferReport } from "../transfer-report.js";
import { isRecent } from "../webhook-age.js";
import { webhookField } from "../webhook-field.js";

export interface JambonzSignedRequest {
  readonly body: Uint8Array;
  /** The header `Jambonz-Signature`: `t=<seconds>,v1=<hex>`, with one or more of the second. */
  readonly signature: string;
  readonly nowMs: number;
}

const PARTS_MAX = 8;
const DIGEST = /^[0-9a-f]{64}$/;

/** Whether the account's webhook secret signed time and body: HMAC-SHA256 over `<seconds>.<body>`. */
export function isJambonzSignature(secret: string, request: JambonzSignedRequest): boolean {
  const timestamp = jambonzTimestamp(request.signature);
  if (!isRecent(timestamp, request.nowMs)) return false;
  const expected = createHmac("sha256", secret)
    .update(`${timestamp}.`)
    .update(request.body)
    .digest();
  return valuesIn(request.signature, "v1").some(
    (digest) => DIGEST.test(digest) && timingSafeEqual(Buffer.from(digest, "hex"), expected),
  );
}

/** The seconds of the header that are signed. */
export function jambonzTimestamp(signature: string): string {
  return valuesIn(signature, "t")[0] ?? "";
}

function valuesIn(signature: string, name: string): readonly string[] {
  const parts = signature.split(",").slice(0, PARTS_MAX);
  return parts.flatMap((part) =>
    part.startsWith(`${name}=`) ? [part.slice(name.length + 1)] : [],
  );
}

const HANG_UP = { verb: "hangup" };
/**
 * Jambonz asks up to six times within some 14 s, while a server is being started again or a proxy finds none; releases before
 * these settings leave them out (https://docs.jambonz.org/guides/features/webhook-and-web-socket-retries).
 */
const ASKS_AGAIN = "#rc=5&rp=ct,rt,5xx";

/** Raw samples both ways: without `streaming` Jambonz would want every reply as one message. */
export function jambonzConnect(
  target: StreamTarget,
  sampleRateHz: 8000 | 16_000 = PHONE_RATE_HZ,
): string {
  const { continueUrl } = target;
  const listen = {
    verb: "listen",
    url: plainAddress(target.url),
    sampleRate: sampleRateHz,
    mixType: "mono",
    passDtmf: true,
    bidirectionalAudio: { enabled: true, streaming: true, sampleRate: sampleRateHz },
    metadata: target.parameters,
    // Asked when the stream has ended, or could not be opened; its verbs are done in place of those behind it.
    ...(continueUrl !== undefined && { actionHook: `${continueUrl}${ASKS_AGAIN}` }),
  };
  return JSON.stringify([listen, HANG_UP]);
}

export function jambonzHangUp(): string {
  return JSON.stringify([HANG_UP]);
}

export function jambonzPauseAndAsk({ url, pauseSec }: Wait): string {
  const ask = { verb: "redirect", actionHook: `${url}${ASKS_AGAIN}` };
  return JSON.stringify([{ verb: "pause", length: pauseSec }, ask]);
}

export function jambonzSayAndHangUp({ text, language }: Farewell): string {
  const synthesizer = language === undefined ? {} : { synthesizer: { language } };
  return JSON.stringify([{ verb: "say", text, ...synthesizer }, HANG_UP]);
}

function targetOf(to: string) {
  return isSipAddress(to) ? { type: "sip", sipUri: to } : { type: "phone", number: to };
}

/** See https://docs.jambonz.org/verbs/verbs/dial; the hook is asked when the leg is over. */
export function jambonzDial({ to, ringSec, talkMaxSec, resultUrl, callerId }: Dial): string {
  const dial = {
    verb: "dial",
    target: [targetOf(to)],
    timeout: ringSec,
    timeLimit: talkMaxSec,
    actionHook: `${resultUrl}${ASKS_AGAIN}`,
    ...(callerId !== undefined && { callerId }),
  };
  return JSON.stringify([dial]);
}

export function jambonzDialReport(body: string): TransferReport | undefined {
  return transferReport(body, { status: "dial_call_status", reasons: ["dial_sip_status"] });
}

/** How long the person may take to press a key, from the end of the question on. */
const ANSWER_SEC = 5;
const CALL_IS_OVER: ReadonlySet<string> = new Set(["completed", "busy", "no-answer", "failed"]);

/**
 * A warm transfer at Jambonz: https://docs.jambonz.org/verbs/verbs/conference and /gather. The person answers by key alone, since
 * not every installation has a recognizer. Jambonz asks the hook of a verb also when its REST API takes a call out of it, and
 * would follow the answer (jambonz-feature-server, lib/tasks/task.js, `performAction`).
 */
export const JAMBONZ_WARM_TRANSFER: WarmTransferDocuments = {
  reportsCallerExit: true,
  interrupted: JSON.stringify([]),
  wait: ({ conference, resultUrl, music }) => {
    const waiting = {
      startConferenceOnEnter: false,
      actionHook: `${resultUrl}${ASKS_AGAIN}`,
      waitHook: music.documentUrl,
    };
    return JSON.stringify([conferenceOf(conference, waiting)]);
  },
  play: (url) => JSON.stringify([{ verb: "play", url }]),
  ask: ({ introduction, question, language, answerUrl }) => {
    const introduced = introduction === undefined ? [] : [verbOf(introduction, language)];
    const { verb, ...content } = verbOf(question, language);
    const gather = {
      verb: "gather",
      input: ["digits"],
      numDigits: 1,
      timeout: ANSWER_SEC,
      actionHook: `${answerUrl}${ASKS_AGAIN}`,
      [verb]: content,
    };
    return JSON.stringify([...introduced, gather]);
  },
  join: (conference) => JSON.stringify([conferenceOf(conference, {}), HANG_UP]),
  goOn: (url) => JSON.stringify([{ verb: "redirect", actionHook: `${url}${ASKS_AGAIN}` }]),
  answer: (body) => ({ digits: webhookField(body, "digits"), speech: "" }),
  personReport: (body) =>
    CALL_IS_OVER.has(webhookField(body, "call_status"))
      ? transferReport(body, {
          status: "call_status",
          reasons: ["sip_status"],
          duration: "duration",
        })
      : undefined,
};

/** Ends with either of the two. */
function conferenceOf(name: string, own: Readonly<Record<string, unknown>>) {
  return {
    verb: "conference",
    name,
    beep: false,
    endConferenceOnExit: true,
    startConferenceOnEnter: true,
    ...own,
  };
}

function verbOf({ audioUrl, text }: BriefingPart, language: string) {
  return audioUrl === undefined
    ? ({ verb: "say", text, synthesizer: { language } } as const)
    : ({ verb: "play", url: audioUrl } as const);
}

const VENDOR = "jambonz";
const Placed = v.object({ sid: v.string() });
const CallState = v.object({ call_status: v.string() });
const LIVE = new Set(["trying", "ringing", "early-media", "in-progress"]);
/** The API refuses a call without an application unless it names these; this platform's calls use neither. */
const SPEECH = {
  speech_synthesis_vendor: "google",
  speech_synthesis_language: "en-US",
  speech_synthesis_voice: "en-US-Standard-C",
  speech_recognizer_vendor: "google",
  speech_recognizer_language: "en-US",
};
const VERDICTS: ReadonlyMap<string, string> = new Map([
  ["amd_human_detected", "human"],
  ["amd_machine_detected", "machine"],
  // A pause in its greeting, whose beep may still follow.
  ["amd_machine_stopped_speaking", "machine"],
  ["amd_tone_detected", "machine_end_beep"],
  ["amd_no_speech_detected", "unknown"],
  ["amd_decision_timeout", "unknown"],
]);

/** What Jambonz posts to `call_status_hook`, and to the `actionHook` of its machine detection. */
export function jambonzPlacedReport(body: string): PlacedReport {
  const answeredBy = VERDICTS.get(webhookField(body, "type")) ?? "";
  return answeredBy === ""
    ? placedReport(body, "call_status")
    : { status: "in-progress", answeredBy };
}

export interface JambonzAccount {
  readonly accountSid: string;
  readonly apiKey: string;
  readonly baseUrl: string;
}

/** The REST API of a Jambonz server (https://docs.jambonz.org/reference/rest-call-control/calls/create-call). */
export class JambonzCalls implements CallControlApi {
  readonly #account: JambonzAccount;
  readonly #context: VendorContext;

  constructor(account: JambonzAccount, context: VendorContext) {
    this.#account = account;
    this.#context = context;
  }

  async place(call: CallToPlace): Promise<string> {
    const order = {
      from: call.from,
      to: targetOf(call.to),
      call_hook: { url: call.answerUrl, method: "POST" },
      call_status_hook: { url: call.statusUrl, method: "POST" },
      timeout: call.ringTimeoutSec,
      ...SPEECH,
      ...(call.detectMachine && { amd: { actionHook: call.statusUrl } }),
    };
    return parseAnswer(VENDOR, Placed, await this.#request("POST", "", order)).sid;
  }

  async hangUp(callSid: string, state: HangUpState = "answered"): Promise<void> {
    const path = `/${encodeURIComponent(callSid)}`;
    const end = (call_status: string) => unlessOver(this.#request("PUT", path, { call_status }));
    if (state !== "answered") await end("no-answer");
    await end("completed");
  }

  /** https://docs.jambonz.org/reference/rest-call-control/calls/update-call */
  redirect(callSid: string, { url }: NextStep): Promise<boolean> {
    const order = { call_hook: { url, method: "POST" } };
    return isLiveAfter(this.#request("PUT", `/${encodeURIComponent(callSid)}`, order));
  }

  async isLive(callSid: string): Promise<boolean> {
    try {
      const answer = await this.#ask("GET", `/Calls/${encodeURIComponent(callSid)}`);
      return LIVE.has(parseAnswer(VENDOR, CallState, answer).call_status);
    } catch (error) {
      if (isOver(error)) return false;
      throw error;
    }
  }

  async verify(): Promise<void> {
    await this.#ask("GET", "");
  }

  #request(method: "POST" | "PUT", path: string, body: unknown): Promise<string> {
    return this.#ask(method, `/Calls${path}`, JSON.stringify(body));
  }

  #ask(method: "GET" | "POST" | "PUT", path: string, body?: string): Promise<string> {
    const { accountSid, apiKey, baseUrl } = this.#account;
    return telephonyRequest(this.#context, {
      vendor: VENDOR,
      baseUrl,
      method,
      path: `/v1/Accounts/${encodeURIComponent(accountSid)}${path}`,
      headers: {
        accept: "application/json",
        authorization: `Bearer ${apiKey}`,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body }),
    });
  }
}

/** The first text frame has no type: it tells of the call, and what our document's `metadata` said. */
const Metadata = v.pipe(
  v.looseObject({ callSid: v.string(), sampleRate: v.optional(WireNumber, PHONE_RATE_HZ) }),
  v.check((message) => !("type" in message) && !("event" in message)),
  v.transform(({ callSid, sampleRate, ...others }): StreamMessage => {
    const offered = offeredFormat("l16", { sampleRateHz: sampleRate });
    const nested = v.safeParse(v.record(v.string(), v.unknown()), others["metadata"]);
    const parameters = parametersOf({ ...others, ...(nested.success ? nested.output : {}) });
    const ids = { streamId: callSid, callId: callSid, parameters };
    return startMessage(ids, offered);
  }),
);

const MarkMessage = v.pipe(
  v.object({
    type: v.literal("mark"),
    data: v.object({ name: v.string(), event: v.optional(v.string()) }),
  }),
  v.transform(({ data }): StreamMessage => {
    const outcome = data.event === undefined ? {} : { wasPlayed: data.event === "playout" };
    return { kind: "mark", name: data.name, ...outcome };
  }),
);

const DigitMessage = v.pipe(
  v.object({ event: v.literal("dtmf"), dtmf: v.union([v.string(), v.number()]) }),
  v.transform(({ dtmf }): StreamMessage => ({ kind: "digit", digit: String(dtmf) })),
);

const Message = v.union([MarkMessage, DigitMessage, Metadata]);

/** For `streaming: true`, which our document asks for: raw samples in binary frames. */
const VOICE: StreamVoice = {
  frameBytes: undefined,
  audio: (bytes) => [bytes],
  mark: (name) => `{"type":"mark","data":{"name":"${name}"}}`,
  clear: () => '{"type":"killAudio"}',
  hangUp: ['{"type":"disconnect"}'],
};

const JAMBONZ_STREAM: StreamDialect = {
  traits: { needsPacing: false, reorders: false, clearDropsMarks: false, closingHangsUp: true },
  format: PCM_8K,
  audioIn: "binary",
  read: (text) => {
    const message = v.safeParse(Message, parseJson(text));
    return message.success ? message.output : undefined;
  },
  voice: () => VOICE,
};

/**
 * One call over the `listen` verb of Jambonz with bidirectional, streamed audio. Releases differ in the subprotocol that
 * they offer (`audio.jambonz.org`, `audio.drachtio.org`): answer with the one that was offered.
 */
export function jambonzWire(): PhoneWire {
  return new MediaStream(JAMBONZ_STREAM);
}

export const JAMBONZ: PhoneVendor = {
  newWire: jambonzWire,
  documents: {
    contentType: JSON_DOCUMENT,
    connect: (target) => jambonzConnect(target, PHONE_RATE_HZ),
    farewell: jambonzSayAndHangUp,
    hangUp: jambonzHangUp,
    hold: jambonzPauseAndAsk,
    dial: jambonzDial,
    warmTransfer: JAMBONZ_WARM_TRANSFER,
  },
  transferReport: jambonzDialReport,
  isCallerWaiting: (body) => isCallerThere(body, "call_status"),
  placedReport: jambonzPlacedReport,
  account: {
    fields: [
      addressField("baseUrl", "API address", {
        expected: "the API's address, such as https://api.example.com",
      }),
      idField("accountSid", "Account SID"),
      keyField("apiKey", "API key"),
      keyField("webhookSecret", "Webhook secret", { isRequired: false }),
    ],
    settings: ({ accountSid, apiKey, baseUrl }, { jambonz }) => ({
      jambonz: { accountSid, apiKey, baseUrl: baseUrl ?? jambonz.baseUrl },
    }),
    webhookKeys: ({ webhookSecret }) => ({ jambonz: webhookSecret }),
    namesAddress: true,
    provesNumbers: false,
  },
  accountVariables: ["JAMBONZ_ACCOUNT_SID", "JAMBONZ_API_KEY"],
  capabilities: {
    place: "rest",
    machineDetection: "beep",
    hangUp: "rest",
    transfer: "document",
    transferCallerId: "caller",
    failedTransfer: "comesBack",
    warmTransfer: "conference",
    sendDigits: "tones",
    receiveDigits: "messages",
    importNumbers: "none",
  },
  callControl: ({ jambonz }, context) => {
    const { accountSid, apiKey } = jambonz;
    if (accountSid === undefined || apiKey === undefined) return undefined;
    return new JambonzCalls({ ...jambonz, accountSid, apiKey }, context);
  },
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
