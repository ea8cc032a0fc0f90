import assert from "node:assert/strict";
import { asteriskWire } from "../../../engine/telephony/asterisk/asterisk.js";
import { AudioSocketWire } from "../../../engine/telephony/asterisk/audio-socket-wire.js";
import { jambonzWire } from "../../../engine/telephony/jambonz/jambonz.js";
import type { PhoneEvent, PhoneWire, StreamStarted } from "../../../engine/telephony/phone-wire.js";
import { plivoWire } from "../../../engine/telephony/plivo/plivo.js";
import { signalwireWire } from "../../../engine/telephony/signalwire/signalwire.js";
import { telnyxWire } from "../../../engine/telephony/telnyx/telnyx.js";
import { twilioWire } from "../../../engine/telephony/twilio/twilio-wire.js";
import { vonageWire } from "../../../engine/telephony/vonage/vonage.js";

export interface SentFrame {
  readonly data: Buffer;
  readonly isBinary: boolean;
}

/** A vendor as it speaks, written down from its documentation and apart from the code under test. */
export interface Vendor {
  readonly wire: () => PhoneWire;
  readonly start: SentFrame;
  readonly media: (bytes: Uint8Array, chunk: number) => SentFrame;
  readonly mark: ((name: string) => SentFrame) | undefined;
  readonly digit: (digit: string) => SentFrame;
  readonly stop: SentFrame | undefined;
  /** The audio in one frame that goes to the vendor. */
  readonly audioOf: (frame: string | Uint8Array) => Uint8Array;
}

export function textFrame(message: unknown): SentFrame {
  const text = typeof message === "string" ? message : JSON.stringify(message);
  return { data: Buffer.from(text), isBinary: false };
}

export function binaryFrame(bytes: Uint8Array): SentFrame {
  return { data: Buffer.from(bytes), isBinary: true };
}

export function receive(wire: PhoneWire, ...frames: readonly SentFrame[]): readonly PhoneEvent[] {
  return frames.flatMap(({ data, isBinary }) =>
    wire
      .fromWire(data, isBinary)
      .map((event) =>
        event.type === "audio" ? { ...event, bytes: Uint8Array.from(event.bytes) } : event,
      ),
  );
}

/** Pacing, order, marks after a clear, and whether closing the socket hangs up. */
export function traitsOf(wire: PhoneWire): readonly boolean[] {
  return [wire.needsPacing, wire.reorders, wire.clearDropsMarks, wire.closingHangsUp];
}

/** What the wire makes of a message that is to start its stream. */
export function startedBy(wire: PhoneWire, message: unknown): StreamStarted {
  const [event] = receive(wire, textFrame(message));
  assert.ok(event?.type === "started", JSON.stringify(event));
  return event;
}

export const PARAMETERS = { token: "0a1b2c", agentId: "ag1" };
const SID = "MZ00000000000000000000000000000001";
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
const payloadOf = (frame: string | Uint8Array) =>
  Buffer.from(JSON.parse(String(frame)).media.payload, "base64");
const bytesOf = (frame: string | Uint8Array) =>
  typeof frame === "string" ? Buffer.from(frame) : frame;

const twilio: Vendor = {
  wire: twilioWire,
  start: textFrame({
    event: "start",
    sequenceNumber: "1",
    streamSid: SID,
    start: {
      streamSid: SID,
      accountSid: "ACx",
      callSid: "CA1",
      tracks: ["inbound"],
      mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8000, channels: 1 },
      customParameters: PARAMETERS,
    },
  }),
  media: (bytes, chunk) =>
    textFrame({
      event: "media",
      sequenceNumber: String(chunk + 1),
      streamSid: SID,
      media: { track: "inbound", chunk: String(chunk), timestamp: "5", payload: base64(bytes) },
    }),
  mark: (name) => textFrame({ event: "mark", sequenceNumber: "9", streamSid: SID, mark: { name } }),
  digit: (digit) =>
    textFrame({ event: "dtmf", streamSid: SID, dtmf: { track: "inbound_track", digit } }),
  stop: textFrame({ event: "stop", streamSid: SID, stop: { callSid: "CA1" } }),
  audioOf: payloadOf,
};

const telnyx: Vendor = {
  wire: telnyxWire,
  start: textFrame({
    event: "start",
    sequence_number: "1",
    stream_id: "32de0dea",
    start: {
      user_id: "u1",
      call_control_id: "v3:ex",
      call_session_id: "s1",
      client_state: null,
      custom_parameters: PARAMETERS,
      media_format: { encoding: "PCMU", sample_rate: 8000, channels: 1 },
    },
  }),
  media: (bytes, chunk) =>
    textFrame({
      event: "media",
      sequence_number: String(chunk + 2),
      stream_id: "32de0dea",
      media: { track: "inbound", chunk: String(chunk), timestamp: "40", payload: base64(bytes) },
    }),
  mark: (name) =>
    textFrame({ event: "mark", sequence_number: "5", stream_id: "x", mark: { name } }),
  digit: (digit) => textFrame({ event: "dtmf", stream_id: "x", occurred_at: "", dtmf: { digit } }),
  stop: textFrame({ event: "stop", sequence_number: "9", stream_id: "x", stop: {} }),
  audioOf: payloadOf,
};

const plivo: Vendor = {
  wire: plivoWire,
  start: textFrame({
    event: "start",
    sequenceNumber: 1,
    start: {
      callId: "c1",
      streamId: "s1",
      accountId: "a1",
      tracks: ["inbound"],
      mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8000 },
    },
    extra_headers: "{X-PH-token: 0a1b2c, X-PH-agentId: ag1}",
  }),
  media: (bytes, chunk) =>
    textFrame({
      event: "media",
      sequenceNumber: chunk + 1,
      media: { track: "inbound", timestamp: "17", chunk, payload: base64(bytes) },
      streamId: "s1",
    }),
  mark: (name) => textFrame({ event: "playedStream", name, streamId: "s1" }),
  digit: (digit) => textFrame({ event: "dtmf", streamId: "s1", dtmf: { digit } }),
  stop: textFrame({ event: "stop" }),
  audioOf: payloadOf,
};

const signalwire: Vendor = {
  ...twilio,
  wire: signalwireWire,
  start: textFrame({
    event: "start",
    sequenceNumber: "1",
    start: {
      streamSid: "3f0f6c1e",
      callSid: "b9d1",
      accountSid: "p1",
      tracks: ["inbound"],
      mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8000, channels: 1 },
      customParameters: PARAMETERS,
    },
  }),
  digit: (digit) => textFrame({ event: "dtmf", dtmf: { digit, duration: 100 } }),
  stop: textFrame({ event: "stop" }),
};

const vonage: Vendor = {
  wire: vonageWire,
  start: textFrame({
    event: "websocket:connected",
    "content-type": "audio/l16;rate=16000",
    ...PARAMETERS,
  }),
  media: binaryFrame,
  mark: (name) => textFrame({ event: "websocket:notify", payload: { id: name } }),
  digit: (digit) => textFrame({ event: "websocket:dtmf", digit, duration: 260 }),
  stop: undefined,
  audioOf: bytesOf,
};

const jambonz: Vendor = {
  wire: jambonzWire,
  start: textFrame({
    callSid: "c1",
    from: "+1",
    to: "+2",
    callId: "sip1",
    sampleRate: 8000,
    mixType: "mono",
    ...PARAMETERS,
  }),
  media: binaryFrame,
  mark: (name) => textFrame({ type: "mark", data: { name, event: "playout" } }),
  digit: (digit) => textFrame({ event: "dtmf", dtmf: digit, duration: "1600" }),
  stop: undefined,
  audioOf: bytesOf,
};

const asteriskJson: Vendor = {
  wire: asteriskWire,
  start: textFrame({
    event: "MEDIA_START",
    connection_id: "c1",
    channel: "WebSocket/x",
    channel_id: "176.1",
    format: "ulaw",
    optimal_frame_size: 160,
    ptime: 20,
    channel_variables: PARAMETERS,
  }),
  media: binaryFrame,
  mark: (name) => textFrame({ event: "MEDIA_MARK_PROCESSED", correlation_id: name }),
  digit: (digit) => textFrame({ event: "DTMF_END", digit, duration_ms: 100 }),
  stop: undefined,
  audioOf: bytesOf,
};

const asteriskPlain: Vendor = {
  ...asteriskJson,
  start: textFrame(
    "MEDIA_START connection_id:c1 channel:WebSocket/x/0x7f channel_id:176.1 format:ulaw optimal_frame_size:160 ptime:20",
  ),
  mark: (name) => textFrame(`MEDIA_MARK_PROCESSED correlation_id:${name}`),
  digit: (digit) => textFrame(`DTMF_END digit:${digit}`),
};

/** A frame of AudioSocket, which has no frames of its own on the wire. */
export function tlv(kind: number, payload: Uint8Array): SentFrame {
  const header = Buffer.from([kind, payload.length >> 8, payload.length & 0xff]);
  return binaryFrame(Buffer.concat([header, payload]));
}

const audioSocket: Vendor = {
  wire: () => new AudioSocketWire(),
  start: tlv(0x01, Buffer.from("00112233445566778899aabbccddeeff", "hex")),
  media: (bytes) => tlv(0x10, bytes),
  mark: undefined,
  digit: (digit) => tlv(0x03, Buffer.from(digit)),
  stop: tlv(0x00, new Uint8Array()),
  audioOf: (frame) => bytesOf(frame).subarray(3),
};

export const VENDORS: Readonly<Record<string, Vendor>> = {
  Twilio: twilio,
  Telnyx: telnyx,
  Plivo: plivo,
  SignalWire: signalwire,
  Vonage: vonage,
  Jambonz: jambonz,
  "Asterisk's WebSocket": asteriskJson,
  "Asterisk's WebSocket in plain text": asteriskPlain,
  AudioSocket: audioSocket,
};

/** A stream of that vendor that has started, and the event that told it. */
export function startedStream(name: string): { wire: PhoneWire; event: StreamStarted } {
  const vendor = VENDORS[name];
  assert.ok(vendor, name);
  const wire = vendor.wire();
  const [event] = receive(wire, vendor.start);
  assert.ok(event?.type === "started", name);
  return { wire, event };
}
