import { writeFile } from "node:fs/promises";
import { WAV_CHANNELS, wavHeader } from "../../engine/calls/wav-header.js";
import { encodeSpeech } from "../../engine/sandbox/tone-code.js";

/** Chromium's own rate. */
const RATE_HZ = 48_000;

export interface Words {
  readonly text: string;
  /** From the moment at which the page opens the microphone. */
  readonly atSec: number;
}

/** Writes a WAV in which the words are said at that time, in the sandbox's code of tones, with silence around. */
export async function writeMicrophoneFile(
  file: string,
  { text, atSec }: Words,
  lengthSec: number,
): Promise<void> {
  const samples = new Int16Array(lengthSec * RATE_HZ * WAV_CHANNELS);
  const voice = encodeSpeech(text, RATE_HZ);
  for (let n = 0; n < samples.length; n += 1) {
    samples[n] = voice[Math.floor(n / WAV_CHANNELS) - atSec * RATE_HZ] ?? 0;
  }
  const sound = Buffer.from(samples.buffer);
  await writeFile(file, Buffer.concat([wavHeader(RATE_HZ, sound.length), sound]));
}
