import { setTimeout as pause } from "node:timers/promises";
import { type PhoneCaller, SAMPLE_RATE_HZ } from "./phone-caller.js";
import { encodeMuLaw } from "./telephone-audio.js";

const VOICEMAIL_GREETING =
  "You have reached the mailbox of Ada Miller. I cannot take your call right now. Please leave a message after the tone.";
const BEEP_HZ = 1_000;
const BEEP_MS = 400;
/** The share of the loudest possible tone. */
const BEEP_LEVEL = 0.4;
const SCREENER_QUESTION =
  "Hi, if you record your name and reason for calling, I'll see if this person is available.";
const SCREENER_THANKS = "Thanks. Please stay on the line.";
const PERSON_HELLO = "Hello, this is Ada.";
/** How long the telephone of the person rings. */
const RING_MS = 1_000;
/** A server says the name within some seconds. */
const ANSWER_MAX_MS = 20_000;

/** Plays the greeting of an answering machine and its beep, and records then, which nobody hears. Rejects if the call ends. */
export async function playVoicemail(caller: PhoneCaller): Promise<void> {
  await caller.say(VOICEMAIL_GREETING);
  await caller.play("", toneFrames(BEEP_HZ, BEEP_MS));
}

/** Asks who calls and why. Rejects if the call ends. */
export async function askWhoCalls(caller: PhoneCaller): Promise<void> {
  const { endNs } = await caller.say(SCREENER_QUESTION);
  const isAnswered = ({ type, atNs }: { readonly type: string; readonly atNs: bigint }) =>
    type === "quiet" && atNs > endNs;
  await caller.until(isAnswered, ANSWER_MAX_MS);
}

/** The screened person takes the call. Rejects if the call ends. */
export async function putThrough(caller: PhoneCaller): Promise<void> {
  await caller.say(SCREENER_THANKS);
  await pause(RING_MS, undefined, { ref: false });
  await caller.say(PERSON_HELLO);
}

/** A tone as frames of 20 ms of µ-law in base64. */
export function toneFrames(hz: number, durationMs: number, level = BEEP_LEVEL): readonly string[] {
  const samples = Int16Array.from({ length: (SAMPLE_RATE_HZ * durationMs) / 1_000 }, (_, at) =>
    Math.round(level * 0x7fff * Math.sin((2 * Math.PI * hz * at) / SAMPLE_RATE_HZ)),
  );
  const sound = encodeMuLaw(samples);
  const frameBytes = SAMPLE_RATE_HZ / 50;
  return Array.from({ length: Math.ceil(sound.length / frameBytes) }, (_, at) => {
    const frame = Buffer.alloc(frameBytes, 0xff);
    frame.set(sound.subarray(at * frameBytes, (at + 1) * frameBytes));
    return frame.toString("base64");
  });
}
