import {
  type Dial,
  type Farewell,
  isSipAddress,
  plainAddress,
  type StreamTarget,
} from "../call-documents.js";
import { type TransferReport, transferReport } from "../transfer-report.js";
import { webhookField } from "../webhook-field.js";

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

/** States of the stream in which Vonage waits for what comes next: ended by us, or never opened. */
const WAITS = new Set(["disconnected", "failed", "unanswered", "rejected", "busy", "timeout"]);

/** Vonage only tells of all other states, and must not be given another stream then. */
export function isVonageWaiting(body: string): boolean {
  return WAITS.has(webhookField(body, "status"));
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
export function vonageDial({ to, ringSec, resultUrl, callerId }: Dial): string {
  const plain = (number: string) => number.replace(/^\+/, "");
  const endpoint = isSipAddress(to)
    ? { type: "sip", uri: to }
    : { type: "phone", number: plain(to) };
  const connect = {
    action: "connect",
    ...(callerId !== undefined && { from: plain(callerId) }),
    timeout: ringSec,
    endpoint: [endpoint],
    eventType: "synchronous",
    eventUrl: [resultUrl],
  };
  return JSON.stringify([connect]);
}

/** States in which nothing is decided yet. */
const ON_THE_WAY = new Set(["started", "ringing", "machine", "human", "transfer"]);

export function vonageDialReport(body: string): TransferReport | undefined {
  if (ON_THE_WAY.has(webhookField(body, "status"))) return undefined;
  return transferReport(body, { status: "status", reason: "detail", duration: "duration" });
}
