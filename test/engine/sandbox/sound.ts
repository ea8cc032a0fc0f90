/** Audio as networks and rooms spoil it, for tests of what must survive that. */

export function amplify(pcm: Int16Array, decibels: number): Int16Array {
  return pcm.map((sample) => sample * 10 ** (decibels / 20));
}

/** White noise so far below the loudness of the signal. */
export function addNoise(pcm: Int16Array, signalToNoiseDb: number, seed: number): Int16Array {
  const power = pcm.reduce((sum, sample) => sum + sample * sample, 0) / pcm.length;
  const peak = Math.sqrt(3 * power) * 10 ** (-signalToNoiseDb / 20);
  const random = generator(seed);
  return pcm.map((sample) => clip(sample + (random() * 2 - 1) * peak));
}

export function silence(ms: number, sampleRateHz: number): Int16Array {
  return new Int16Array((sampleRateHz * ms) / 1000);
}

export function join(...parts: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** A voice of the throat kind: a gliding pitch with all its harmonics under moving formants, in syllables. */
export function humanVoice(ms: number, sampleRateHz: number): Int16Array {
  const random = generator(7);
  let phase = 0;
  return Int16Array.from({ length: (sampleRateHz * ms) / 1000 }, (_, n) => {
    const t = n / sampleRateHz;
    const pitchHz = 120 + 25 * Math.sin(2 * Math.PI * 0.7 * t);
    phase += (2 * Math.PI * pitchHz) / sampleRateHz;
    const formants = [600 + 250 * Math.sin(5 * t), 1500 + 500 * Math.sin(3 * t), 2500];
    let sum = 0;
    for (let harmonic = 1; harmonic * pitchHz < 3400; harmonic += 1) {
      const gain = formants.reduce(
        (most, hz) => Math.max(most, Math.exp(-(((harmonic * pitchHz - hz) / 150) ** 2))),
        0.05,
      );
      sum += gain * Math.sin(harmonic * phase);
    }
    const syllable = 0.55 + 0.45 * Math.sin(2 * Math.PI * 4 * t);
    return clip(2500 * syllable * (sum + (random() - 0.5) * 0.2));
  });
}

function clip(sample: number): number {
  return Math.max(-32_768, Math.min(32_767, sample));
}

/** Numbers from 0, below 1, the same for the same seed. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
