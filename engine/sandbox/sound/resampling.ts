/** One channel of 16-bit samples. */
export interface Sound {
  readonly pcm: Int16Array;
  readonly sampleRateHz: number;
}

/** The tone decoder takes multiples of this. */
const RATE_STEP_HZ = 8000;
/** So far above the tones that a straight line between two samples is near enough. */
const RESAMPLED_HZ = 48_000;

/** By straight lines between the samples: the crudest resampler that anybody would use. */
export function resample(pcm: Int16Array, fromHz: number, toHz: number): Int16Array {
  const length = Math.floor((pcm.length * toHz) / fromHz);
  return Int16Array.from({ length }, (_, n) => {
    const at = (n * fromHz) / toHz;
    const left = pcm[Math.floor(at)] ?? 0;
    const right = pcm[Math.ceil(at)] ?? left;
    return left + (right - left) * (at % 1);
  });
}

/** The sound at a rate that the tone decoder takes. */
export function atDecodableRate(sound: Sound): Sound {
  if (sound.sampleRateHz % RATE_STEP_HZ === 0) return sound;
  const pcm = resample(sound.pcm, sound.sampleRateHz, RESAMPLED_HZ);
  return { pcm, sampleRateHz: RESAMPLED_HZ };
}
