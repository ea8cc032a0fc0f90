import { MPEGDecoder } from "mpg123-decoder";
import { toSample } from "./fir-kernel.js";
import {
  decodePcm,
  encodePcm,
  encodePhoneAudio,
  PHONE_RATE_HZ,
  type PhoneEncoding,
} from "./phone-encoding.js";
import { newResampler, type Resampler } from "./resampler.js";

/** Speech of a vendor: MP3 of any rate, or PCM of 16 bits, low byte first. */
export type SpeechSource = "mp3" | "pcm8k" | "pcm16k" | "pcm24k";

export interface SpeechFormat {
  readonly from: SpeechSource;
  /** `pcm16k` is for recordings of calls that are not on the telephone. */
  readonly to: PhoneEncoding | "pcm16k";
}

const PCM_RATES_HZ = { pcm8k: 8_000, pcm16k: 16_000, pcm24k: 24_000 } as const;

/** One sentence on its way from a vendor's format to the caller's, piece by piece, with all that has to be remembered between. */
export class SpeechConversion {
  readonly #to: SpeechFormat["to"];
  readonly #source: Source;
  #resampler: Resampler | undefined;

  private constructor(to: SpeechFormat["to"], source: Source) {
    this.#to = to;
    this.#source = source;
  }

  /** A decoder of its own for each sentence, so that no sound of one call reaches another: 0.6 ms. */
  static async open({ from, to }: SpeechFormat): Promise<SpeechConversion> {
    if (from !== "mp3") return new SpeechConversion(to, new PcmSource(PCM_RATES_HZ[from]));
    const decoder = new MPEGDecoder({ enableGapless: false });
    await decoder.ready;
    return new SpeechConversion(to, new Mp3Source(decoder));
  }

  /** The audio that these bytes complete, in the caller's format; may be none. Throws a RangeError for a rate it cannot convert. */
  write(bytes: Uint8Array): Uint8Array {
    const pcm = this.#source.decode(bytes);
    return this.#encoded(pcm.length === 0 ? pcm : this.#resampled().push(pcm));
  }

  /** The rest; all together is exactly as long as what was given. */
  end(): Uint8Array {
    return this.#encoded(this.#resampler?.end() ?? new Int16Array(0));
  }

  close(): void {
    this.#source.close();
  }

  #resampled(): Resampler {
    const targetHz = this.#to === "pcm16k" ? PCM_RATES_HZ[this.#to] : PHONE_RATE_HZ;
    this.#resampler ??= newResampler(this.#source.rateHz, targetHz);
    return this.#resampler;
  }

  #encoded(pcm: Int16Array): Uint8Array {
    return this.#to === "pcm16k" ? encodePcm(pcm, true) : encodePhoneAudio(pcm, this.#to);
  }
}

interface Source {
  /** Known once something has been decoded. */
  readonly rateHz: number;
  decode(bytes: Uint8Array): Int16Array;
  close(): void;
}

class PcmSource implements Source {
  readonly rateHz: number;
  #odd = Buffer.alloc(0);

  constructor(rateHz: number) {
    this.rateHz = rateHz;
  }

  /** The first half of a sample waits for the second. */
  decode(bytes: Uint8Array): Int16Array {
    const all = this.#odd.length === 0 ? bytes : Buffer.concat([this.#odd, bytes]);
    const wholeBytes = all.length - (all.length % 2);
    this.#odd = Buffer.from(all.subarray(wholeBytes));
    return decodePcm(all.subarray(0, wholeBytes), true);
  }

  close(): void {}
}

class Mp3Source implements Source {
  rateHz = 0;
  readonly #decoder: MPEGDecoder;

  constructor(decoder: MPEGDecoder) {
    this.#decoder = decoder;
  }

  decode(bytes: Uint8Array): Int16Array {
    const { channelData, samplesDecoded, sampleRate } = this.#decoder.decode(bytes);
    const [left, right] = channelData;
    if (left === undefined || right === undefined || samplesDecoded === 0) return new Int16Array(0);
    this.rateHz = sampleRate;
    const pcm = new Int16Array(samplesDecoded);
    for (let index = 0; index < samplesDecoded; index += 1) {
      // Mono comes as two equal channels.
      pcm[index] = toSample(16_384 * ((left[index] ?? 0) + (right[index] ?? 0)));
    }
    return pcm;
  }

  close(): void {
    this.#decoder.free();
  }
}
