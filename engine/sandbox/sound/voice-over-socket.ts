import { setTimeout as sleep } from "node:timers/promises";
import type { WebSocket } from "ws";
import { type SpeechFault, takeFault } from "../faults.js";
import { isGoodKey, refuseUpgrade, type SandboxContext, type Upgrade } from "../simulator.js";
import { chunksOf, firstByteDelayMs } from "./audio-stream.js";
import { SentPace } from "./sent-pace.js";
import {
  bytesPerSecondOf,
  corruptedAudio,
  isSpeakable,
  speak,
  type VoiceFormat,
} from "./simulated-voice.js";

export type SocketVoiceVendor = "cartesia" | "deepgramSpeech" | "elevenlabs";

/** The faults that refuse an upgrade or a request, with their statuses. */
const REFUSAL_STATUS: Partial<Record<SpeechFault, number>> = {
  unauthorized: 401,
  badRequest: 400,
  rateLimited: 429,
  quotaExceeded: 402,
  serverError: 500,
};
const UPGRADE_FAULTS: readonly SpeechFault[] = [
  "unauthorized",
  "badRequest",
  "rateLimited",
  "quotaExceeded",
  "serverError",
];
const SENTENCE_FAULTS: readonly SpeechFault[] = [
  "stallBeforeFirstByte",
  "stallMidStream",
  "disconnectBeforeFirstByte",
  "disconnectMidStream",
  "slow",
  "garbage",
  "emptyAudio",
  "silentAudio",
  "halfAudio",
  "neverDone",
  "doneEarly",
  "doneTwice",
];

/** Undefined for a fault that occurs later. */
export function statusOfSpeechFault(fault: SpeechFault | undefined): number | undefined {
  return fault === undefined ? undefined : REFUSAL_STATUS[fault];
}

/** Refuses an upgrade for a configured fault, or a wrong key. True if it did. */
export function isUpgradeRefused(
  context: SandboxContext,
  vendor: SocketVoiceVendor,
  upgrade: Upgrade,
  key: string | undefined,
  bodyOf: (status: number) => object,
): boolean {
  const fault = takeFault(context.faults, vendor, UPGRADE_FAULTS);
  const status = isGoodKey(context, key) ? statusOfSpeechFault(fault) : 401;
  if (status === undefined) return false;
  const headers = { "Content-Type": "application/json" };
  refuseUpgrade(upgrade, status, JSON.stringify(bodyOf(status)), headers);
  return true;
}

export interface SentenceWire {
  audio(chunk: Uint8Array, isFirst: boolean): void;
  done(): void;
  /** Reports the end of the sentence before it is there. */
  doneEarly(): void;
  readonly isCancelled: boolean;
}

/** Says one sentence over a socket, at the voice's rate and with the configured faults. */
export async function speakOverSocket(
  context: SandboxContext,
  vendor: SocketVoiceVendor,
  socket: WebSocket,
  text: string,
  format: VoiceFormat,
  wire: SentenceWire,
): Promise<void> {
  const { faults, journal } = context;
  const request = journal.nextRequest();
  journal.record(vendor, "request", request, text);
  const fault = takeFault(faults, vendor, SENTENCE_FAULTS);
  if (fault === "stallBeforeFirstByte") return;
  const spoken = isSpeakable(text) ? await speak(text, format) : new Uint8Array();
  await sleep(firstByteDelayMs(faults[vendor], fault), undefined, { ref: false });
  if (fault === "disconnectBeforeFirstByte") {
    socket.terminate();
    return;
  }
  const audio = await corruptedAudio(spoken, format, fault);
  const pace = new SentPace();
  const bytesPerSecond = bytesPerSecondOf(format);
  const voice = { bytesPerSecond, delays: () => faults[vendor], fault, pace };
  let isFirst = true;
  for await (const chunk of chunksOf(audio, voice)) {
    if (socket.readyState !== socket.OPEN || wire.isCancelled) {
      journal.record(vendor, "aborted", request);
      return;
    }
    if (isFirst) journal.record(vendor, "firstByte", request);
    wire.audio(chunk, isFirst);
    if (isFirst && fault === "doneEarly") wire.doneEarly();
    isFirst = false;
    if (fault === "stallMidStream") return;
    if (fault === "disconnectMidStream") {
      socket.terminate();
      return;
    }
  }
  if (fault === "neverDone") return;
  wire.done();
  if (fault === "doneTwice") wire.done();
  journal.record(vendor, "lastByte", request, pace.text);
}
