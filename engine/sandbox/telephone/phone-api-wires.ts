import { createHmac, randomBytes, randomUUID } from "node:crypto";
import * as v from "valibot";
import { signatureHeader } from "./phone-webhook.js";

/** A call's states, in the terms of this file; each vendor has its own. */
export type PlacedState =
  | "ringing"
  | "answered"
  | "completed"
  | "busy"
  | "noAnswer"
  | "failed"
  | "canceled";

export interface PlacedOrder {
  readonly to: string;
  readonly from: string;
  readonly answerUrl: string;
  readonly statusUrl: string;
  /** Receives the answering machine verdict; undefined if none was requested. */
  readonly machineUrl: string | undefined;
  /** The end of a machine's greeting is reported too. */
  readonly detectsMessageEnd?: boolean;
}

/** `messageEnd`: the machine's greeting is over. */
export type Verdict = "human" | "machine" | "messageEnd";

export interface SimulatedCallIds {
  readonly id: string;
  readonly to: string;
  readonly from: string;
}

/** One parsed request of an API's client. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly authorization: string;
  readonly body: string;
}

export type ApiOrder =
  | { readonly kind: "place"; readonly order: PlacedOrder }
  /** `ends`: the only state in which the request ends the call; left out, it ends it in any. */
  | { readonly kind: "hangUp"; readonly id: string; readonly ends?: "ringing" | "answered" }
  /** The call leaves what it does for the document at this address. */
  | { readonly kind: "redirect"; readonly id: string; readonly url: string }
  /** Asterisk does this only to a channel in a Stasis application, and calls of a dialplan are in none. */
  | { readonly kind: "stasis"; readonly id: string }
  /** Asks for the state of a call. */
  | { readonly kind: "look"; readonly id: string }
  /** The call leaves what it does for this document, which the request itself has. */
  | { readonly kind: "transfer"; readonly id: string; readonly document: string }
  /** The vendor would answer with 400 or 422. */
  | { readonly kind: "wrong" }
  | { readonly kind: "unauthorized" };

type Answer = readonly [status: number, body: unknown];

/** The REST API of one vendor's calls, from its documentation; independent of the code under test. */
export interface PhoneApiWire {
  /** Undefined for an address that the API does not have. */
  read(request: ApiRequest): ApiOrder | undefined;
  newId(): string;
  placed(call: SimulatedCallIds): Answer;
  readonly hungUp: Answer;
  /** To a hang-up that does not end a call in this state. */
  readonly notHungUp?: Answer;
  /** To a request that has the call leave what it does. */
  readonly redirected?: Answer;
  /** The state of a call that is not over. */
  live?(isAnswered: boolean): Answer;
  /** To a request for a call that is in no Stasis application. */
  readonly notInStasis?: Answer;
  readonly unknownCall: Answer;
  readonly refused: Answer;
  readonly unauthorized: Answer;
  /** The body of the request for instructions when the call is answered; a form, or JSON. */
  answered(call: SimulatedCallIds): string;
  /** The body of a report; undefined if the vendor reports nothing in that state. */
  report(call: SimulatedCallIds, state: PlacedState): string | undefined;
  /** With it, the verdict on a machine comes at the end of the greeting, and only then. */
  readonly hasOneVerdict?: boolean;
  /** The body of the verdict; undefined if the vendor has none of the kind. */
  verdict(call: SimulatedCallIds, verdict: Verdict): string | undefined;
  /** The headers with which the vendor signs, if the REST account is enough for that. */
  sign?(authorization: string, url: string, body: string): Readonly<Record<string, string>>;
}

const form = (fields: Readonly<Record<string, string>>) => new URLSearchParams(fields).toString();
const plain = (number: string) => number.replace(/^\+/, "");
const Json = v.record(v.string(), v.unknown());

function jsonOf(body: string): Readonly<Record<string, unknown>> {
  try {
    const parsed = v.safeParse(Json, JSON.parse(body));
    return parsed.success ? parsed.output : {};
  } catch {
    return {};
  }
}

function placing(schema: v.GenericSchema<unknown, PlacedOrder>, fields: unknown): ApiOrder {
  const parsed = v.safeParse(schema, fields);
  return parsed.success ? { kind: "place", order: parsed.output } : { kind: "wrong" };
}

function basicOf(authorization: string): readonly [name: string, password: string] {
  const encoded = /^Basic (\S+)$/.exec(authorization)?.[1] ?? "";
  const [name = "", password = ""] = Buffer.from(encoded, "base64").toString().split(/:(.*)/s);
  return [name, password];
}

const hasBearer = (authorization: string) => /^Bearer \S+$/.test(authorization);
const Url = v.pipe(v.string(), v.url());
const E164 = v.pipe(v.string(), v.regex(/^\+[1-9]\d{6,14}$/));
const Digits = v.pipe(v.string(), v.regex(/^[1-9]\d{6,14}$/));

const TWIML_STATES: Readonly<Record<PlacedState, string>> = {
  ringing: "ringing",
  answered: "in-progress",
  completed: "completed",
  busy: "busy",
  noAnswer: "no-answer",
  failed: "failed",
  canceled: "canceled",
};

const TwimlOrder = v.pipe(
  v.object({
    To: E164,
    From: E164,
    Url,
    StatusCallback: Url,
    MachineDetection: v.optional(v.picklist(["Enable", "DetectMessageEnd"])),
    AsyncAmdStatusCallback: v.optional(Url),
  }),
  v.transform(
    ({ To, From, Url: answerUrl, StatusCallback, ...detection }): PlacedOrder => ({
      to: To,
      from: From,
      answerUrl,
      statusUrl: StatusCallback,
      machineUrl: detection.AsyncAmdStatusCallback,
      detectsMessageEnd: detection.MachineDetection === "DetectMessageEnd",
    }),
  ),
);

const TWIML_VERDICTS: Readonly<Record<Verdict, string>> = {
  human: "human",
  machine: "machine_start",
  messageEnd: "machine_end_beep",
};

function twimlReports(
  account: string,
): Pick<PhoneApiWire, "answered" | "report" | "verdict" | "hasOneVerdict"> {
  const fields = ({ id, to, from }: SimulatedCallIds) => ({
    CallSid: id,
    AccountSid: account,
    From: from,
    To: to,
    Direction: "outbound-api",
  });
  return {
    answered: (call) => form({ ...fields(call), CallStatus: "in-progress" }),
    report: (call, state) => form({ ...fields(call), CallStatus: TWIML_STATES[state] }),
    hasOneVerdict: true,
    verdict: (call, verdict) => form({ ...fields(call), AnsweredBy: TWIML_VERDICTS[verdict] }),
  };
}

const Redirection = v.object({ Url, Method: v.literal("POST") });

/** Reads where a call is redirected to, from a form or an object with TwiML's names. */
function redirection(id: string, fields: unknown): ApiOrder {
  const parsed = v.safeParse(Redirection, fields);
  return parsed.success ? { kind: "redirect", id, url: parsed.output.Url } : { kind: "wrong" };
}

/** The two APIs differ in their paths, and in what a call can be updated with. */
function readTwimlOrder(
  { method, path, authorization, body }: ApiRequest,
  { pattern, hasDocuments }: { readonly pattern: RegExp; readonly hasDocuments: boolean },
): ApiOrder | undefined {
  const [, account, id] = pattern.exec(path) ?? [];
  if (account === undefined) return undefined;
  const [name, password] = basicOf(authorization);
  if (name !== account || password === "") return { kind: "unauthorized" };
  if (method === "GET" && id !== undefined) return { kind: "look", id };
  if (method !== "POST") return undefined;
  const fields = Object.fromEntries(new URLSearchParams(body));
  if (id === undefined) return placing(TwimlOrder, fields);
  const document = fields["Twiml"];
  if (document !== undefined && hasDocuments) return { kind: "transfer", id, document };
  if (fields["Status"] === "completed") return { kind: "hangUp", id };
  // It does not affect calls in progress.
  if (fields["Status"] === "canceled") return { kind: "hangUp", id, ends: "ringing" };
  return redirection(id, fields);
}

const SIGNALWIRE_PATH = /^\/api\/laml\/2010-04-01\/Accounts\/([\w-]+)\/Calls(?:\/([\w-]+))?\.json$/;

/** https://developer.signalwire.com/compatibility-api/client-sdks/methods/calls */
const signalwire: PhoneApiWire = {
  read: (request) => readTwimlOrder(request, { pattern: SIGNALWIRE_PATH, hasDocuments: false }),
  live: (isAnswered) => [200, { status: isAnswered ? "in-progress" : "ringing" }],
  newId: randomUUID,
  placed: ({ id, to, from }) => [201, { sid: id, status: "queued", to, from }],
  hungUp: [200, { status: "completed" }],
  notHungUp: [200, { status: "in-progress" }],
  unknownCall: [404, { code: 20_404, status: 404 }],
  refused: [400, { code: 21_211, status: 400 }],
  unauthorized: [401, { code: 20_003, status: 401 }],
  ...twimlReports("project"),
};

const TWILIO_PATH = /^\/2010-04-01\/Accounts\/(\w+)\/Calls(?:\/(\w+))?\.json$/;

/** https://www.twilio.com/docs/voice/api/call-resource; TwilioSimulator also has its conferences and its telephone. */
const twilio: PhoneApiWire = {
  ...signalwire,
  read: (request) => readTwimlOrder(request, { pattern: TWILIO_PATH, hasDocuments: true }),
  newId: () => `CA${randomBytes(16).toString("hex")}`,
  ...twimlReports("account"),
  sign: (authorization, url, body) => {
    const [, password] = basicOf(authorization);
    return signatureHeader(url, Object.fromEntries(new URLSearchParams(body)), password);
  },
};

const TELNYX_CALL = /^\/v2\/calls\/([^/]+)$/;
const TELNYX_UPDATE = /^\/v2\/texml\/calls\/([^/]+)\/update$/;
const TELNYX_HANG_UP = /^\/v2\/calls\/([^/]+)\/actions\/hangup$/;

/** https://developers.telnyx.com/api-reference/texml-rest-commands/create-a-connection-scoped-texml-call */
const telnyx: PhoneApiWire = {
  read: ({ method, path, authorization, body }) => {
    const hangUp = TELNYX_HANG_UP.exec(path)?.[1];
    const update = TELNYX_UPDATE.exec(path)?.[1];
    const looked = method === "GET" ? TELNYX_CALL.exec(path)?.[1] : undefined;
    const isPlacing = /^\/v2\/texml\/calls\/[^/]+$/.test(path);
    const isKnown = hangUp !== undefined || update !== undefined || isPlacing;
    if (looked === undefined && (method !== "POST" || !isKnown)) return undefined;
    if (!hasBearer(authorization)) return { kind: "unauthorized" };
    if (looked !== undefined) return { kind: "look", id: decodeURIComponent(looked) };
    if (update !== undefined) return redirection(decodeURIComponent(update), jsonOf(body));
    return hangUp === undefined
      ? placing(TwimlOrder, jsonOf(body))
      : { kind: "hangUp", id: decodeURIComponent(hangUp) };
  },
  newId: () => `v3:${randomBytes(24).toString("base64url")}`,
  placed: ({ id, to, from }) => [200, { call_sid: id, from, to, status: "queued" }],
  hungUp: [200, { data: { result: "ok" } }],
  redirected: [200, { data: { sid: "sid", status: "accepted" } }],
  live: () => [200, { data: { is_alive: true, record_type: "call" } }],
  unknownCall: [422, { errors: [{ code: "90018", title: "Call has already ended" }] }],
  refused: [422, { errors: [{ code: "10015", title: "Bad Request" }] }],
  unauthorized: [401, { errors: [{ code: "10009", title: "Authentication failed" }] }],
  ...twimlReports("account"),
};

const PLIVO_PATH = /^\/v1\/Account\/([\w-]+)\/(Call|Request)\/(?:([\w-]+)\/)?$/;
const PLIVO_STATES: Readonly<Record<PlacedState, readonly [status: string, cause: string]>> = {
  ringing: ["ringing", ""],
  answered: ["in-progress", ""],
  completed: ["completed", "NORMAL_CLEARING"],
  busy: ["busy", "USER_BUSY"],
  noAnswer: ["timeout", "NO_ANSWER"],
  failed: ["failed", "NORMAL_TEMPORARY_FAILURE"],
  canceled: ["cancel", "ORIGINATOR_CANCEL"],
};
const PlivoOrder = v.pipe(
  v.object({
    to: Digits,
    from: Digits,
    answer_url: Url,
    hangup_url: Url,
    ring_timeout: v.number(),
    machine_detection_url: v.optional(Url),
  }),
  v.transform(
    (order): PlacedOrder => ({
      to: `+${order.to}`,
      from: `+${order.from}`,
      answerUrl: order.answer_url,
      statusUrl: order.hangup_url,
      machineUrl: order.machine_detection_url,
    }),
  ),
);
const PlivoTransfer = v.object({
  legs: v.literal("aleg"),
  aleg_url: Url,
  aleg_method: v.literal("POST"),
});
const plivoFields = ({ id, to, from }: SimulatedCallIds) => ({
  CallUUID: id,
  RequestUUID: id,
  From: plain(from),
  To: plain(to),
  Direction: "outbound",
});

/** https://www.plivo.com/docs/voice/api/call: `hangup_url` only receives ended calls. */
const plivo: PhoneApiWire = {
  read: ({ method, path, authorization, body }) => {
    const [, account, resource, id] = PLIVO_PATH.exec(path) ?? [];
    if (account === undefined) return undefined;
    const [name, password] = basicOf(authorization);
    if (name !== account || password === "") return { kind: "unauthorized" };
    if (method === "DELETE" && id !== undefined) {
      return { kind: "hangUp", id, ends: resource === "Request" ? "ringing" : "answered" };
    }
    if (resource === "Call" && id !== undefined) {
      if (method === "GET") return { kind: "look", id };
      const transfer = v.safeParse(PlivoTransfer, jsonOf(body));
      if (!transfer.success) return { kind: "wrong" };
      return { kind: "redirect", id, url: transfer.output.aleg_url };
    }
    if (method !== "POST" || resource !== "Call" || id !== undefined) return undefined;
    return placing(PlivoOrder, jsonOf(body));
  },
  newId: randomUUID,
  placed: ({ id }) => [201, { message: "call fired", request_uuid: id, api_id: "api" }],
  hungUp: [204, undefined],
  redirected: [202, { message: "call transferred", api_id: "api" }],
  live: () => [200, { call_status: "in-progress", api_id: "api" }],
  unknownCall: [404, { error: "not found" }],
  refused: [400, { error: "to is not valid" }],
  unauthorized: [401, { error: "authentication failed" }],
  answered: (call) => form({ ...plivoFields(call), CallStatus: "in-progress", Event: "StartApp" }),
  report: (call, state) => {
    if (state === "ringing" || state === "answered") return undefined;
    const [CallStatus, HangupCause] = PLIVO_STATES[state];
    return form({ ...plivoFields(call), CallStatus, HangupCause, Event: "Hangup" });
  },
  verdict: (call, verdict) => {
    if (verdict === "messageEnd") return undefined;
    const Machine = String(verdict === "machine");
    return form({ ...plivoFields(call), Machine, Event: "MachineDetection" });
  },
  sign: (authorization, url, body) => {
    const [, password] = basicOf(authorization);
    const nonce = randomUUID();
    const address = new URL(url);
    const query = [...address.searchParams].map((pair) => pair.join("=")).sort();
    const fields = [...new URLSearchParams(body)].map((pair) => pair.join("")).sort();
    const parts = `${query.join("&")}.${fields.join("")}.${nonce}`;
    const text = `${address.origin}${address.pathname}?${parts}`;
    return {
      "x-plivo-signature-v3": createHmac("sha256", password).update(text).digest("base64"),
      "x-plivo-signature-v3-nonce": nonce,
    };
  },
};

const VONAGE_STATES: Readonly<Record<PlacedState, string>> = {
  ringing: "ringing",
  answered: "answered",
  completed: "completed",
  busy: "busy",
  noAnswer: "timeout",
  failed: "failed",
  canceled: "cancelled",
};
const VonageEnd = v.object({ type: v.literal("phone"), number: Digits });
const VonageOrder = v.pipe(
  v.object({
    to: v.tuple([VonageEnd]),
    from: VonageEnd,
    answer_url: v.tuple([Url]),
    answer_method: v.literal("POST"),
    event_url: v.tuple([Url]),
    ringing_timer: v.optional(v.pipe(v.number(), v.maxValue(120))),
    machine_detection: v.optional(v.picklist(["continue", "hangup"])),
    advanced_machine_detection: v.optional(
      v.strictObject({
        behavior: v.picklist(["continue", "hangup"]),
        mode: v.picklist(["default", "detect", "detect_beep"]),
        beep_timeout: v.optional(v.number()),
      }),
    ),
  }),
  v.transform(
    ({ to: [to], from, answer_url, event_url, ...detection }): PlacedOrder => ({
      to: `+${to.number}`,
      from: `+${from.number}`,
      answerUrl: answer_url[0],
      statusUrl: event_url[0],
      machineUrl:
        (detection.machine_detection ?? detection.advanced_machine_detection) === undefined
          ? undefined
          : event_url[0],
      detectsMessageEnd: detection.advanced_machine_detection !== undefined,
    }),
  ),
);
/** A telephone is called from a number, or the call does not connect. */
const VonageAction = v.pipe(
  v.looseObject({
    action: v.string(),
    endpoint: v.optional(v.array(v.looseObject({ type: v.string() }))),
    from: v.optional(Digits),
    randomFromNumber: v.optional(v.boolean()),
  }),
  v.check(({ endpoint = [], from, randomFromNumber }) => {
    const isTelephone = endpoint.some(({ type }) => type === "phone");
    return !isTelephone || from !== undefined || randomFromNumber === true;
  }),
);
const VonageTransfer = v.object({
  action: v.literal("transfer"),
  destination: v.object({
    type: v.literal("ncco"),
    ncco: v.pipe(v.array(VonageAction), v.minLength(1)),
  }),
});
const VonageClaims = v.object({
  application_id: v.string(),
  iat: v.number(),
  exp: v.number(),
  jti: v.string(),
});
const vonageEvent = ({ id, to, from }: SimulatedCallIds, status: string, more = {}) =>
  JSON.stringify({
    ...more,
    from: plain(from),
    to: plain(to),
    uuid: id,
    conversation_uuid: "CON-1",
    status,
    direction: "outbound",
  });

/**
 * https://developer.vonage.com/en/api/voice: a token of the application; only its claims are checked, not its
 * signature.
 */
const vonage: PhoneApiWire = {
  read: ({ method, path, authorization, body }) => {
    const id = /^\/v1\/calls\/([\w-]+)$/.exec(path)?.[1];
    if (id === undefined && path !== "/v1/calls") return undefined;
    const claims = /^Bearer [\w-]+\.([\w-]+)\.[\w-]+$/.exec(authorization)?.[1] ?? "";
    const token = jsonOf(Buffer.from(claims, "base64url").toString());
    if (!v.is(VonageClaims, token)) return { kind: "unauthorized" };
    const fields = jsonOf(body);
    if (id === undefined) return method === "POST" ? placing(VonageOrder, fields) : undefined;
    if (method === "GET") return { kind: "look", id };
    if (method !== "PUT") return undefined;
    if (fields["action"] === "hangup") return { kind: "hangUp", id };
    const transfer = v.safeParse(VonageTransfer, fields);
    if (!transfer.success) return { kind: "wrong" };
    return { kind: "transfer", id, document: JSON.stringify(transfer.output.destination.ncco) };
  },
  newId: randomUUID,
  placed: ({ id }) => [
    201,
    { uuid: id, status: "started", direction: "outbound", conversation_uuid: "CON-1" },
  ],
  hungUp: [204, undefined],
  live: (isAnswered) => [200, { status: isAnswered ? "answered" : "ringing" }],
  unknownCall: [404, { title: "Not Found", error_title: "Call not found" }],
  refused: [400, { title: "Bad Request", detail: "refused" }],
  unauthorized: [401, { title: "Unauthorized" }],
  answered: ({ id, to, from }) =>
    JSON.stringify({ from: plain(from), to: plain(to), uuid: id, conversation_uuid: "CON-1" }),
  report: (call, state) => vonageEvent(call, VONAGE_STATES[state]),
  verdict: (call, verdict) => {
    if (verdict !== "messageEnd") return vonageEvent(call, verdict);
    return vonageEvent(call, "machine", { sub_state: "beep_start" });
  },
};

const JAMBONZ_PATH = /^\/v1\/Accounts\/[\w-]+\/Calls(?:\/([\w-]+))?$/;
const JambonzHook = v.union([
  v.pipe(
    Url,
    v.transform((url) => ({ url })),
  ),
  v.object({ url: Url }),
]);
const JambonzRedirect = v.object({
  call_hook: v.object({ url: Url, method: v.literal("POST") }),
});
const JambonzOrder = v.pipe(
  v.object({
    from: v.string(),
    to: v.object({ type: v.literal("phone"), number: v.string() }),
    call_hook: JambonzHook,
    call_status_hook: JambonzHook,
    // Without an application the API requires all five.
    speech_synthesis_vendor: v.string(),
    speech_synthesis_language: v.string(),
    speech_synthesis_voice: v.string(),
    speech_recognizer_vendor: v.string(),
    speech_recognizer_language: v.string(),
    amd: v.optional(v.object({ actionHook: Url })),
  }),
  v.transform(
    ({ from, to, call_hook, call_status_hook, amd }): PlacedOrder => ({
      to: to.number,
      from,
      answerUrl: call_hook.url,
      statusUrl: call_status_hook.url,
      machineUrl: amd?.actionHook,
      detectsMessageEnd: amd !== undefined,
    }),
  ),
);
const jambonzFields = ({ id, to, from }: SimulatedCallIds) => ({
  call_sid: id,
  direction: "outbound",
  from,
  to,
});

const JAMBONZ_VERDICTS: Readonly<Record<Verdict, string>> = {
  human: "amd_human_detected",
  machine: "amd_machine_detected",
  messageEnd: "amd_tone_detected",
};

/** jambonz-api-server, lib/routes/api/accounts.js (052a19cf). */
const jambonz: PhoneApiWire = {
  read: ({ method, path, authorization, body }) => {
    const match = JAMBONZ_PATH.exec(path);
    if (match === null) return undefined;
    if (!hasBearer(authorization)) return { kind: "unauthorized" };
    const [, id] = match;
    const fields = jsonOf(body);
    if (id === undefined) return method === "POST" ? placing(JambonzOrder, fields) : undefined;
    if (method === "GET") return { kind: "look", id };
    if (method !== "PUT") return undefined;
    const redirected = v.safeParse(JambonzRedirect, fields);
    if (redirected.success) return { kind: "redirect", id, url: redirected.output.call_hook.url };
    if (fields["call_status"] === "completed") return { kind: "hangUp", id, ends: "answered" };
    if (fields["call_status"] === "no-answer") return { kind: "hangUp", id, ends: "ringing" };
    return { kind: "wrong" };
  },
  newId: randomUUID,
  placed: ({ id }) => [201, { sid: id }],
  hungUp: [202, undefined],
  notHungUp: [202, undefined],
  live: (isAnswered) => [200, { call_status: isAnswered ? "in-progress" : "ringing" }],
  unknownCall: [404, undefined],
  refused: [400, { msg: "missing or invalid to property" }],
  unauthorized: [401, { msg: "unauthorized" }],
  answered: (call) =>
    JSON.stringify({ ...jambonzFields(call), call_status: "in-progress", sip_status: 200 }),
  report: (call, state) =>
    JSON.stringify({
      ...jambonzFields(call),
      call_status: state === "canceled" ? "no-answer" : TWIML_STATES[state],
    }),
  verdict: (call, verdict) =>
    JSON.stringify({ ...jambonzFields(call), type: JAMBONZ_VERDICTS[verdict] }),
};

const DIAL_STATES: Readonly<Record<PlacedState, string | undefined>> = {
  ringing: undefined,
  // The channel talks to the agent in another context.
  answered: undefined,
  completed: undefined,
  busy: "BUSY",
  noAnswer: "NOANSWER",
  failed: "CHANUNAVAIL",
  canceled: "CANCEL",
};
const AsteriskOrder = v.pipe(
  v.object({
    endpoint: v.pipe(v.string(), v.regex(/^Local\/\+[1-9]\d{6,14}@parley-outbound\/n$/)),
    context: v.literal("parley-answered"),
    extension: v.literal("s"),
    priority: v.literal(1),
    callerId: E164,
    timeout: v.number(),
    variables: v.object({ PARLEY_ANSWER_URL: Url, PARLEY_STATUS_URL: Url }),
  }),
  v.transform(
    ({ endpoint, callerId, variables }): PlacedOrder => ({
      to: endpoint.slice("Local/".length, endpoint.indexOf("@")),
      from: callerId,
      answerUrl: variables.PARLEY_ANSWER_URL,
      statusUrl: variables.PARLEY_STATUS_URL,
      machineUrl: undefined,
    }),
  ),
);

const ASTERISK_PATH = /^\/ari\/channels\/([^/]+)(?:\/(redirect|continue|move|answer|moh))?$/;

/** Asterisk's REST interface, and the dialplan of docs/guides/telephony.md, which sends requests and reports. */
const asterisk: PhoneApiWire = {
  read: ({ method, path, authorization, body }) => {
    const [, id, operation] = ASTERISK_PATH.exec(path) ?? [];
    if (id === undefined && path !== "/ari/channels") return undefined;
    const [name, password] = basicOf(authorization);
    if (name === "" || password === "") return { kind: "unauthorized" };
    if (id !== undefined && operation !== undefined)
      return method === "POST" ? { kind: "stasis", id } : undefined;
    if (id !== undefined && method === "GET") return { kind: "look", id };
    if (id !== undefined) return method === "DELETE" ? { kind: "hangUp", id } : undefined;
    return method === "POST" ? placing(AsteriskOrder, jsonOf(body)) : undefined;
  },
  newId: () => `${Math.floor(Date.now() / 1_000)}.${randomBytes(3).readUIntBE(0, 3)}`,
  placed: ({ id, to }) => [200, { id, name: `Local/${to}@parley-outbound-1;1`, state: "Down" }],
  hungUp: [204, undefined],
  live: (isAnswered) => [200, { state: isAnswered ? "Up" : "Down" }],
  notInStasis: [409, { message: "Channel not in Stasis application" }],
  unknownCall: [404, { message: "Channel not found" }],
  refused: [400, { message: "Invalid endpoint" }],
  unauthorized: [401, { message: "Authentication required" }],
  answered: ({ id }) => form({ call: id, continue: "transfer" }),
  report: ({ id }, state) => {
    const dialStatus = DIAL_STATES[state];
    return dialStatus === undefined ? undefined : form({ call: id, dialStatus });
  },
  verdict: () => undefined,
};

export const PHONE_API_WIRES = {
  twilio,
  signalwire,
  telnyx,
  plivo,
  vonage,
  jambonz,
  asterisk,
};
