/** ITU-T Q.23: every key is one low tone and one high tone. */
const LOW_HZ = [697, 770, 852, 941] as const;
const HIGH_HZ = [1_209, 1_336, 1_477, 1_633] as const;
const KEYS = "123A456B789C*0#D";
const TONE_MS = 100;
const PAUSE_MS = 80;
/** The level of each tone, as a share of full scale: two together do not clip. */
const LEVEL = 0.35;

/** Samples of consecutive DTMF keys; other characters are ignored. */
export function dtmfTones(keys: string, rateHz: number): Int16Array {
  const known = Array.from(keys.toUpperCase()).filter((key) => KEYS.includes(key));
  const keySamples = ((TONE_MS + PAUSE_MS) * rateHz) / 1_000;
  const samples = new Int16Array(known.length * keySamples);
  for (const [index, key] of known.entries()) {
    writeTone(samples.subarray(index * keySamples), KEYS.indexOf(key), rateHz);
  }
  return samples;
}

function writeTone(samples: Int16Array, position: number, rateHz: number): void {
  const lowHz = LOW_HZ[Math.floor(position / HIGH_HZ.length)] ?? 0;
  const highHz = HIGH_HZ[position % HIGH_HZ.length] ?? 0;
  const toneSamples = (TONE_MS * rateHz) / 1_000;
  for (let at = 0; at < toneSamples; at += 1) {
    const radians = (2 * Math.PI * at) / rateHz;
    const sum = Math.sin(radians * lowHz) + Math.sin(radians * highHz);
    samples[at] = Math.round(sum * LEVEL * 0x7fff);
  }
}
