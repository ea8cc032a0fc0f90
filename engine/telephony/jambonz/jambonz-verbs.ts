import { PHONE_RATE_HZ } from "../../audio/audio-format.js";
import { type Farewell, plainAddress, type StreamTarget } from "../call-documents.js";

/** Raw samples both ways: without `streaming` Jambonz would want every reply as one message. */
export function jambonzConnect(
  target: StreamTarget,
  sampleRateHz: 8000 | 16_000 = PHONE_RATE_HZ,
): string {
  const listen = {
    verb: "listen",
    url: plainAddress(target.url),
    sampleRate: sampleRateHz,
    mixType: "mono",
    passDtmf: true,
    bidirectionalAudio: { enabled: true, streaming: true, sampleRate: sampleRateHz },
    metadata: target.parameters,
  };
  return JSON.stringify([listen, { verb: "hangup" }]);
}

export function jambonzSayAndHangUp({ text, language }: Farewell): string {
  const synthesizer = language === undefined ? {} : { synthesizer: { language } };
  return JSON.stringify([{ verb: "say", text, ...synthesizer }, { verb: "hangup" }]);
}
