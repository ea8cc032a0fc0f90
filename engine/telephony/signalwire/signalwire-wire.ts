import * as v from "valibot";
import { MediaStream, type StreamDialect } from "../media-stream.js";
import { MULAW_8K } from "../phone-format.js";
import type { PhoneWire } from "../phone-wire.js";
import { parseJson } from "../stream-message.js";
import { twilioMessage, twilioVoice } from "../twilio/twilio-wire.js";

export interface SignalwireOptions {
  /** The byte order of `L16` audio, which SignalWire does not state. */
  readonly endian?: "little" | "big";
}

/** One call over SignalWire's cXML streams: Twilio's messages, but for ids in fewer places and wider codecs. */
export function signalwireWire({ endian = "little" }: SignalwireOptions = {}): PhoneWire {
  const schema = twilioMessage(endian);
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
