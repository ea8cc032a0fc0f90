import assert from "node:assert/strict";
import { G722Decoder, G722Encoder } from "../../engine/audio/g722.js";
import { decodeMuLaw, encodeMuLaw } from "../../engine/sandbox/telephone/telephone-audio.js";

export type StreamCodec = "mulaw" | "alaw" | "l16" | "l16be" | "l16wide" | "g722";

export function rateHzOf(codec: StreamCodec): number {
  return codec === "g722" || codec === "l16wide" ? 16_000 : RATE_HZ;
}

/** One vendor's media stream according to its documentation, independent of the code under test. */
export interface VendorStream {
  readonly vendor: string;
  readonly codec: StreamCodec;
  /** The codec of the agent's audio, if it differs. */
  readonly agentCodec?: StreamCodec;
  readonly start: (token: string) => string;
  /** The token is in the address, not in the start. */
  readonly inAddress?: boolean;
  readonly media: (bytes: Buffer, chunk: number) => string | Buffer;
  /** The `audio` of an agent's frame, or its command. */
  readonly read: (frame: Buffer, isBinary: boolean) => AgentFrame;
  readonly played: (mark: string) => string;
  readonly stop: string | undefined;
}

export interface AgentFrame {
  readonly audio?: Buffer;
  readonly mark?: string;
  readonly isClear?: boolean;
}

const RATE_HZ = 8000;

const json = (value: unknown) => JSON.stringify(value);

/** Reads the messages of the three vendors that use Twilio's format. */
function readLikeTwilio(frame: Buffer): AgentFrame {
  const message = JSON.parse(frame.toString());
  if (message.event === "media") return { audio: Buffer.from(message.media.payload, "base64") };
  if (message.event === "mark") return { mark: message.mark.name };
  return { isClear: message.event === "clear" };
}

function mediaLikeTwilio(id: Readonly<Record<string, string>>) {
  return (bytes: Buffer, chunk: number) => {
    const place = { track: "inbound", chunk: String(chunk), timestamp: String(chunk * 20) };
    return json({ event: "media", ...id, media: { ...place, payload: bytes.toString("base64") } });
  };
}

function twilioLike(vendor: string, codec: StreamCodec, encoding: string): VendorStream {
  const id = { streamSid: "MZ1" };
  const mediaFormat = { encoding, sampleRate: RATE_HZ, channels: 1 };
  return {
    vendor,
    codec,
    start: (token) =>
      json({
        event: "start",
        sequenceNumber: "1",
        ...id,
        start: { ...id, callSid: "CA1", mediaFormat, customParameters: { token } },
      }),
    media: mediaLikeTwilio(id),
    read: readLikeTwilio,
    played: (name) => json({ event: "mark", ...id, mark: { name } }),
    stop: json({ event: "stop", ...id, stop: { callSid: "CA1" } }),
  };
}

function telnyx(codec: StreamCodec, encoding: string, channels: unknown = 1): VendorStream {
  const id = { stream_id: "32de0dea" };
  const media_format = { encoding, sample_rate: rateHzOf(codec), channels };
  return {
    vendor: "telnyx",
    codec,
    // The codec that the document requests, whatever the caller's codec is.
    agentCodec: "mulaw",
    start: (token) =>
      json({
        event: "start",
        sequence_number: "1",
        ...id,
        start: { call_control_id: "v3:ex", custom_parameters: { token }, media_format },
      }),
    media: mediaLikeTwilio(id),
    read: readLikeTwilio,
    played: (name) => json({ event: "mark", ...id, mark: { name } }),
    stop: json({ event: "stop", ...id, stop: {} }),
  };
}

const plivo: VendorStream = {
  vendor: "plivo",
  codec: "mulaw",
  start: (token) =>
    json({
      event: "start",
      start: {
        callId: "c1",
        streamId: "s1",
        mediaFormat: { encoding: "audio/x-mulaw", sampleRate: RATE_HZ },
      },
      extra_headers: `{X-PH-token: ${token}}`,
    }),
  media: (bytes, chunk) =>
    json({
      event: "media",
      streamId: "s1",
      media: { track: "inbound", chunk, payload: bytes.toString("base64") },
    }),
  read: (frame) => {
    const message = JSON.parse(frame.toString());
    if (message.event === "checkpoint") return { mark: message.name };
    if (message.event !== "playAudio") return { isClear: message.event === "clearAudio" };
    assert.equal(message.media.contentType, "audio/x-mulaw");
    assert.equal(message.media.sampleRate, RATE_HZ);
    return { audio: Buffer.from(message.media.payload, "base64") };
  },
  played: (name) => json({ event: "playedStream", name, streamId: "s1" }),
  stop: json({ event: "stop" }),
};

const vonage: VendorStream = {
  vendor: "vonage",
  codec: "l16",
  start: (token) =>
    json({
      event: "websocket:connected",
      "content-type": "audio/l16;rate=8000",
      token,
      callId: "u1",
    }),
  media: (bytes) => bytes,
  read: (frame, isBinary) => {
    if (isBinary) return { audio: frame };
    const { action, payload } = JSON.parse(frame.toString());
    return action === "notify" ? { mark: payload.id } : { isClear: action === "clear" };
  },
  played: (id) => json({ event: "websocket:notify", payload: { id } }),
  stop: undefined,
};

const vonageWide: VendorStream = {
  ...vonage,
  codec: "l16wide",
  start: (token) => vonage.start(token).replace("rate=8000", "rate=16000"),
};

const jambonz: VendorStream = {
  vendor: "jambonz",
  codec: "l16",
  start: (token) =>
    json({ callSid: "c1", from: "+1", to: "+2", sampleRate: RATE_HZ, mixType: "mono", token }),
  media: (bytes) => bytes,
  read: (frame, isBinary) => {
    if (isBinary) return { audio: frame };
    const { type, data } = JSON.parse(frame.toString());
    return type === "mark" ? { mark: data.name } : { isClear: type === "killAudio" };
  },
  played: (name) => json({ type: "mark", data: { name, event: "playout" } }),
  stop: undefined,
};

function asterisk(format: string, codec: StreamCodec, optimal: number): VendorStream {
  return {
    vendor: "asterisk",
    codec,
    start: (token) =>
      json({
        event: "MEDIA_START",
        connection_id: "c1",
        channel_id: "176.1",
        format,
        optimal_frame_size: optimal,
        channel_variables: { token },
      }),
    media: (bytes) => bytes,
    read: (frame, isBinary) => {
      if (isBinary) return { audio: frame };
      const { command, correlation_id } = JSON.parse(frame.toString());
      return command === "MARK_MEDIA"
        ? { mark: correlation_id }
        : { isClear: command === "FLUSH_MEDIA" };
    },
    played: (id) => json({ event: "MEDIA_MARK_PROCESSED", correlation_id: id }),
    stop: undefined,
  };
}

/** The form that Asterisk uses by default, in which only the address can contain a token. */
const asteriskPlain: VendorStream = {
  ...asterisk("ulaw", "mulaw", 160),
  inAddress: true,
  start: () =>
    "MEDIA_START connection_id:c1 channel:WebSocket/parley/0x1 channel_id:176.1 format:ulaw optimal_frame_size:160 ptime:20",
  read: (frame, isBinary) => {
    if (isBinary) return { audio: frame };
    const [command, mark] = frame.toString().split(" ");
    return command === "MARK_MEDIA" && mark !== undefined
      ? { mark }
      : { isClear: command === "FLUSH_MEDIA" };
  },
  played: (id) => `MEDIA_MARK_PROCESSED correlation_id:${id}`,
};

/** By the vendor and the audio format of its stream. */
export const VENDOR_STREAMS: Readonly<Record<string, VendorStream>> = {
  "Twilio in µ-law": twilioLike("twilio", "mulaw", "audio/x-mulaw"),
  "SignalWire in 16-bit samples": twilioLike("signalwire", "l16", "audio/x-l16"),
  "Telnyx in A-law": telnyx("alaw", "PCMA"),
  "Telnyx in 16-bit samples, high byte first": telnyx("l16be", "L16"),
  "Telnyx in G722": telnyx("g722", "G722"),
  "Plivo in µ-law": plivo,
  "Vonage in 16-bit samples": vonage,
  "Vonage in 16-bit samples at 16 kHz": vonageWide,
  "Jambonz in 16-bit samples": jambonz,
  "Asterisk in µ-law and plain text": asteriskPlain,
  "Asterisk in A-law": asterisk("alaw", "alaw", 160),
  "Asterisk in 16-bit samples": asterisk("slin", "l16", 320),
  "Asterisk in G722": asterisk("g722", "g722", 160),
};

/** Each vendor's stream in the format that the server's document orders, or that the vendor has by default. */
export const USUAL_STREAMS: Readonly<Record<string, VendorStream>> = {
  twilio: twilioLike("twilio", "mulaw", "audio/x-mulaw"),
  signalwire: twilioLike("signalwire", "mulaw", "audio/x-mulaw"),
  telnyx: telnyx("mulaw", "PCMU"),
  plivo,
  vonage,
  jambonz,
  asterisk: asterisk("ulaw", "mulaw", 160),
};

/** G.711 A-law, written independently: one sample for each code. */
const ALAW = Int16Array.from({ length: 256 }, (_, code) => {
  const bits = code ^ 0x55;
  const exponent = (bits >> 4) & 7;
  const base = ((bits & 15) << 4) + 8;
  const magnitude = exponent === 0 ? base : (base + 256) << (exponent - 1);
  return (bits & 0x80) === 0 ? -magnitude : magnitude;
});

function alawOf(sample: number): number {
  let best = 0;
  for (let code = 1; code < 256; code += 1) {
    const distance = Math.abs((ALAW[code] ?? 0) - sample);
    if (distance < Math.abs((ALAW[best] ?? 0) - sample)) best = code;
  }
  return best;
}

/** G.722 has a state, so each direction of a call has an encoder of its own. */
export function encoderOf(codec: StreamCodec): (pcm: Int16Array) => Buffer {
  if (codec !== "g722") return (pcm) => encoded(pcm, codec);
  // The code under test: test/livestream-system/g722.test.ts compares it with ffmpeg.
  const encoder = new G722Encoder();
  return (pcm) => Buffer.from(encoder.encode(pcm));
}

export function decoderOf(codec: StreamCodec): (bytes: Buffer) => Int16Array {
  if (codec !== "g722") return (bytes) => decoded(bytes, codec);
  const decoder = new G722Decoder();
  return (bytes) => decoder.decode(bytes);
}

export function encoded(pcm: Int16Array, codec: StreamCodec): Buffer {
  if (codec === "mulaw") return Buffer.from(encodeMuLaw(pcm));
  if (codec === "alaw") return Buffer.from(Uint8Array.from(pcm, alawOf));
  const bytes = Buffer.alloc(pcm.length * 2);
  for (const [n, sample] of pcm.entries()) {
    if (codec !== "l16be") bytes.writeInt16LE(sample, n * 2);
    else bytes.writeInt16BE(sample, n * 2);
  }
  return bytes;
}

export function decoded(bytes: Buffer, codec: StreamCodec): Int16Array {
  if (codec === "mulaw") return decodeMuLaw(bytes);
  if (codec === "alaw") return Int16Array.from(bytes, (code) => ALAW[code] ?? 0);
  return Int16Array.from({ length: bytes.length >> 1 }, (_, n) =>
    codec !== "l16be" ? bytes.readInt16LE(n * 2) : bytes.readInt16BE(n * 2),
  );
}

/** Starts in audio formats that the server cannot decode, as vendors may send them. */
export const UNSUPPORTED_STREAMS: Readonly<Record<string, VendorStream>> = {
  "Telnyx in OPUS": telnyx("mulaw", "OPUS"),
  "Telnyx in AMR-WB": telnyx("mulaw", "AMR-WB"),
  "Telnyx in two channels": telnyx("mulaw", "PCMU", 2),
  "Twilio in a format of the future": twilioLike("twilio", "mulaw", "audio/x-of-the-future"),
  "SignalWire in G722": twilioLike("signalwire", "mulaw", "audio/G722"),
};
