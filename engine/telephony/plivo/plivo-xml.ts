import {
  type Dial,
  type Farewell,
  isSipAddress,
  plainAddress,
  type StreamTarget,
  type Wait,
} from "../call-documents.js";
import { type TransferReport, transferReport } from "../transfer-report.js";
import { behindStream } from "../twilio/twiml.js";
import { element, escapeText, xmlDocument } from "../xml.js";

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
