import * as v from "valibot";
import { MULAW_8K, type PcmEncoding } from "../../audio/audio-format.js";
import { MediaStream, type StreamDialect } from "../media-stream.js";
import type { PhoneWire } from "../phone-wire.js";
import { parseJson } from "../stream-message.js";
import { twilioMessage, twilioVoice } from "../twilio/twilio-wire.js";

export interface SignalwireOptions {
  /** The byte order of `L16` audio, which SignalWire does not state. */
  readonly pcm?: PcmEncoding;
}

/** One call over SignalWire's cXML streams: Twilio's messages, but for ids in fewer places and wider codecs. */
export function signalwireWire({ pcm = "pcm16" }: SignalwireOptions = {}): PhoneWire {
  const schema = twilioMessage(pcm);
  const dialect: StreamDialect = {
    traits: { needsPacing: false, reorders: false, clearDropsMarks: false, closingHangsUp: true },
    format: MULAW_8K,
    audioIn: "json",
    read: (text) => {
      const message = v.safeParse(schema, parseJson(text));
      return message.success ? message.output : undefined;
    },
    voice: ({ streamId }) => twilioVoice(streamId),
  };
  return new MediaStream(dialect);
}
