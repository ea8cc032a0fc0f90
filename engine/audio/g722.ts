// Own code, since no npm package decodes G.722, and Parley needs 200 lines of the standard.
/**
 * G.722 (ITU-T G.722, 2012) at 64 kbit/s, mode 1: wideband telephone audio, 16 kHz. A byte is two samples. A filter splits
 * the signal into two bands of 8 kHz each; the lower one is sent with six bits of the byte, the upper one with two, as the
 * difference to what both ends predict from the past. A decoder and an encoder therefore belong to one direction of one
 * call, and are given its audio in order. Names in comments are those of the Recommendation.
 */

/** Both kinds of quantizers are scaled by 2^-10 with the scale factors of this file. */
const QUANTIZER_SHIFT = 10;
/** QQ6, from the loudest step down: the lower band's six bits. */
const LOW_STEPS = [
  3101, 2738, 2376, 2088, 1873, 1689, 1535, 1399, 1279, 1170, 1072, 982, 899, 822, 750, 682, 618,
  558, 501, 447, 396, 347, 300, 254, 211, 170, 130, 91, 54, 17,
] as const;
/** QQ4, from the loudest step down: the four bits of them that both ends predict from. */
const LOW_PREDICTOR_STEPS = [2557, 1612, 1121, 786, 530, 323, 150] as const;
/** QQ2, with its signs: the upper band's two bits. */
const HIGH_VALUES = Int16Array.of(-926, -202, 926, 202);

/** Codes 0 to 3 are never sent; a broken line may make one of them, which then counts as the smallest step. */
const LOW_VALUES = new Int16Array(64).fill(-17);
/** Negative codes have room for 28 steps behind the four that are not used: the two smallest follow the positive ones. */
LOW_VALUES.set(
  LOW_STEPS.slice(0, 28).map((step) => -step),
  4,
);
LOW_VALUES.set([...LOW_STEPS, -54, -17], 32);
/** By the code of the magnitude that the encoder chose, 1 to 30, for both signs. */
const LOW_NEGATIVE_CODES = Uint8Array.from({ length: 31 }, (_, size) =>
  size <= 2 ? 64 - size : 34 - size,
);
const LOW_POSITIVE_CODES = Uint8Array.from({ length: 31 }, (_, size) => 62 - size);
const LOW_PREDICTOR_VALUES = Int16Array.of(
  0,
  ...LOW_PREDICTOR_STEPS.map((step) => -step),
  ...LOW_PREDICTOR_STEPS,
  0,
);

/** WL and WH: how a code of each band moves the logarithm of its scale factor. */
const LOW_SCALE_STEPS = [3042, 1198, 538, 334, 172, 58, -30] as const;
const LOW_SCALE_CHANGES = Int16Array.of(-60, ...LOW_SCALE_STEPS, ...LOW_SCALE_STEPS, -60);
const HIGH_SCALE_CHANGES = Int16Array.of(798, -214, 798, -214);
const LOW_LOG_SCALE_MAX = 18_432;
const HIGH_LOG_SCALE_MAX = 22_528;
/** What the loudest samples of the two bands differ by, in bits of the scale factor. */
const LOW_SCALE_SHIFT = 8;
const HIGH_SCALE_SHIFT = 10;
/** ILB: 32 steps of an octave. */
const OCTAVE = Int16Array.from({ length: 32 }, (_, step) => Math.round(2_048 * 2 ** (step / 32)));

/** Q6: from which difference on, in units of the scale factor, the encoder takes the next larger step. */
const LOW_DECISIONS = Int16Array.from([
  0, 35, 72, 110, 150, 190, 233, 276, 323, 370, 422, 473, 530, 587, 650, 714, 786, 858, 940, 1023,
  1121, 1219, 1339, 1458, 1612, 1765, 1980, 2195, 2557, 2919,
]);
const HIGH_DECISION = 564;

/** The filter that splits and joins the bands (H), every second coefficient: the others are these in reverse. */
const FILTER = [3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11] as const;
const TAPS = Int16Array.from(FILTER);
const REVERSED_TAPS = TAPS.toReversed();
const sums = new Int32Array(2);
const FILTER_PAST = 2 * TAPS.length - 2;

const SAMPLE_MAX = 32_767;
const SAMPLE_MIN = -32_768;
const BAND_MAX = 16_383;
const BAND_MIN = -16_384;

const ZEROS = 6;

function clamp(value: number, min: number, max: number): number {
  return value < min ? min : value > max ? max : value;
}

function toSample(value: number): number {
  return clamp(value, SAMPLE_MIN, SAMPLE_MAX);
}

/** One band's past and what it predicts: block 3 (scale) and block 4 (two poles, six zeros) of the Recommendation. */
class BandPredictor {
  readonly #scaleShift: number;
  readonly #logScaleMax: number;
  /** DET, without its two zero bits. */
  scale: number;
  /** S: what the next sample is expected to be. */
  prediction = 0;
  /** NB */
  #logScale = 0;
  /** DLT or DH, the newest first. */
  readonly #differences = new Int32Array(ZEROS);
  /** BL or BH. */
  readonly #zeros = new Int32Array(ZEROS);
  /** SZ */
  #zerosPart = 0;
  /** AL1, AL2: the poles. */
  #pole1 = 0;
  #pole2 = 0;
  /** RLT: the newest sample. */
  #sample = 0;
  /** The signs of PLT, of the last sample and of the one before. */
  #sign1 = 0;
  #sign2 = 0;

  constructor(scaleShift: number, logScaleMax: number) {
    this.#scaleShift = scaleShift;
    this.#logScaleMax = logScaleMax;
    this.scale = 2_048 >> scaleShift;
  }

  /** `difference` is what both ends know of the sample; `scaleChange` is its code's. */
  follow(difference: number, scaleChange: number): void {
    const sample = toSample(this.prediction + difference);
    this.#movePoles(toSample(this.#zerosPart + difference) >> 15);
    this.#moveZeros(difference);
    this.#predict(sample);
    this.#rescale(scaleChange);
  }

  /** UPPOL1 and UPPOL2. */
  #movePoles(sign: number): void {
    const isSameAs1 = sign === this.#sign1;
    const four = toSample(this.#pole1 << 2);
    const drift = isSameAs1 ? Math.min(-four, SAMPLE_MAX) : four;
    const push = sign === this.#sign2 ? 128 : -128;
    const pole2 = clamp((drift >> 7) + push + ((this.#pole2 * 32_512) >> 15), -12_288, 12_288);
    const pole1 = (isSameAs1 ? 192 : -192) + ((this.#pole1 * 32_640) >> 15);
    const limit = 15_360 - pole2;
    this.#pole2 = pole2;
    this.#pole1 = clamp(pole1, -limit, limit);
    this.#sign2 = this.#sign1;
    this.#sign1 = sign;
  }

  /** UPZERO and FILTEZ: each zero follows whether its difference had the sign of the newest one. */
  #moveZeros(difference: number): void {
    const differences = this.#differences;
    const zeros = this.#zeros;
    const push = difference === 0 ? 0 : 128;
    let part = 0;
    let next = difference;
    for (let index = 0; index < ZEROS; index += 1) {
      const past = differences[index] ?? 0;
      const isSameSign = (past ^ difference) >= 0;
      const zero = (isSameSign ? push : -push) + (((zeros[index] ?? 0) * 32_640) >> 15);
      zeros[index] = zero;
      differences[index] = next;
      part += (zero * toSample(next << 1)) >> 15;
      next = past;
    }
    this.#zerosPart = toSample(part);
  }

  /** FILTEP and PREDIC. */
  #predict(sample: number): void {
    const poles =
      ((this.#pole1 * toSample(sample << 1)) >> 15) +
      ((this.#pole2 * toSample(this.#sample << 1)) >> 15);
    this.#sample = sample;
    this.prediction = toSample(toSample(poles) + this.#zerosPart);
  }

  /** LOGSCL and SCALEL, LOGSCH and SCALEH. */
  #rescale(change: number): void {
    const logScale = clamp(((this.#logScale * 127) >> 7) + change, 0, this.#logScaleMax);
    this.#logScale = logScale;
    const octave = OCTAVE[(logScale >> 6) & 31] ?? 0;
    const shift = this.#scaleShift - (logScale >> 11);
    this.scale = shift < 0 ? octave << -shift : octave >> shift;
  }
}

/** The two bands of one direction, and the past samples of the filter between them and the signal. */
class Bands {
  readonly low = new BandPredictor(LOW_SCALE_SHIFT, LOW_LOG_SCALE_MAX);
  readonly high = new BandPredictor(HIGH_SCALE_SHIFT, HIGH_LOG_SCALE_MAX);
  #samples = new Int32Array(FILTER_PAST);

  /** Both ends follow what was sent, and not what the encoder has heard. */
  follow(lowCode: number, highCode: number): void {
    const { low, high } = this;
    const top = lowCode >> 2;
    const lowDifference = (low.scale * (LOW_PREDICTOR_VALUES[top] ?? 0)) >> QUANTIZER_SHIFT;
    low.follow(lowDifference, LOW_SCALE_CHANGES[top] ?? 0);
    const highDifference = (high.scale * (HIGH_VALUES[highCode] ?? 0)) >> QUANTIZER_SHIFT;
    high.follow(highDifference, HIGH_SCALE_CHANGES[highCode] ?? 0);
  }

  /** Memory for that many samples behind those of the past, which stand at its beginning. */
  window(sampleCount: number): Int32Array {
    if (this.#samples.length < FILTER_PAST + sampleCount) {
      const grown = new Int32Array(FILTER_PAST + sampleCount);
      grown.set(this.#samples.subarray(0, FILTER_PAST));
      this.#samples = grown;
    }
    return this.#samples;
  }

  /** The last samples of the window become the past of the next one. */
  keep(sampleCount: number): void {
    this.#samples.copyWithin(0, sampleCount, sampleCount + FILTER_PAST);
  }
}

/** Writes the filter's two sums of the 24 samples from `at` on: of every second one, and of those between. */
function sumTaps(samples: Int32Array, at: number): void {
  let even = 0;
  let odd = 0;
  let sample = at;
  for (let tap = 0; tap < TAPS.length; tap += 1) {
    even += (samples[sample] ?? 0) * (TAPS[tap] ?? 0);
    odd += (samples[sample + 1] ?? 0) * (REVERSED_TAPS[tap] ?? 0);
    sample += 2;
  }
  sums[0] = even;
  sums[1] = odd;
}

/** One direction of a call. After lost audio it is back in step with the encoder within some milliseconds. */
export class G722Decoder {
  readonly #bands = new Bands();

  /** Two samples of 16 bits at 16 kHz for each byte. */
  decode(codes: Uint8Array): Int16Array {
    const bands = this.#bands;
    const { low, high } = bands;
    const samples = bands.window(2 * codes.length);
    for (let index = 0; index < codes.length; index += 1) {
      const code = codes[index] ?? 0;
      const lowCode = code & 0x3f;
      const highCode = code >> 6;
      const lowDifference = (low.scale * (LOW_VALUES[lowCode] ?? 0)) >> QUANTIZER_SHIFT;
      const highDifference = (high.scale * (HIGH_VALUES[highCode] ?? 0)) >> QUANTIZER_SHIFT;
      const lowSample = clamp(low.prediction + lowDifference, BAND_MIN, BAND_MAX);
      const highSample = clamp(high.prediction + highDifference, BAND_MIN, BAND_MAX);
      bands.follow(lowCode, highCode);
      samples[FILTER_PAST + 2 * index] = lowSample + highSample;
      samples[FILTER_PAST + 2 * index + 1] = lowSample - highSample;
    }
    const pcm = new Int16Array(2 * codes.length);
    for (let at = 0; at < pcm.length; at += 2) {
      sumTaps(samples, at);
      pcm[at] = toSample((sums[1] ?? 0) >> 11);
      pcm[at + 1] = toSample((sums[0] ?? 0) >> 11);
    }
    bands.keep(pcm.length);
    return pcm;
  }
}

/** One direction of a call, at 16 kHz. */
export class G722Encoder {
  readonly #bands = new Bands();
  /** A sample whose second one begins the next piece. */
  #half: number | undefined;

  /** A byte for each two samples; one that is left over waits for the next piece. */
  encode(pcm: Int16Array): Uint8Array {
    const bands = this.#bands;
    const carried = this.#half === undefined ? 0 : 1;
    const count = (pcm.length + carried) & ~1;
    if (count === 0) {
      this.#half ??= pcm[0];
      return new Uint8Array();
    }
    const samples = bands.window(count);
    if (this.#half !== undefined) samples[FILTER_PAST] = this.#half;
    samples.set(pcm.subarray(0, count - carried), FILTER_PAST + carried);
    this.#half = pcm[count - carried];
    const codes = new Uint8Array(count >> 1);
    for (let index = 0; index < codes.length; index += 1) {
      sumTaps(samples, 2 * index);
      const even = sums[0] ?? 0;
      const odd = sums[1] ?? 0;
      const lowCode = lowCodeOf(toSample(((odd + even) >> 14) - bands.low.prediction), bands.low);
      const highSample = (odd - even) >> 14;
      const highCode = highCodeOf(toSample(highSample - bands.high.prediction), bands.high);
      bands.follow(lowCode, highCode);
      codes[index] = (highCode << 6) | lowCode;
    }
    bands.keep(count);
    return codes;
  }
}

/** A negative difference is complemented, as the Recommendation does: -1 has the size 0. */
function sizeOf(difference: number): number {
  return difference < 0 ? -difference - 1 : difference;
}

/** QUANTL */
function lowCodeOf(difference: number, { scale }: BandPredictor): number {
  const size = sizeOf(difference);
  let step = 1;
  while (step < LOW_DECISIONS.length && size >= ((LOW_DECISIONS[step] ?? 0) * scale) >> 10) {
    step += 1;
  }
  return (difference < 0 ? LOW_NEGATIVE_CODES[step] : LOW_POSITIVE_CODES[step]) ?? 0;
}

/** QUANTH */
function highCodeOf(difference: number, { scale }: BandPredictor): number {
  const isLarge = sizeOf(difference) >= (HIGH_DECISION * scale) >> 10;
  if (difference < 0) return isLarge ? 0 : 1;
  return isLarge ? 2 : 3;
}
