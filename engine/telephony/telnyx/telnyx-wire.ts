import * as v from "valibot";
import { MULAW_8K, type PcmEncoding } from "../../audio/audio-format.js";
import { toBase64 } from "../base64-audio.js";
import { MediaStream, type StreamDialect, type StreamVoice } from "../media-stream.js";
import { mediaFormat } from "../phone-format.js";
import type { PhoneWire } from "../phone-wire.js";
import {
  ConnectedMessage,
  DigitMessage,
  MarkMessage,
  MediaMessage,
  Parameters,
  parametersOf,
  parseJson,
  StopMessage,
  type StreamMessage,
  startMessage,
} from "../stream-message.js";

export interface TelnyxOptions {
  /** The byte order of `L16` audio: big in RFC 2586, and not stated by Telnyx. */
  readonly pcm?: PcmEncoding;
}

/** As a list of names and values, or as an object; an array would pass for an object as well, so it comes first. */
const CustomParameters = v.union([
  v.pipe(
    v.array(v.object({ name: v.string(), value: v.unknown() })),
    v.transform((list) =>
      parametersOf(Object.fromEntries(list.map(({ name, value }) => [name, value]))),
    ),
  ),
  Parameters,
]);

const StartMessage = v.object({
  event: v.literal("start"),
  stream_id: v.optional(v.string(), ""),
  start: v.object({
    call_control_id: v.optional(v.string(), ""),
    client_state: v.optional(v.nullable(v.string())),
    custom_parameters: v.fallback(v.optional(v.nullable(CustomParameters)), undefined),
    media_format: v.optional(v.unknown()),
  }),
});

const ErrorMessage = v.pipe(
  v.object({ event: v.literal("error") }),
  v.transform((): StreamMessage => ({ kind: "vendorError" })),
);

function telnyxMessage(pcm: PcmEncoding) {
  return v.variant("event", [
    ConnectedMessage,
    v.pipe(
      StartMessage,
      v.transform((message) => startOf(message, pcm)),
    ),
    MediaMessage,
    DigitMessage,
    MarkMessage,
    StopMessage,
    ErrorMessage,
  ]);
}

function startOf(
  { stream_id: streamId, start }: v.InferOutput<typeof StartMessage>,
  pcm: PcmEncoding,
): StreamMessage {
  const parameters = { ...clientState(start.client_state), ...start.custom_parameters };
  const ids = { streamId, callId: start.call_control_id, parameters };
  return startMessage(ids, mediaFormat(start.media_format, pcm));
}

/** Base64, and inside of it a JSON object if it is one of ours. */
function clientState(base64: string | null | undefined): Readonly<Record<string, string>> {
  if (base64 === null || base64 === undefined) return {};
  const values = v.safeParse(Parameters, parseJson(Buffer.from(base64, "base64").toString("utf8")));
  return values.success ? values.output : {};
}

const AUDIO_HEAD = '{"event":"media","media":{"payload":"';
const CLEAR = '{"event":"clear"}';

/** Needs `bidirectionalMode="rtp"`: otherwise Telnyx takes the payload for MP3 and drops it. */
const VOICE: StreamVoice = {
  frameBytes: undefined,
  audio: (bytes) => [`${AUDIO_HEAD}${toBase64(bytes)}"}}`],
  mark: (name) => `{"event":"mark","mark":{"name":"${name}"}}`,
  clear: () => CLEAR,
  hangUp: [],
};

/** One call over Telnyx's media streaming. Whether a `clear` gives marks back is not documented: do not wait for them. */
export function telnyxWire({ pcm = "pcm16be" }: TelnyxOptions = {}): PhoneWire {
  const schema = telnyxMessage(pcm);
  const dialect: StreamDialect = {
    traits: { needsPacing: false, reorders: true, clearDropsMarks: true, closingHangsUp: false },
    format: MULAW_8K,
    // `bidirectionalCodec` of our document; `start` names the codec of the caller's audio alone.
    outbound: MULAW_8K,
    audioIn: "json",
    read: (text) => {
      const message = v.safeParse(schema, parseJson(text));
      return message.success ? message.output : undefined;
    },
    voice: () => VOICE,
  };
  return new MediaStream(dialect);
}
