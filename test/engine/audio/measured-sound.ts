/** Measures conversions against sounds made and filtered in float64, which share nothing with the converters. */

export function sine(
  hz: number,
  rateHz: number,
  samples: number,
  amplitude = 12_000,
): Float64Array {
  return Float64Array.from(
    { length: samples },
    (_, at) => amplitude * Math.sin((2 * Math.PI * hz * at) / rateHz + 0.3),
  );
}

/** From `fromHz` at its beginning to `toHz` at its end. */
export function sweep(fromHz: number, toHz: number, rateHz: number, samples: number): Float64Array {
  return Float64Array.from({ length: samples }, (_, at) => {
    const seconds = at / rateHz;
    const rise = ((toHz - fromHz) * rateHz) / samples;
    const turns = fromHz * seconds + (rise * seconds * seconds) / 2;
    return 12_000 * Math.sin(2 * Math.PI * turns);
  });
}

export function rounded(sound: ArrayLike<number>): Int16Array {
  return Int16Array.from(sound, (sample) =>
    Math.max(-32_768, Math.min(32_767, Math.round(sample))),
  );
}

/** Zero crossings of the sinc to either side: long enough to stop by 70 dB within 100 Hz. */
const CROSSINGS = 200;

/** A band-limited resampling by a long sinc under a Blackman window; the start and end of the result are blurred. */
export function sincResampled(
  sound: ArrayLike<number>,
  fromHz: number,
  toHz: number,
): Float64Array {
  const cutoff = Math.min(1, toHz / fromHz);
  const reach = CROSSINGS / cutoff;
  const length = Math.ceil((sound.length * toHz) / fromHz);
  return Float64Array.from({ length }, (_, index) => {
    const position = (index * fromHz) / toHz;
    let sum = 0;
    const last = Math.min(sound.length - 1, Math.floor(position + reach));
    for (let at = Math.max(0, Math.ceil(position - reach)); at <= last; at += 1) {
      const distance = position - at;
      const angle = (Math.PI * distance) / reach;
      const window = 0.42 + 0.5 * Math.cos(angle) + 0.08 * Math.cos(2 * angle);
      const x = Math.PI * cutoff * distance;
      sum += (sound[at] ?? 0) * cutoff * window * (x === 0 ? 1 : Math.sin(x) / x);
    }
    return sum;
  });
}

/** In dB, over what lies `margin` samples inside of both. */
export function signalToNoise(
  signal: ArrayLike<number>,
  result: ArrayLike<number>,
  margin: number,
): number {
  let power = 0;
  let noise = 0;
  for (let at = margin; at < Math.min(signal.length, result.length) - margin; at += 1) {
    const wanted = signal[at] ?? 0;
    power += wanted ** 2;
    noise += (wanted - (result[at] ?? 0)) ** 2;
  }
  return 10 * Math.log10(power / noise);
}

/** How strong one frequency is, as the amplitude of its sine, looked at through a Blackman window. */
export function amplitudeAt(sound: ArrayLike<number>, hz: number, rateHz: number): number {
  let real = 0;
  let imaginary = 0;
  let weight = 0;
  for (let at = 0; at < sound.length; at += 1) {
    const turn = (2 * Math.PI * at) / sound.length;
    const window = 0.42 - 0.5 * Math.cos(turn) + 0.08 * Math.cos(2 * turn);
    const angle = (2 * Math.PI * hz * at) / rateHz;
    real += window * (sound[at] ?? 0) * Math.cos(angle);
    imaginary += window * (sound[at] ?? 0) * Math.sin(angle);
    weight += window;
  }
  return (2 * Math.hypot(real, imaginary)) / weight;
}

export function decibels(ratio: number): number {
  return 20 * Math.log10(ratio);
}
