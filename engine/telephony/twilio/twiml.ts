import {
  type Briefing,
  type BriefingPart,
  CONFERENCE_MAX_SEC,
  type Dial,
  type Farewell,
  isSipAddress,
  plainAddress,
  type StreamTarget,
  type Wait,
  type WarmTransferDocuments,
} from "../call-instructions.js";
import { type TransferReport, transferReport } from "../transfer-report.js";
import { webhookField } from "../webhook-field.js";
import { element, escapeText, xmlDocument } from "../xml.js";

/** Beside what all share; each is one vendor's. */
type StreamAttributes = Readonly<Record<string, string | undefined>>;

/** Connects the call's audio both ways to the stream; the call ends when the stream does. */
export function twilioConnect(target: StreamTarget): string {
  return connect(target, {});
}

/** cXML: `codec` is SignalWire's name of it, µ-law at 8 kHz unless given. */
export function signalwireConnect(target: StreamTarget, codec?: string): string {
  return connect(target, { codec });
}

/** For vendors that run on in the document when its stream has ended: they ask what comes next, or the call is over. */
export function behindStream({ continueUrl }: Pick<StreamTarget, "continueUrl">): string {
  if (continueUrl === undefined) return element("Hangup", {});
  return element("Redirect", { method: "POST" }, escapeText(continueUrl));
}

/**
 * TeXML: without the mode `rtp` Telnyx would take our µ-law for MP3. What follows a `Connect` is done when its stream has ended
 * (https://developers.telnyx.com/docs/voice/programmable-voice/texml-verbs/connect), which for streams has no `action` there.
 */
export function telnyxConnect(target: StreamTarget): string {
  const attributes = {
    codec: "PCMU",
    bidirectionalMode: "rtp",
    bidirectionalCodec: "PCMU",
    bidirectionalSamplingRate: "8000",
  };
  const { continueUrl: _, ...withoutAction } = target;
  return connect(withoutAction, attributes, behindStream(target));
}

export function hangUp(): string {
  return xmlDocument(element("Response", {}, element("Hangup", {})));
}

/** The vendor signs what it asks then as it signs a webhook. */
export function pauseAndAsk({ url, pauseSec }: Wait): string {
  const pause = element("Pause", { length: String(pauseSec) });
  return xmlDocument(element("Response", {}, pause + behindStream({ continueUrl: url })));
}

/** Twilio, SignalWire and Telnyx all understand this document. */
export function sayAndHangUp({ text, language }: Farewell): string {
  const say = element("Say", { language }, escapeText(text));
  return xmlDocument(element("Response", {}, say + element("Hangup", {})));
}

/** Telnyx takes no fewer seconds of talk; the others take fewer. */
const TALK_MIN_SEC = 60;

/**
 * Twilio, SignalWire and Telnyx all understand this document, and ask `action` when the leg is over
 * (https://www.twilio.com/docs/voice/twiml/dial).
 */
export function dialAndAsk({ to, ringSec, talkMaxSec, resultUrl, callerId }: Dial): string {
  const target = element(isSipAddress(to) ? "Sip" : "Number", {}, escapeText(to));
  const attributes = {
    action: resultUrl,
    method: "POST",
    timeout: String(ringSec),
    timeLimit: String(Math.max(talkMaxSec, TALK_MIN_SEC)),
    callerId,
  };
  return xmlDocument(element("Response", {}, element("Dial", attributes, target)));
}

/** Gathering ends this long after the person's last key, or when nothing was said for that long. */
const ANSWER_SEC = 5;
const ANSWER_HINTS = "1, 2, yes, no";
/** What a person's call that is over may have for its status. */
const CALL_IS_OVER: ReadonlySet<string> = new Set([
  "completed",
  "busy",
  "no-answer",
  "failed",
  "canceled",
]);

/**
 * A warm transfer at Twilio: https://www.twilio.com/docs/voice/twiml/conference (without `waitUrl` it plays its own music) and
 * https://www.twilio.com/docs/voice/twiml/gather. SignalWire has the same:
 * https://developer.signalwire.com/compatibility-api/cxml/voice/conference-noun and /gather.
 */
export const TWIML_WARM_TRANSFER: WarmTransferDocuments = {
  reportsCallerExit: true,
  wait: ({ conference, resultUrl }) =>
    conferenceOf(conference, { action: resultUrl, method: "POST" }, "false"),
  ask: (briefing) => askDocument(briefing, { actionOnEmptyResult: "true" }),
  join: (conference) => conferenceOf(conference, {}, "true"),
  goOn: (url) => xmlDocument(element("Response", {}, behindStream({ continueUrl: url }))),
  answer: (body) => ({
    digits: webhookField(body, "Digits"),
    speech: new URLSearchParams(body).get("SpeechResult") ?? "",
  }),
  personReport: (body) => personReport(body, ["SipResponseCode"]),
};

/**
 * A warm transfer at Telnyx: https://developers.telnyx.com/docs/voice/programmable-voice/texml-verbs/conference and /gather. A
 * `Gather` without an answer does what is behind it.
 */
export const TEXML_WARM_TRANSFER: WarmTransferDocuments = {
  ...TWIML_WARM_TRANSFER,
  personReport: (body) => personReport(body, ["HangupCause", "SipHangupCause"]),
  ask: (briefing) => askDocument(briefing, {}, behindStream({ continueUrl: briefing.answerUrl })),
};

/** What a report on the person's own call says; `reasons` as in `TransferFields`. */
function personReport(body: string, reasons: readonly string[]): TransferReport | undefined {
  if (!CALL_IS_OVER.has(webhookField(body, "CallStatus"))) return undefined;
  return transferReport(body, { status: "CallStatus", reasons, duration: "CallDuration" });
}

function askDocument(
  { introduction, question, language, answerUrl }: Briefing,
  own: StreamAttributes,
  behind = "",
): string {
  const introduced = introduction === undefined ? "" : spoken(introduction, language);
  const attributes = {
    input: "dtmf speech",
    numDigits: "1",
    timeout: String(ANSWER_SEC),
    speechTimeout: "auto",
    language,
    hints: ANSWER_HINTS,
    action: answerUrl,
    method: "POST",
    ...own,
  };
  const gather = element("Gather", attributes, spoken(question, language));
  return xmlDocument(element("Response", {}, introduced + gather + behind));
}

function spoken({ audioUrl, text }: BriefingPart, language: string): string {
  return audioUrl === undefined
    ? element("Say", { language }, escapeText(text))
    : element("Play", {}, escapeText(audioUrl));
}

/** Ends with either of the two. */
function conferenceOf(
  name: string,
  dial: StreamAttributes,
  startConferenceOnEnter: string,
): string {
  const attributes = {
    beep: "false",
    startConferenceOnEnter,
    endConferenceOnExit: "true",
    maxParticipants: "2",
  };
  const conference = element("Conference", attributes, escapeText(name));
  const dialed = element("Dial", { ...dial, timeLimit: String(CONFERENCE_MAX_SEC) }, conference);
  return xmlDocument(element("Response", {}, dialed));
}

const DIAL_FIELDS = { status: "DialCallStatus", duration: "DialCallDuration" };

/**
 * What the request to `action` says of the leg. Twilio and SignalWire add the answer of SIP where a SIP address was dialed
 * (https://www.twilio.com/docs/voice/twiml/sip); of a number they say no more than the status.
 */
export function dialReport(body: string): TransferReport | undefined {
  return transferReport(body, { ...DIAL_FIELDS, reasons: ["DialSipResponseCode"] });
}

/** Telnyx also says why: https://developers.telnyx.com/api-reference/callbacks/texml-call-completed. */
export function telnyxDialReport(body: string): TransferReport | undefined {
  return transferReport(body, { ...DIAL_FIELDS, reasons: ["HangupCause", "SipHangupCause"] });
}

function connect(target: StreamTarget, attributes: StreamAttributes, afterwards = ""): string {
  const parameters = Object.entries(target.parameters)
    .map(([name, value]) => element("Parameter", { name, value }))
    .join("");
  const own = { url: plainAddress(target.url), statusCallback: target.statusUrl };
  const stream = element("Stream", { ...own, ...attributes }, parameters);
  const connected = element("Connect", { action: target.continueUrl }, stream);
  return xmlDocument(element("Response", {}, connected + afterwards));
}
