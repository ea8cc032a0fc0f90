import * as v from "valibot";
import {
  frameBytesOf,
  MULAW_8K,
  PCM_8K,
  PCM_16K,
  PCM_24K,
  PHONE_RATE_HZ,
} from "../../audio/audio-format.js";
import { parseAnswer } from "../../vendors/vendor-json.js";
import type { VendorContext } from "../../vendors/vendor-settings.js";
import { addressField, idField, keyField } from "../account-form.js";
import type { CallControlApi, CallToPlace } from "../call-control.js";
import type { CallInstructions, Dial } from "../call-instructions.js";
import { MediaStream, type StreamDialect, type StreamVoice } from "../media-stream.js";
import { G722, offeredFormat, type StreamFormat, wholeFrames } from "../phone-format.js";
import type { PhoneVendor } from "../phone-vendor.js";
import type { PhoneWire, StreamStarted } from "../phone-wire.js";
import { placedReport } from "../placed-report.js";
import {
  Parameters,
  parseJson,
  type StreamMessage,
  startMessage,
  WireNumber,
} from "../stream-message.js";
import { basicAuthorization, telephonyRequest, unlessOver } from "../telephony-request.js";
import { type TransferReport, transferReport } from "../transfer-report.js";

/** Asterisk's own names of its codecs. */
const FORMATS: ReadonlyMap<string, StreamFormat> = new Map<string, StreamFormat>([
  ["ulaw", MULAW_8K],
  ["alaw", { encoding: "alaw", sampleRateHz: PHONE_RATE_HZ }],
  ["g722", G722],
  ["slin", PCM_8K],
  ["slin12", { encoding: "pcm16", sampleRateHz: 12_000 }],
  ["slin16", PCM_16K],
  ["slin24", PCM_24K],
  ["slin32", { encoding: "pcm16", sampleRateHz: 32_000 }],
  ["slin44", { encoding: "pcm16", sampleRateHz: 44_100 }],
  ["slin48", { encoding: "pcm16", sampleRateHz: 48_000 }],
]);
/** 20 ms: a piece of another size could not be filled up, since G.722 has no byte of silence. */
const G722_FRAME_BYTES = 160;
/** Asterisk hangs up on a larger message; nobody asks for such frames. */
const FRAME_BYTES_MAX = 65_500;
/** So many messages carry 20 ms at most: single bytes would make a call cost as much as a hundred. */
const PIECES_MAX = 4;

const StartMessage = v.object({
  event: v.literal("MEDIA_START"),
  connection_id: v.optional(v.string(), ""),
  channel_id: v.optional(v.string(), ""),
  channel: v.optional(v.string(), ""),
  format: v.optional(v.string(), "ulaw"),
  optimal_frame_size: v.fallback(v.optional(WireNumber), undefined),
  channel_variables: v.fallback(v.optional(Parameters), undefined),
});

/** Numbers and ids come as texts in the plain form. */
const Text = v.pipe(v.union([v.string(), v.number()]), v.transform(String));
const onEvent = <Event extends string>(event: Event, message: StreamMessage) =>
  v.pipe(
    v.object({ event: v.literal(event) }),
    v.transform(() => message),
  );

const Event = v.variant("event", [
  onEvent("MEDIA_XOFF", { kind: "flow", isOpen: false }),
  onEvent("MEDIA_XON", { kind: "flow", isOpen: true }),
  onEvent("MEDIA_BUFFERING_COMPLETED", { kind: "nothing" }),
  onEvent("QUEUE_DRAINED", { kind: "nothing" }),
  onEvent("STATUS", { kind: "nothing" }),
  onEvent("ERROR", { kind: "vendorError" }),
  v.pipe(
    v.object({ event: v.literal("DTMF_END"), digit: Text }),
    v.transform(({ digit }): StreamMessage => ({ kind: "digit", digit })),
  ),
  v.pipe(
    v.object({ event: v.literal("MEDIA_MARK_PROCESSED"), correlation_id: Text }),
    v.transform(({ correlation_id: name }): StreamMessage => ({ kind: "mark", name })),
  ),
]);

/** `NAME key:value key:value`, the form that Asterisk uses unless told otherwise; releases differ in whether an id has its key. */
function parsePlain(text: string): Readonly<Record<string, string>> {
  const [event = "", ...words] = text.trim().split(/\s+/);
  const entries = words.map((word) => {
    const at = word.indexOf(":");
    return at < 0 ? ["correlation_id", word] : [word.slice(0, at), word.slice(at + 1)];
  });
  return { ...Object.fromEntries(entries), event };
}

function startOf(start: v.InferOutput<typeof StartMessage>): StreamMessage {
  const format = FORMATS.get(start.format);
  const callId = start.channel_id === "" ? start.channel : start.channel_id;
  const ids = { streamId: start.connection_id, callId, parameters: start.channel_variables ?? {} };
  const { words } = offeredFormat(start.format, format ?? { sampleRateHz: Number.NaN });
  return startMessage(ids, { format, words });
}

/** Commands go out in the form in which the events come in; in the plain one an id stands alone. */
function asteriskVoice(
  { encoding }: StreamStarted,
  frameBytes: number,
  isJson: boolean,
): StreamVoice {
  const command = (name: string) => (isJson ? `{"command":"${name}"}` : name);
  const markOf = isJson
    ? (name: string) => `{"command":"MARK_MEDIA","correlation_id":"${name}"}`
    : (name: string) => `MARK_MEDIA ${name}`;
  return {
    frameBytes,
    audio: (bytes) => wholeFrames(bytes, frameBytes, encoding),
    mark: markOf,
    clear: () => command("FLUSH_MEDIA"),
    hangUp: [command("HANGUP")],
  };
}

/** One call over Asterisk's WebSocket channel driver (chan_websocket), in its plain or its JSON form. */
export function asteriskWire(): PhoneWire {
  let isJson = false;
  let optimalBytes: number | undefined;
  const dialect: StreamDialect = {
    traits: { needsPacing: false, reorders: false, clearDropsMarks: true, closingHangsUp: true },
    format: MULAW_8K,
    audioIn: "binary",
    read: (text) => {
      const isObject = text.startsWith("{");
      const raw = isObject ? parseJson(text) : parsePlain(text);
      const start = v.safeParse(StartMessage, raw);
      if (start.success) {
        isJson = isObject;
        optimalBytes = start.output.optimal_frame_size;
        return startOf(start.output);
      }
      const event = v.safeParse(Event, raw);
      return event.success ? event.output : undefined;
    },
    voice: (started) => {
      if (started.codec === "g722") return asteriskVoice(started, G722_FRAME_BYTES, isJson);
      const usualBytes = frameBytesOf(started);
      const isUsable =
        optimalBytes !== undefined &&
        optimalBytes * PIECES_MAX >= usualBytes &&
        optimalBytes < FRAME_BYTES_MAX;
      const frameBytes = isUsable ? (optimalBytes ?? 0) : usualBytes;
      return asteriskVoice(started, frameBytes, isJson);
    },
  };
  return new MediaStream(dialect);
}

/** A dialplan adds them to its request: Asterisk itself sends nothing. */
const DIALPLAN_FIELDS = {
  from: "from",
  to: "to",
  callerName: "callerName",
  direction: "direction",
};

/** Asterisk puts a target into the arguments of its `Dial`, where other characters could begin another target or option. */
const DIALED_NUMBER = /^\+[1-9]\d{6,14}$/;

function asteriskDial({ to, ringSec, resultUrl }: Dial): string {
  return ["dial", to, ringSec, resultUrl].join("|");
}

/** What the dialplan posts when its `Dial` is over: DIALSTATUS, HANGUPCAUSE (Q.850) and ANSWEREDTIME. */
export function asteriskDialReport(body: string): TransferReport | undefined {
  return transferReport(body, {
    status: "dialStatus",
    reason: "hangupCause",
    duration: "duration",
  });
}

/** For a dialplan: what its stream is to begin with and where to ask behind it, or why there will be none in words. */
const DIALPLAN: CallInstructions = {
  contentType: "text/plain; charset=utf-8",
  connect: ({ parameters, continueUrl }) => {
    const token = parameters["token"] ?? "";
    return continueUrl === undefined ? token : `${token}|${continueUrl}`;
  },
  farewell: ({ text }) => text,
  hangUp: () => "over",
  dial: asteriskDial,
  mayDial: (to) => DIALED_NUMBER.test(to),
};

const VENDOR = "asterisk";
const Placed = v.object({ id: v.string() });
/**
 * How much longer Asterisk waits for the local channel than its dialplan dials: an end at the same moment would hang the dialplan up
 * before it can report that nobody answered.
 */
const REPORT_MAX_SEC = 10;
/** The contexts of docs/guides/telephony.md: one dials the person, the other has the person talk to the agent. */
const DIALING_CONTEXT = "parley-outbound";
const ANSWERED_CONTEXT = "parley-answered";

export interface AsteriskAccount {
  readonly user: string;
  readonly password: string;
  readonly baseUrl: string;
}

/** Asterisk's REST interface of channels (https://docs.asterisk.org/Latest_API/API_Documentation/Asterisk_REST_Interface/Channels_REST_API/). */
export class AsteriskCalls implements CallControlApi {
  readonly #account: AsteriskAccount;
  readonly #context: VendorContext;

  constructor(account: AsteriskAccount, context: VendorContext) {
    this.#account = account;
    this.#context = context;
  }

  /** A local channel, since Asterisk reports no outcome of a call: the dialplan that dials does. */
  async place(call: CallToPlace): Promise<string> {
    const order = {
      endpoint: `Local/${call.to}@${DIALING_CONTEXT}/n`,
      context: ANSWERED_CONTEXT,
      extension: "s",
      priority: 1,
      callerId: call.from,
      timeout: call.ringTimeoutSec + REPORT_MAX_SEC,
      // Left out, Asterisk takes the format with the highest rate, and converts between it and the telephone's.
      formats: "ulaw",
      variables: {
        PARLEY_ANSWER_URL: call.answerUrl,
        PARLEY_STATUS_URL: call.statusUrl,
        PARLEY_RING_SEC: String(call.ringTimeoutSec),
      },
    };
    const answer = await this.#request("POST", "/channels", JSON.stringify(order));
    return parseAnswer(VENDOR, Placed, answer).id;
  }

  async hangUp(channelId: string): Promise<void> {
    await unlessOver(this.#request("DELETE", `/channels/${encodeURIComponent(channelId)}`));
  }

  async verify(): Promise<void> {
    await this.#request("GET", "/asterisk/info?only=system");
  }

  #request(method: "GET" | "POST" | "DELETE", path: string, body?: string): Promise<string> {
    const { user, password, baseUrl } = this.#account;
    return telephonyRequest(this.#context, {
      vendor: VENDOR,
      baseUrl,
      method,
      path,
      headers: {
        accept: "application/json",
        authorization: basicAuthorization(user, password),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body }),
    });
  }
}

const STREAM_CAPABILITIES = {
  machineDetection: "none",
  transfer: "document",
  failedTransfer: "comesBack",
  warmTransfer: "none",
  sendDigits: "tones",
  receiveDigits: "messages",
  importNumbers: "none",
} as const;

/** Asterisk's WebSocket channel. */
export const ASTERISK: PhoneVendor = {
  newWire: asteriskWire,
  placedReport: (body) => placedReport(body, "dialStatus"),
  transferReport: asteriskDialReport,
  account: {
    fields: [
      addressField("baseUrl", "ARI address", {
        expected: "ARI's address, such as https://pbx.example.com/ari",
      }),
      idField("user", "ARI user"),
      keyField("password", "ARI password"),
    ],
    settings: ({ user, password, baseUrl }) => ({ asterisk: { user, password, baseUrl } }),
    namesAddress: true,
    provesNumbers: false,
  },
  accountVariables: ["ASTERISK_ARI_URL", "ASTERISK_ARI_USER", "ASTERISK_ARI_PASSWORD"],
  callControl: ({ asterisk: { user, password, baseUrl } }, context) => {
    if (user === undefined || password === undefined || baseUrl === undefined) return undefined;
    return new AsteriskCalls({ user, password, baseUrl }, context);
  },
  capabilities: { ...STREAM_CAPABILITIES, place: "rest", hangUp: "stream" },
  documents: DIALPLAN,
  callInfoFields: DIALPLAN_FIELDS,
  hasTokenInAddress: true,
  namesNextOnRequest: true,
};

/** Asterisk's AudioSocket, which comes over plain TCP. */
export const AUDIO_SOCKET: PhoneVendor = {
  capabilities: { ...STREAM_CAPABILITIES, place: "none", hangUp: "stream" },
  transferReport: asteriskDialReport,
  documents: DIALPLAN,
  callInfoFields: DIALPLAN_FIELDS,
  namesNextOnRequest: true,
};
