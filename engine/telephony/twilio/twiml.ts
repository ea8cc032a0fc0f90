import {
  type Dial,
  type Farewell,
  isSipAddress,
  plainAddress,
  type StreamTarget,
  type Wait,
} from "../call-instructions.js";
import { type TransferReport, transferReport } from "../transfer-report.js";
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

/**
 * Twilio, SignalWire and Telnyx all understand this document, and ask `action` when the leg is over
 * (https://www.twilio.com/docs/voice/twiml/dial).
 */
export function dialAndAsk({ to, ringSec, resultUrl, callerId }: Dial): string {
  const target = element(isSipAddress(to) ? "Sip" : "Number", {}, escapeText(to));
  const attributes = { action: resultUrl, method: "POST", timeout: String(ringSec), callerId };
  return xmlDocument(element("Response", {}, element("Dial", attributes, target)));
}

/** What the request to `action` says of the leg. */
export function dialReport(body: string): TransferReport | undefined {
  return transferReport(body, { status: "DialCallStatus", duration: "DialCallDuration" });
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
