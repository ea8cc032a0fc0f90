import { writeFile } from "node:fs/promises";
import { WAV_CHANNELS, wavHeader } from "../../engine/calls/recording/recording-file.js";
import { encodeSpeech } from "../../engine/sandbox/telephone/tone-code.js";

/** Chromium's own sample rate. */
const RATE_HZ = 48_000;

export interface Words {
  readonly text: string;
  /** When the words are said, from the moment at which the page opens the microphone. */
  readonly atSec: readonly number[];
}

/**
 * Writes a WAV file in which the words are said at those times, in the sandbox's tone code, with silence between them.
 */
export async function writeMicrophoneFile(
  file: string,
  { text, atSec }: Words,
  lengthSec: number,
): Promise<void> {
  const samples = new Int16Array(lengthSec * RATE_HZ * WAV_CHANNELS);
  const voice = encodeSpeech(text, RATE_HZ);
  const length = voice.length * WAV_CHANNELS;
  const said = Int16Array.from({ length }, (_, n) => voice[Math.floor(n / WAV_CHANNELS)] ?? 0);
  for (const sec of atSec) samples.set(said, sec * RATE_HZ * WAV_CHANNELS);
  const sound = Buffer.from(samples.buffer);
  await writeFile(file, Buffer.concat([wavHeader(RATE_HZ, sound.length), sound]));
}
