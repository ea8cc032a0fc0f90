import { PhoneCaller } from "../../engine/sandbox/telephone/phone-caller.js";
import type { LoadCallers } from "../load/call-load.js";
import type { Talker } from "../load/conversation.js";
import type { VoiceVendor } from "../load/turn-timing.js";
import type { PhoneJitter } from "./phone-jitter.js";

/** 20 ms of µ-law. */
const FRAME_BYTES = 160;

export interface PhoneAddress {
  /** Asked before each call. Without it the stream is opened at once, as with the relay. */
  readonly webhookUrl?: string;
  readonly streamUrl?: string;
  readonly authToken?: string;
  readonly voice: VoiceVendor;
}

/** People on the telephone, with a vendor in between that speaks Twilio's protocol. */
export function phoneCallers(
  { voice, ...address }: PhoneAddress,
  jitter: PhoneJitter,
): LoadCallers {
  return {
    signs: { voice, soundsFrom: "firstByte", stop: "clear" },
    measuring: (isOn) => {
      jitter.isMeasuring = isOn;
    },
    async connect(): Promise<Talker> {
      const onAudio = jitter.ofCall();
      const caller = await PhoneCaller.call({ ...address, keepsAudio: false, onAudio });
      return {
        get events() {
          return caller.events;
        },
        say: ({ text, audio }) => caller.play(text, framesOf(audio)),
        until: (predicate, timeoutMs) => caller.until(predicate, timeoutMs),
        hangUp: () => caller.hangUp(),
      };
    },
  };
}

export function framesOf(audio: Buffer): readonly string[] {
  return Array.from({ length: audio.length / FRAME_BYTES }, (_, n) =>
    audio.toString("base64", n * FRAME_BYTES, (n + 1) * FRAME_BYTES),
  );
}
