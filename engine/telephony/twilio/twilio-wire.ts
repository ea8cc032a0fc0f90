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
  parseJson,
  StopMessage,
  type StreamMessage,
  startMessage,
} from "../stream-message.js";

const StartMessage = v.object({
  event: v.literal("start"),
  streamSid: v.optional(v.string()),
  start: v.object({
    streamSid: v.optional(v.string()),
    callSid: v.optional(v.string(), ""),
    mediaFormat: v.optional(v.unknown()),
    customParameters: v.optional(v.nullable(Parameters)),
  }),
});

/** Twilio's messages, and those of vendors that send the same. */
export function twilioMessage(pcm: PcmEncoding = "pcm16") {
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
  ]);
}

function startOf(
  { streamSid, start }: v.InferOutput<typeof StartMessage>,
  pcm: PcmEncoding,
): StreamMessage {
  const streamId = start.streamSid ?? streamSid ?? "";
  const parameters = start.customParameters ?? {};
  const ids = { streamId, callId: start.callSid, parameters };
  return startMessage(ids, mediaFormat(start.mediaFormat, { pcm }));
}

/** Templates: no frame of audio is worth a JSON.stringify. */
export function twilioVoice(streamId: string): StreamVoice {
  const id = JSON.stringify(streamId);
  const audioHead = `{"event":"media","streamSid":${id},"media":{"payload":"`;
  const markHead = `{"event":"mark","streamSid":${id},"mark":{"name":"`;
  const clear = `{"event":"clear","streamSid":${id}}`;
  return {
    frameBytes: undefined,
    audio: (bytes) => [`${audioHead}${toBase64(bytes)}"}}`],
    mark: (name) => `${markHead}${name}"}}`,
    clear: () => clear,
    hangUp: [],
  };
}

const Message = twilioMessage();

const TWILIO: StreamDialect = {
  traits: { needsPacing: false, reorders: false, clearDropsMarks: false, closingHangsUp: true },
  format: MULAW_8K,
  audioIn: "json",
  read: (text) => {
    const message = v.safeParse(Message, parseJson(text));
    return message.success ? message.output : undefined;
  },
  voice: ({ streamId }) => twilioVoice(streamId),
};

/** One call over Twilio's bidirectional media streams (`<Connect><Stream>`). */
export function twilioWire(): PhoneWire {
  return new MediaStream(TWILIO);
}
