import * as v from "valibot";
import { PCM_8K, PHONE_RATE_HZ } from "../../audio/audio-format.js";
import { MediaStream, type StreamDialect, type StreamVoice } from "../media-stream.js";
import { offeredFormat } from "../phone-format.js";
import type { PhoneWire } from "../phone-wire.js";
import {
  parametersOf,
  parseJson,
  type StreamMessage,
  startMessage,
  WireNumber,
} from "../stream-message.js";

/** The first text frame has no type: it tells of the call, and what our document's `metadata` said. */
const Metadata = v.pipe(
  v.looseObject({ callSid: v.string(), sampleRate: v.optional(WireNumber, PHONE_RATE_HZ) }),
  v.check((message) => !("type" in message) && !("event" in message)),
  v.transform(({ callSid, sampleRate, ...others }): StreamMessage => {
    const offered = offeredFormat("l16", { sampleRateHz: sampleRate });
    const nested = v.safeParse(v.record(v.string(), v.unknown()), others["metadata"]);
    const parameters = parametersOf({ ...others, ...(nested.success ? nested.output : {}) });
    const ids = { streamId: callSid, callId: callSid, parameters };
    return startMessage(ids, offered);
  }),
);

const MarkMessage = v.pipe(
  v.object({
    type: v.literal("mark"),
    data: v.object({ name: v.string(), event: v.optional(v.string()) }),
  }),
  v.transform(({ data }): StreamMessage => {
    const told = data.event === undefined ? {} : { heard: data.event === "playout" };
    return { kind: "mark", name: data.name, ...told };
  }),
);

const DigitMessage = v.pipe(
  v.object({ event: v.literal("dtmf"), dtmf: v.union([v.string(), v.number()]) }),
  v.transform(({ dtmf }): StreamMessage => ({ kind: "digit", digit: String(dtmf) })),
);

const Message = v.union([MarkMessage, DigitMessage, Metadata]);

/** For `streaming: true`, which our document asks for: raw samples in binary frames. */
const VOICE: StreamVoice = {
  frameBytes: undefined,
  audio: (bytes) => [bytes],
  mark: (name) => `{"type":"mark","data":{"name":"${name}"}}`,
  clear: () => '{"type":"killAudio"}',
  hangUp: ['{"type":"disconnect"}'],
};

const JAMBONZ: StreamDialect = {
  traits: { needsPacing: false, reorders: false, clearDropsMarks: false, closingHangsUp: true },
  format: PCM_8K,
  audioIn: "binary",
  read: (text) => {
    const message = v.safeParse(Message, parseJson(text));
    return message.success ? message.output : undefined;
  },
  voice: () => VOICE,
};

/**
 * One call over the `listen` verb of Jambonz with bidirectional, streamed audio. Releases differ in the subprotocol that
 * they offer (`audio.jambonz.org`, `audio.drachtio.org`): answer with the one that was offered.
 */
export function jambonzWire(): PhoneWire {
  return new MediaStream(JAMBONZ);
}
