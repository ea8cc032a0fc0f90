import { type Farewell, plainAddress, type StreamTarget } from "../call-documents.js";
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

/**
 * TeXML: without the mode `rtp` Telnyx would take our µ-law for MP3. What follows a `Connect` is done when its stream has ended,
 * so a call whose stream was closed does not stay open in silence.
 */
export function telnyxConnect(target: StreamTarget): string {
  const attributes = {
    codec: "PCMU",
    bidirectionalMode: "rtp",
    bidirectionalCodec: "PCMU",
    bidirectionalSamplingRate: "8000",
  };
  return connect(target, attributes, element("Hangup", {}));
}

export function hangUp(): string {
  return xmlDocument(element("Response", {}, element("Hangup", {})));
}

/** Twilio, SignalWire and Telnyx all understand this document. */
export function sayAndHangUp({ text, language }: Farewell): string {
  const say = element("Say", { language }, escapeText(text));
  return xmlDocument(element("Response", {}, say + element("Hangup", {})));
}

/** Hands the caller on to a number, or to a SIP address. */
export function dialOn(to: string): string {
  const target = element(/^sips?:/i.test(to) ? "Sip" : "Number", {}, escapeText(to));
  return xmlDocument(element("Response", {}, element("Dial", {}, target)));
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
