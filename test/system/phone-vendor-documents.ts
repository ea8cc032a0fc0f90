import assert from "node:assert/strict";

/** The action that a document orders. */
export interface DocumentStep {
  /** The stream's address; undefined if the vendor's own configuration contains it. */
  readonly url: string | undefined;
  /** Parameters that the stream sends in its start. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The address to request when the stream has ended; undefined if the call ends then. */
  readonly next: string | undefined;
}

/** How a vendor requests documents, and reads them; independent of the code under test. */
export interface VendorDocuments {
  /** The body of the request about the call of `from` in that state; undefined if the vendor sends none. */
  readonly bodyOf: (state: CallState, from: string) => string | undefined;
  /** Returns undefined for a document that ends the call. Fails for one that the vendor would refuse. */
  readonly read: (document: string) => DocumentStep | undefined;
  /** Reads a document that transfers the caller; returns undefined for any other. */
  readonly readDial?: (document: string) => DialStep | undefined;
  /** The person of a leg can see the caller's own number, by the vendor's documentation. */
  readonly showsCaller: boolean;
  /** The bodies that report the end of the leg; all but the last are only reports, without a document in response. */
  readonly dialBodies?: (outcome: DialOutcome, from: string) => readonly string[];
}

/** A leg to another number, as the document orders it. */
export interface DialStep {
  readonly to: string;
  readonly ringSec: number;
  readonly talkMaxSec: number;
  /** What the person sees; undefined if the vendor chooses. */
  readonly callerId: string | undefined;
  readonly next: string;
}

export type DialOutcome =
  | "answered"
  | "busy"
  | "noAnswer"
  | "rejected"
  | "failed"
  /** The caller hung up while the other number rang. */
  | "callerGone";

export type CallState = "ringing" | "streamEnded" | "callerGone";

const ELEMENT = /<(\w+)((?:\s+\w+="[^"]*")*)\s*(?:\/>|>((?:[^<]|<(?!\/?\1\b)[^>]*>)*)<\/\1>)/g;

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly content: string;
}

function elementsIn(xml: string): readonly Element[] {
  return [...xml.matchAll(ELEMENT)].map(([, name = "", attributes = "", content = ""]) => ({
    name,
    attributes: Object.fromEntries(
      [...attributes.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [
        key,
        (value ?? "").replaceAll("&amp;", "&"),
      ]),
    ),
    content,
  }));
}

function verbsIn(document: string): readonly Element[] {
  const [response] = elementsIn(document.replace(/^<\?xml[^>]*\?>/, ""));
  assert.equal(response?.name, "Response", document);
  return elementsIn(response.content);
}

/** Returns the next address after a stream: verbs after `Redirect` and `Hangup` are not reached. */
function nextIn([verb]: readonly Element[]): string | undefined {
  if (verb?.name !== "Redirect") return undefined;
  assert.equal(verb.attributes["method"] ?? "POST", "POST");
  return verb.content.replaceAll("&amp;", "&");
}

const FORM_STATUS = { ringing: "ringing", streamEnded: "in-progress", callerGone: "completed" };

function dialIn(document: string, sipElement: string): DialStep | undefined {
  const [dial, ...others] = verbsIn(document);
  if (dial?.name !== "Dial") return undefined;
  assert.deepEqual(others, []);
  const [target] = elementsIn(dial.content);
  assert.ok(target && ["Number", sipElement].includes(target.name), dial.content);
  const { action = "", timeout = "", timeLimit, callerId, method = "POST" } = dial.attributes;
  assert.equal(method, "POST");
  const talkMaxSec = Number(timeLimit);
  return { to: target.content, ringSec: Number(timeout), talkMaxSec, callerId, next: action };
}

/** https://www.twilio.com/docs/voice/twiml/dial: the fields of the request to `action`. */
function twimlDialBodies(
  ids: Readonly<Record<string, string>>,
  causes?: Readonly<Record<DialOutcome, string>>,
) {
  const statuses = {
    answered: "completed",
    busy: "busy",
    noAnswer: "no-answer",
    // These vendors have no status of their own for a rejected call.
    rejected: "busy",
    failed: "failed",
    callerGone: "canceled",
  };
  return (outcome: DialOutcome, from: string) => [
    new URLSearchParams({
      ...ids,
      From: `+${from}`,
      CallStatus: outcome === "callerGone" ? "completed" : "in-progress",
      DialCallSid: "d1",
      DialCallStatus: statuses[outcome],
      ...(outcome === "answered" && { DialCallDuration: "42" }),
      ...(causes !== undefined && { HangupCause: causes[outcome] }),
    }).toString(),
  ];
}

/** https://developers.telnyx.com/api-reference/callbacks/texml-call-completed: `HangupCause`. */
const TELNYX_CAUSES = {
  answered: "normal_clearing",
  busy: "user_busy",
  noAnswer: "no_answer",
  rejected: "call_rejected",
  failed: "not_found",
  callerGone: "originator_cancel",
} as const;

/** https://www.plivo.com/docs/voice/xml/dial: the fields of the request to `action`. */
const PLIVO_DIALS = {
  answered: ["completed", "NORMAL_CLEARING"],
  busy: ["busy", "USER_BUSY"],
  noAnswer: ["timeout", "NO_ANSWER"],
  rejected: ["failed", "CALL_REJECTED"],
  failed: ["failed", "NORMAL_TEMPORARY_FAILURE"],
  callerGone: ["cancel", "ORIGINATOR_CANCEL"],
} as const;
const JAMBONZ_DIALS = {
  answered: ["completed", 200],
  busy: ["busy", 486],
  noAnswer: ["no-answer", 480],
  rejected: ["failed", 603],
  failed: ["failed", 503],
  callerGone: ["failed", 487],
} as const;
const VONAGE_DIALS = {
  answered: ["started", "ringing", "answered", "completed"],
  busy: ["started", "busy"],
  noAnswer: ["started", "ringing", "timeout"],
  rejected: ["started", "ringing", "rejected"],
  failed: ["failed"],
  callerGone: ["started", "ringing", "cancelled"],
} as const;

/** DIALSTATUS and HANGUPCAUSE, as Asterisk's app_dial sets them. */
const ASTERISK_DIALS = {
  answered: ["ANSWER", 16],
  busy: ["BUSY", 17],
  noAnswer: ["NOANSWER", 19],
  rejected: ["BUSY", 21],
  failed: ["CHANUNAVAIL", 20],
  callerGone: ["CANCEL", 0],
} as const;

/** https://www.plivo.com/docs/voice/xml/redirect and /audiostream. */
const plivo: VendorDocuments = {
  showsCaller: true,
  bodyOf: (state, from) =>
    new URLSearchParams({
      CallUUID: "c1",
      From: from,
      To: "15550002222",
      Direction: "inbound",
      CallStatus: FORM_STATUS[state],
      Event: state === "ringing" ? "StartApp" : "Redirect",
    }).toString(),
  read: (document) => {
    const [stream, ...others] = verbsIn(document);
    if (stream?.name !== "Stream") return undefined;
    const { bidirectional, keepCallAlive, extraHeaders = "" } = stream.attributes;
    assert.deepEqual([bidirectional, keepCallAlive], ["true", "true"], "verbs after it wait");
    const parameters = Object.fromEntries(extraHeaders.split(",").map((pair) => pair.split("=")));
    return { url: stream.content, parameters, next: nextIn(others) };
  },
  readDial: (document) => dialIn(document, "User"),
  dialBodies: (outcome, from) => [
    new URLSearchParams({
      CallUUID: "c1",
      From: from,
      CallStatus: outcome === "callerGone" ? "completed" : "in-progress",
      DialRingStatus: "true",
      DialStatus: PLIVO_DIALS[outcome][0],
      DialHangupCause: PLIVO_DIALS[outcome][1],
      DialBLegUUID: "b1",
    }).toString(),
  ],
};

/** https://developers.telnyx.com/docs/voice/programmable-voice/texml-verbs: connect, stream and redirect. */
const telnyx: VendorDocuments = {
  showsCaller: false,
  bodyOf: (state, from) =>
    new URLSearchParams({
      CallSid: "v3:ex",
      AccountSid: "a1",
      From: `+${from}`,
      To: "+15550002222",
      CallStatus: FORM_STATUS[state],
    }).toString(),
  read: (document) => {
    const [connect, ...others] = verbsIn(document);
    if (connect?.name !== "Connect") return undefined;
    const [stream] = elementsIn(connect.content);
    assert.ok(stream?.name === "Stream");
    const { url = "", bidirectionalMode } = stream.attributes;
    assert.equal(bidirectionalMode, "rtp");
    const parameters = Object.fromEntries(
      elementsIn(stream.content).map(({ attributes }) => [attributes["name"], attributes["value"]]),
    );
    return { url, parameters, next: nextIn(others) };
  },
  readDial: (document) => dialIn(document, "Sip"),
  dialBodies: twimlDialBodies({ CallSid: "v3:ex", AccountSid: "a1" }, TELNYX_CAUSES),
};

/** https://www.twilio.com/docs/voice/twiml: connect, stream and dial; SignalWire's are the same. */
const twilio: VendorDocuments = {
  showsCaller: true,
  bodyOf: (state, from) =>
    new URLSearchParams({
      CallSid: "CA1",
      AccountSid: "a1",
      From: `+${from}`,
      To: "+15550002222",
      CallStatus: FORM_STATUS[state],
    }).toString(),
  read: (document) => {
    const [connect, ...others] = verbsIn(document);
    if (connect?.name !== "Connect") return undefined;
    assert.deepEqual(others, []);
    const [stream] = elementsIn(connect.content);
    assert.ok(stream?.name === "Stream");
    const parameters = Object.fromEntries(
      elementsIn(stream.content).map(({ attributes }) => [attributes["name"], attributes["value"]]),
    );
    return { url: stream.attributes["url"], parameters, next: connect.attributes["action"] };
  },
  readDial: (document) => dialIn(document, "Sip"),
  dialBodies: twimlDialBodies({ CallSid: "CA1", AccountSid: "a1" }),
};

/**
 * As in jambonz-feature-server (lib/tasks/listen.js, task.js; 389c65e2): the hook is requested whenever the verb is
 * over, even if the caller has hung up, with the call's fields in snake case.
 */
const jambonz: VendorDocuments = {
  showsCaller: true,
  bodyOf: (state, from) =>
    JSON.stringify({
      call_sid: "c1",
      direction: "inbound",
      from,
      to: "15550002222",
      sip_status: 200,
      call_status: FORM_STATUS[state],
      ...(state === "callerGone" && { call_termination_by: "caller" }),
    }),
  read: (document) => {
    const [listen, ...others] = JSON.parse(document);
    assert.deepEqual(others, listen.verb === "listen" ? [{ verb: "hangup" }] : []);
    if (listen.verb !== "listen") return undefined;
    assert.equal(listen.bidirectionalAudio.streaming, true);
    return { url: listen.url, parameters: listen.metadata, next: listen.actionHook?.split("#")[0] };
  },
  readDial: (document) => {
    const [dial, ...others] = JSON.parse(document);
    if (dial.verb !== "dial") return undefined;
    assert.deepEqual(others, []);
    const [{ type, number }] = dial.target;
    assert.equal(type, "phone");
    const { timeout: ringSec, timeLimit: talkMaxSec, callerId, actionHook } = dial;
    return { to: number, ringSec, talkMaxSec, callerId, next: actionHook.split("#")[0] };
  },
  dialBodies: (outcome, from) => [
    JSON.stringify({
      call_sid: "c1",
      from,
      call_status: outcome === "callerGone" ? "completed" : "in-progress",
      dial_call_sid: "d1",
      dial_call_status: JAMBONZ_DIALS[outcome][0],
      dial_sip_status: JAMBONZ_DIALS[outcome][1],
    }),
  ],
};

/** https://developer.vonage.com/en/voice/voice-api/guides/websockets: fallback options. */
const vonage: VendorDocuments = {
  showsCaller: true,
  bodyOf: (state, from) => {
    if (state === "ringing") return JSON.stringify({ from, to: "15550002222", uuid: "u1" });
    const status = state === "callerGone" ? "completed" : "disconnected";
    return vonageEvent(status, from);
  },
  read: (document) => {
    if (document === "") return undefined;
    const [connect, ...others] = JSON.parse(document);
    assert.deepEqual(others, []);
    assert.equal(connect.action, "connect");
    const [{ uri, headers }] = connect.endpoint;
    assert.equal(headers.callId, "u1");
    const next = connect.eventType === "synchronous" ? connect.eventUrl[0] : undefined;
    return { url: uri, parameters: headers, next };
  },
  readDial: (document) => {
    const [connect, ...others] = JSON.parse(document);
    const { action, endpoint, eventType, eventUrl, timeout, limit, from } = connect;
    assert.deepEqual([action, others], ["connect", []]);
    const [{ type, number }] = endpoint;
    if (type !== "phone") return undefined;
    assert.match(number, /^\d+$/, "without a plus");
    assert.ok(from !== undefined || connect.randomFromNumber, "such a call does not connect");
    assert.ok(limit <= 7_200, "Vonage allows no more");
    const callerId = from === undefined ? undefined : `+${from}`;
    assert.equal(eventType, "synchronous");
    return {
      to: `+${number}`,
      ringSec: timeout,
      talkMaxSec: limit,
      callerId,
      next: eventUrl[0],
    };
  },
  dialBodies: (outcome, from) =>
    VONAGE_DIALS[outcome].map((status) =>
      JSON.stringify({
        from,
        to: "15550003333",
        uuid: "p1",
        conversation_uuid: "CON-1",
        status,
        ...(status === "completed" && { duration: "42" }),
      }),
    ),
};

/** An event of the stream's leg, which has its own id. */
function vonageEvent(status: string, from: string): string {
  const ids = { uuid: "w1", conversation_uuid: "CON-1" };
  return JSON.stringify({ from, to: "wss://voice.example.com/", ...ids, status });
}

/** As the dialplan of docs/guides/telephony.md reads it, which continues only while its caller is connected. */
const asterisk: VendorDocuments = {
  showsCaller: true,
  bodyOf: (state, from) => {
    if (state === "callerGone") return undefined;
    const who = state === "ringing" ? { from: `+${from}`, to: "+15550002222" } : {};
    return new URLSearchParams({ call: "1763750400.7", ...who }).toString();
  },
  read: (document) => {
    if (!/^[0-9a-f]+([|]|$)/.test(document)) return undefined;
    const [token = "", next] = document.split("|");
    return { url: undefined, parameters: { token }, next };
  },
  readDial: (document) => {
    const [verb, to = "", ringSec, next = "", talkMaxSec, callerId, ...others] =
      document.split("|");
    if (verb !== "dial") return undefined;
    assert.deepEqual(others, []);
    return {
      to,
      ringSec: Number(ringSec),
      talkMaxSec: Number(talkMaxSec),
      callerId: callerId === "" ? undefined : callerId,
      next,
    };
  },
  dialBodies: (outcome) => {
    const [dialStatus, hangupCause] = ASTERISK_DIALS[outcome];
    const fields = {
      dialStatus,
      hangupCause: String(hangupCause),
      duration: outcome === "answered" ? "42" : "",
      ...(outcome === "callerGone" && { CallStatus: "completed" }),
    };
    return [new URLSearchParams(fields).toString()];
  },
};

export const VENDOR_DOCUMENTS: Readonly<Record<string, VendorDocuments>> = {
  plivo,
  telnyx,
  twilio,
  signalwire: twilio,
  jambonz,
  vonage,
  asterisk,
};
