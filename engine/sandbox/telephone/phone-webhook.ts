import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

/** The vendor's own limit. */
const WEBHOOK_MAX_MS = 15_000;
/** A document that redirects the vendor to itself must come to an end. */
const REDIRECTS_MAX = 20;

/** The data of a phone call when it reaches the webhook. */
export interface RingingCall {
  readonly callSid: string;
  readonly accountSid: string;
  readonly from: string;
  readonly to: string;
  /** Signs the request as the vendor does. */
  readonly authToken: string | undefined;
  /** Added to the usual fields, and overriding them. */
  readonly fields?: Readonly<Record<string, string>> | undefined;
}

export interface StreamInstruction {
  readonly url: string;
  /** Requested for the next step when the stream has ended. */
  readonly action?: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** The webhook responded with another status than 200. */
export class WebhookError extends Error {
  override readonly name = "WebhookError";
  readonly status: number;
  readonly body: string;

  constructor(status: number, body: string) {
    super(`the webhook answered ${status}`);
    this.status = status;
    this.body = body;
  }
}

/** The document contains words for the caller, and no stream. */
export class CallRefusedByServerError extends Error {
  override readonly name = "CallRefusedByServerError";
  readonly words: string;

  constructor(words: string) {
    super(`refused: "${words}"`);
    this.words = words;
  }
}

/**
 * Requests instructions for a call, as Twilio would, and follows redirects; `pause` waits the given seconds.
 * Rejects with a WebhookError or with CallRefusedByServerError.
 */
export async function requestWebhook(
  url: string,
  call: RingingCall,
  callStatus = "ringing",
  pause: (lengthSec: number) => Promise<void> = (lengthSec) => sleep(lengthSec * 1_000),
): Promise<StreamInstruction> {
  let from = url;
  for (let times = 0; times <= REDIRECTS_MAX; times += 1) {
    const document = await documentOf(from, call, callStatus);
    const sentOn = redirectIn(document);
    if (sentOn === undefined) return readDocument(document);
    await pause(sentOn.pauseSec);
    from = new URL(sentOn.url, from).href;
  }
  throw new Error("sent on and on");
}

export async function documentOf(
  url: string,
  call: RingingCall,
  callStatus: string,
): Promise<string> {
  const fields = {
    CallSid: call.callSid,
    AccountSid: call.accountSid,
    From: call.from,
    To: call.to,
    Called: call.to,
    Caller: call.from,
    CallStatus: callStatus,
    Direction: "inbound",
    ApiVersion: "2010-04-01",
    ...call.fields,
  };
  const response = await requestTwice(url, {
    method: "POST",
    headers: {
      "content-type": "application/x-www-form-urlencoded; charset=UTF-8",
      ...signatureHeader(url, fields, call.authToken),
    },
    body: new URLSearchParams(fields).toString(),
    signal: AbortSignal.timeout(WEBHOOK_MAX_MS),
  });
  const document = await response.text();
  if (response.status !== 200) throw new WebhookError(response.status, document);
  return document;
}

/** Whether the document has an instruction for a call without a stream: a question, or a conference. */
const WITHOUT_STREAM = /<Gather\b|<Conference\b/;

/** The call is answered with a document that opens no stream. */
export class StreamlessDocumentError extends Error {
  override readonly name = "StreamlessDocumentError";
  readonly document: string;

  constructor(document: string) {
    super("the document opens no stream");
    this.document = document;
  }
}

/** The vendor's next request, and its delay; undefined for a document with another instruction. */
export function redirectIn(
  document: string,
): { readonly url: string; readonly pauseSec: number } | undefined {
  const [, lengthSec = "0", url] =
    /<Response>(?:<Pause length="(\d+)"\/>)?<Redirect\b[^>]*>([^<]+)<\/Redirect>/.exec(document) ??
    [];
  return url === undefined ? undefined : { url: unescapeXml(url), pauseSec: Number(lengthSec) };
}

/** Without a connection, the vendor tries once more unless its account says otherwise. */
function requestTwice(url: string, question: RequestInit): Promise<Response> {
  return fetch(url, question).catch((error: unknown) => {
    const cause = error instanceof Error ? error.cause : undefined;
    const isUnconnected =
      cause instanceof Error && "syscall" in cause && cause.syscall === "connect";
    if (!isUnconnected) throw error;
    return fetch(url, question);
  });
}

export function signatureHeader(
  url: string,
  fields: Readonly<Record<string, string>>,
  authToken: string | undefined,
): Readonly<Record<string, string>> {
  if (authToken === undefined) return {};
  const signed = Object.entries(fields)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flat();
  const hmac = createHmac("sha1", authToken).update([url, ...signed].join(""));
  return { "x-twilio-signature": hmac.digest("base64") };
}

/** Attributes may contain anything but their quote. */
const STREAM =
  /<Connect\b((?:[^>"]|"[^"]*")*)>\s*<Stream\b((?:[^>"]|"[^"]*")*?)(?:\/>|>((?:[^<"]|"[^"]*"|<(?!\/Stream))*)<\/Stream>)/;
const PARAMETER = /<Parameter\b((?:[^>"]|"[^"]*")*?)\/?>/g;

/** Reads the few TwiML elements of a call with an agent. */
export function readDocument(document: string): StreamInstruction {
  const stream = STREAM.exec(document);
  if (stream === null) {
    if (WITHOUT_STREAM.test(document)) throw new StreamlessDocumentError(document);
    const words = /<Say\b[^>]*>([\s\S]*?)<\/Say>/.exec(document)?.[1];
    if (words !== undefined) throw new CallRefusedByServerError(unescapeXml(words));
    throw new Error(/<Hangup\b/.test(document) ? "hung up" : "not TwiML");
  }
  const [, connect = "", attributes = "", content = ""] = stream;
  const parameters: Record<string, string> = {};
  for (const [, inner = ""] of content.matchAll(PARAMETER)) {
    parameters[attribute(inner, "name")] = attribute(inner, "value");
  }
  const url = attribute(attributes, "url");
  if (url.includes("?")) throw new Error("31920: a stream's url must not have a query");
  const action = attribute(connect, "action");
  return { url, parameters, ...(action !== "" && { action }) };
}

/** The target of a document's transfer. */
export interface DialInstruction {
  /** A number or a SIP address. */
  readonly to: string;
  /** How long it rings, from the document; empty if it contains none. */
  readonly timeout: string;
  /** Requested for the next step when that leg is over; empty if there is none. */
  readonly action: string;
}

/** Undefined for a document with another instruction. */
export function dialledIn(document: string): DialInstruction | undefined {
  const dial = /<Dial\b([^>]*)>\s*<(Number|Sip)\b[^>]*>([^<]+)<\/\2>/.exec(document);
  if (dial === null) return undefined;
  const [, attributes = "", , to = ""] = dial;
  return {
    to: unescapeXml(to.trim()),
    timeout: attribute(attributes, "timeout"),
    action: attribute(attributes, "action"),
  };
}

export function attribute(text: string, name: string): string {
  return unescapeXml(new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1] ?? "");
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["lt", "<"],
  ["gt", ">"],
  ["amp", "&"],
  ["quot", '"'],
  ["apos", "'"],
]);

export function unescapeXml(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(String(hex), 16));
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    return ENTITIES.get(String(name)) ?? String(whole);
  });
}
