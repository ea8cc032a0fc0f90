import assert from "node:assert/strict";

/** What a document has the vendor do. */
export interface DocumentStep {
  /** The stream's address; undefined where the vendor's own configuration has it. */
  readonly url: string | undefined;
  /** What the stream says in its start. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Asked when the stream has ended; undefined where the call ends then. */
  readonly next: string | undefined;
}

/** How a vendor asks for documents, and reads them; apart from the code under test. */
export interface VendorDocuments {
  /** What it says of the call of `from` in that state; undefined where it asks nothing then. */
  readonly bodyOf: (state: CallState, from: string) => string | undefined;
  /** Undefined for a document that ends the call. Fails for one that the vendor would refuse. */
  readonly read: (document: string) => DocumentStep | undefined;
}

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

/** What the vendor comes to when a stream is over: verbs behind `Redirect` and `Hangup` are not reached. */
function nextIn([verb]: readonly Element[]): string | undefined {
  if (verb?.name !== "Redirect") return undefined;
  assert.equal(verb.attributes["method"] ?? "POST", "POST");
  return verb.content.replaceAll("&amp;", "&");
}

const FORM_STATUS = { ringing: "ringing", streamEnded: "in-progress", callerGone: "completed" };

/** https://www.plivo.com/docs/voice/xml/redirect and /audiostream. */
const plivo: VendorDocuments = {
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
    assert.deepEqual([bidirectional, keepCallAlive], ["true", "true"], "verbs behind it wait");
    const parameters = Object.fromEntries(extraHeaders.split(",").map((pair) => pair.split("=")));
    return { url: stream.content, parameters, next: nextIn(others) };
  },
};

/** https://developers.telnyx.com/docs/voice/programmable-voice/texml-verbs: connect, stream and redirect. */
const telnyx: VendorDocuments = {
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
};

/**
 * As jambonz-feature-server does it (lib/tasks/listen.js, task.js; 389c65e2): the hook is asked whenever the verb is over, also
 * when the caller has hung up, with the call's fields in snake case.
 */
const jambonz: VendorDocuments = {
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
    if (listen.verb === "hangup") return undefined;
    assert.equal(listen.bidirectionalAudio.streaming, true);
    return { url: listen.url, parameters: listen.metadata, next: listen.actionHook?.split("#")[0] };
  },
};

/** https://developer.vonage.com/en/voice/voice-api/guides/websockets: fallback options. */
const vonage: VendorDocuments = {
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
};

/** An event of the stream's leg, which has an id of its own. */
function vonageEvent(status: string, from: string): string {
  const ids = { uuid: "w1", conversation_uuid: "CON-1" };
  return JSON.stringify({ from, to: "wss://voice.example.com/", ...ids, status });
}

/** As the dialplan of docs/telephony.md reads it, which runs on only while its caller is there. */
const asterisk: VendorDocuments = {
  bodyOf: (state) => (state === "callerGone" ? undefined : "call=1763750400.7"),
  read: (document) => {
    if (!/^[0-9a-f]+([|]|$)/.test(document)) return undefined;
    const [token = "", next] = document.split("|");
    return { url: undefined, parameters: { token }, next };
  },
};

export const VENDOR_DOCUMENTS: Readonly<Record<string, VendorDocuments>> = {
  plivo,
  telnyx,
  jambonz,
  vonage,
  asterisk,
};
