import { randomBytes } from "node:crypto";
import type { RingingCall } from "../../../engine/sandbox/telephone/phone-webhook.js";

const FRAME = Buffer.alloc(160, 0xff).toString("base64");

/** A call that reaches the webhook, and that nobody has signed. */
export function ringingCall(): RingingCall {
  return {
    callSid: sid("CA"),
    accountSid: sid("AC"),
    from: "+15550001111",
    to: "+15550002222",
    authToken: undefined,
  };
}

function sid(kind: string): string {
  return `${kind}${randomBytes(16).toString("hex")}`;
}

/** What Twilio sends over a media stream, in its order: `connected`, `start`, then audio and the rest. */
export function telephoneMessages(
  customParameters: Readonly<Record<string, string>>,
): readonly unknown[] {
  const streamSid = sid("MZ");
  const mediaFormat = { encoding: "audio/x-mulaw", sampleRate: 8_000, channels: 1 };
  const call = { accountSid: sid("AC"), callSid: sid("CA") };
  const start = { ...call, streamSid, tracks: ["inbound"], mediaFormat, customParameters };
  return [
    { event: "connected", protocol: "Call", version: "1.0.0" },
    { event: "start", sequenceNumber: "1", start, streamSid },
    {
      event: "media",
      sequenceNumber: "2",
      media: { track: "inbound", chunk: "1", timestamp: "20", payload: FRAME },
      streamSid,
    },
    { event: "mark", sequenceNumber: "3", mark: { name: "1" }, streamSid },
    { event: "dtmf", sequenceNumber: "4", dtmf: { track: "inbound", digit: "5" }, streamSid },
    { event: "stop", sequenceNumber: "5", stop: call, streamSid },
  ];
}
