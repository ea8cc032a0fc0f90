import * as v from "valibot";
import {
  bytesPerSample,
  MULAW_8K,
  type PcmEncoding,
  type RawFormat,
} from "../../audio/audio-format.js";
import { toBase64 } from "../base64-audio.js";
import { MediaStream, type StreamDialect, type StreamVoice } from "../media-stream.js";
import { mediaFormat } from "../phone-format.js";
import type { PhoneWire } from "../phone-wire.js";
import {
  ConnectedMessage,
  DigitMessage,
  MediaMessage,
  Parameters,
  parametersOf,
  parseJson,
  StopMessage,
  type StreamMessage,
  startMessage,
} from "../stream-message.js";

export interface PlivoOptions {
  /** The byte order of `audio/x-l16`, which Plivo does not state. */
  readonly pcm?: PcmEncoding;
}

const StartMessage = v.object({
  event: v.literal("start"),
  streamId: v.optional(v.string()),
  start: v.object({
    callId: v.optional(v.string(), ""),
    streamId: v.optional(v.string()),
    mediaFormat: v.optional(v.unknown()),
  }),
  extra_headers: v.optional(v.unknown()),
});

const PlayedMessage = v.pipe(
  v.object({ event: v.literal("playedStream"), name: v.string() }),
  v.transform(({ name }): StreamMessage => ({ kind: "mark", name })),
);

const ClearedMessage = v.pipe(
  v.object({ event: v.literal("clearedAudio") }),
  v.transform((): StreamMessage => ({ kind: "cleared" })),
);

function plivoMessage(pcm: PcmEncoding) {
  return v.variant("event", [
    ConnectedMessage,
    v.pipe(
      StartMessage,
      v.transform((message) => startOf(message, pcm)),
    ),
    MediaMessage,
    DigitMessage,
    PlayedMessage,
    ClearedMessage,
    StopMessage,
  ]);
}

function startOf(message: v.InferOutput<typeof StartMessage>, pcm: PcmEncoding): StreamMessage {
  const { start } = message;
  const streamId = start.streamId ?? message.streamId ?? "";
  const parameters = extraHeaders(message.extra_headers);
  const ids = { streamId, callId: start.callId, parameters };
  return startMessage(ids, mediaFormat(start.mediaFormat, pcm));
}

/** Seen as an object, as JSON in a text, and as `{X-PH-name: value, …}`; the prefix is Plivo's. */
function extraHeaders(value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== "string") {
    const values = v.safeParse(Parameters, value);
    return withoutPrefix(values.success ? values.output : {});
  }
  const json = v.safeParse(Parameters, parseJson(value));
  if (json.success) return withoutPrefix(json.output);
  const pairs = value.replace(/^\{|\}$/g, "").split(/[,;]/);
  return withoutPrefix(Object.fromEntries(pairs.flatMap(headerOf)));
}

/** Without an expression for the whole pair: one that also trims takes seconds for 64 KiB of spaces. */
function headerOf(pair: string): readonly (readonly [string, string])[] {
  const at = pair.search(/[:=]/);
  const name = pair.slice(0, Math.max(0, at)).trim();
  return name === "" || /\s/.test(name) ? [] : [[name, pair.slice(at + 1).trim()]];
}

function withoutPrefix(
  values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
  const entries = Object.entries(parametersOf(values));
  return Object.fromEntries(entries.map(([name, value]) => [name.replace(/^X-PH-/i, ""), value]));
}

function plivoVoice(streamId: string, { encoding, sampleRateHz }: RawFormat): StreamVoice {
  const id = JSON.stringify(streamId);
  const contentType = bytesPerSample(encoding) === 2 ? "audio/x-l16" : "audio/x-mulaw";
  const media = `"contentType":"${contentType}","sampleRate":${sampleRateHz}`;
  const audioHead = `{"event":"playAudio","media":{${media},"payload":"`;
  const markHead = `{"event":"checkpoint","streamId":${id},"name":"`;
  const clear = `{"event":"clearAudio","streamId":${id}}`;
  return {
    frameBytes: undefined,
    audio: (bytes) => [`${audioHead}${toBase64(bytes)}"}}`],
    mark: (name) => `${markHead}${name}"}`,
    clear: () => clear,
    hangUp: [],
  };
}

/** One call over Plivo's bidirectional `<Stream>`. It tells no reliable end: the socket's close is it. */
export function plivoWire({ pcm = "pcm16" }: PlivoOptions = {}): PhoneWire {
  const schema = plivoMessage(pcm);
  const dialect: StreamDialect = {
    traits: { needsPacing: false, reorders: false, clearDropsMarks: true, closingHangsUp: false },
    format: MULAW_8K,
    audioIn: "json",
    read: (text) => {
      const message = v.safeParse(schema, parseJson(text));
      return message.success ? message.output : undefined;
    },
    voice: (started) => plivoVoice(started.streamId, started),
  };
  return new MediaStream(dialect);
}
