import * as v from "valibot";
import { frameBytesOf, PCM_16K, type RawFormat } from "../../audio/audio-format.js";
import { MediaStream, type StreamDialect, type StreamVoice } from "../media-stream.js";
import { offeredFormat, wholeFrames } from "../phone-format.js";
import type { PhoneWire } from "../phone-wire.js";
import { parametersOf, parseJson, type StreamMessage, startMessage } from "../stream-message.js";

const ConnectedMessage = v.pipe(
  v.looseObject({ event: v.literal("websocket:connected"), "content-type": v.string() }),
  v.transform((message): StreamMessage => startOf(message)),
);

const DigitText = v.pipe(v.union([v.string(), v.number()]), v.transform(String));

/** The digit stands at the top, or as older releases put it, one level deeper. */
const DigitMessage = v.pipe(
  v.object({
    event: v.literal("websocket:dtmf"),
    digit: v.optional(DigitText),
    dtmf: v.optional(v.object({ digit: DigitText })),
  }),
  v.transform(
    ({ digit, dtmf }): StreamMessage => ({ kind: "digit", digit: digit ?? dtmf?.digit ?? "" }),
  ),
);

const ClearedMessage = v.pipe(
  v.object({ event: v.literal("websocket:cleared") }),
  v.transform((): StreamMessage => ({ kind: "cleared" })),
);

const NotifyMessage = v.pipe(
  v.object({ event: v.literal("websocket:notify"), payload: v.object({ id: v.string() }) }),
  v.transform(({ payload }): StreamMessage => ({ kind: "mark", name: payload.id })),
);

const Message = v.variant("event", [ConnectedMessage, DigitMessage, ClearedMessage, NotifyMessage]);

/** The headers of our document come flattened into the message; the call's id is among them if we put it there. */
function startOf(message: Readonly<Record<string, unknown>>): StreamMessage {
  const { event: _, "content-type": contentType = "", ...parameters } = parametersOf(message);
  const rate = /;\s*rate=(\d{4,6})/i.exec(contentType)?.[1];
  const offered = offeredFormat(contentType, { sampleRateHz: Number(rate ?? "16000") });
  const ids = { streamId: "", callId: parameters["callId"] ?? "", parameters };
  return startMessage(ids, offered);
}

function vonageVoice(format: RawFormat): StreamVoice {
  const frameBytes = frameBytesOf(format);
  return {
    frameBytes,
    audio: (bytes) => wholeFrames(bytes, frameBytes, format.encoding),
    mark: (name) => `{"action":"notify","payload":{"id":"${name}"}}`,
    clear: () => '{"action":"clear"}',
    hangUp: [],
  };
}

const VONAGE: StreamDialect = {
  traits: { needsPacing: false, reorders: false, clearDropsMarks: true, closingHangsUp: true },
  format: PCM_16K,
  audioIn: "binary",
  read: (text) => {
    const message = v.safeParse(Message, parseJson(text));
    return message.success ? message.output : undefined;
  },
  voice: vonageVoice,
};

/** One call over Vonage's WebSocket endpoint. Whether a `clear` gives marks back is not documented: do not wait. */
export function vonageWire(): PhoneWire {
  return new MediaStream(VONAGE);
}
