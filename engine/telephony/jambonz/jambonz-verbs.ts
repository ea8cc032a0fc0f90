import { PHONE_RATE_HZ } from "../../audio/audio-format.js";
import {
  type Dial,
  type Farewell,
  isSipAddress,
  plainAddress,
  type StreamTarget,
  type Wait,
} from "../call-documents.js";
import { type TransferReport, transferReport } from "../transfer-report.js";

const HANG_UP = { verb: "hangup" };
/**
 * Jambonz asks up to six times within some 14 s, while a server is being started again or a proxy finds none; releases before
 * these settings leave them out (https://docs.jambonz.org/guides/features/webhook-and-web-socket-retries).
 */
const ASKS_AGAIN = "#rc=5&rp=ct,rt,5xx";

/** Raw samples both ways: without `streaming` Jambonz would want every reply as one message. */
export function jambonzConnect(
  target: StreamTarget,
  sampleRateHz: 8000 | 16_000 = PHONE_RATE_HZ,
): string {
  const { continueUrl } = target;
  const listen = {
    verb: "listen",
    url: plainAddress(target.url),
    sampleRate: sampleRateHz,
    mixType: "mono",
    passDtmf: true,
    bidirectionalAudio: { enabled: true, streaming: true, sampleRate: sampleRateHz },
    metadata: target.parameters,
    // Asked when the stream has ended, or could not be opened; its verbs are done in place of those behind it.
    ...(continueUrl !== undefined && { actionHook: `${continueUrl}${ASKS_AGAIN}` }),
  };
  return JSON.stringify([listen, HANG_UP]);
}

export function jambonzHangUp(): string {
  return JSON.stringify([HANG_UP]);
}

export function jambonzPauseAndAsk({ url, pauseSec }: Wait): string {
  const ask = { verb: "redirect", actionHook: `${url}${ASKS_AGAIN}` };
  return JSON.stringify([{ verb: "pause", length: pauseSec }, ask]);
}

export function jambonzSayAndHangUp({ text, language }: Farewell): string {
  const synthesizer = language === undefined ? {} : { synthesizer: { language } };
  return JSON.stringify([{ verb: "say", text, ...synthesizer }, HANG_UP]);
}

/** See https://docs.jambonz.org/verbs/verbs/dial; the hook is asked when the leg is over. */
export function jambonzDial({ to, ringSec, resultUrl, callerId }: Dial): string {
  const target = isSipAddress(to) ? { type: "sip", sipUri: to } : { type: "phone", number: to };
  const dial = {
    verb: "dial",
    target: [target],
    timeout: ringSec,
    actionHook: `${resultUrl}${ASKS_AGAIN}`,
    ...(callerId !== undefined && { callerId }),
  };
  return JSON.stringify([dial]);
}

export function jambonzDialReport(body: string): TransferReport | undefined {
  return transferReport(body, { status: "dial_call_status", reason: "dial_sip_status" });
}
