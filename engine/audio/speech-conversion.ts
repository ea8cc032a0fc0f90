import { type Mp3Stream, mp3Decoders } from "../mp3-decoder.js";
import type { Mp3Format, RawFormat } from "./audio-format.js";
import { toSample } from "./fir-filter.js";
import { newResampler, type Resampler } from "./resampler.js";
import { encodeSamples, viewPcm } from "./sample-coding.js";
import { WholeSamples } from "./whole-samples.js";

export interface ConversionFormats {
  /** A vendor's speech; MP3 of any rate. */
  readonly from: Mp3Format | RawFormat<"pcm16">;
  readonly to: RawFormat;
}

/** Converts one sentence from a vendor's format to the caller's, piece by piece, with the state between pieces. */
export class SpeechConversion {
  readonly #to: RawFormat;
  readonly #source: Source;
  #resampler: Resampler | undefined;

  private constructor(to: RawFormat, source: Source) {
    this.#to = to;
    this.#source = source;
  }

  /** Each sentence has its own stream, so that no sound of one call reaches another. */
  static async open({ from, to }: ConversionFormats): Promise<SpeechConversion> {
    if (from.encoding !== "mp3") return new SpeechConversion(to, new PcmSource(from.sampleRateHz));
    return new SpeechConversion(to, new Mp3Source(await mp3Decoders.open({ gapless: false })));
  }

  /**
   * The audio that these bytes complete, in the caller's format; may be empty. Throws a RangeError for a rate it
   * cannot convert.
   */
  write(bytes: Uint8Array): Uint8Array {
    const pcm = this.#source.decode(bytes);
    return this.#encoded(pcm.length === 0 ? pcm : this.#resampled().push(pcm));
  }

  /** The rest; all output together has exactly the length of the input. */
  end(): Uint8Array {
    return this.#encoded(this.#resampler?.end() ?? new Int16Array(0));
  }

  close(): void {
    this.#source.close();
  }

  #resampled(): Resampler {
    this.#resampler ??= newResampler(this.#source.rateHz, this.#to.sampleRateHz);
    return this.#resampler;
  }

  #encoded(pcm: Int16Array): Uint8Array {
    return encodeSamples(pcm, this.#to.encoding);
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
  readonly #wholeSamples = new WholeSamples();

  constructor(rateHz: number) {
    this.rateHz = rateHz;
  }

  decode(bytes: Uint8Array): Int16Array {
    return viewPcm(this.#wholeSamples.take(bytes));
  }

  close(): void {}
}

class Mp3Source implements Source {
  rateHz = 0;
  readonly #stream: Mp3Stream;

  constructor(stream: Mp3Stream) {
    this.#stream = stream;
  }

  decode(bytes: Uint8Array): Int16Array {
    const { channelData, samplesDecoded, sampleRate } = this.#stream.decode(bytes);
    const [left, right] = channelData;
    if (left === undefined || right === undefined || samplesDecoded === 0) return new Int16Array(0);
    this.rateHz = sampleRate;
    const pcm = new Int16Array(samplesDecoded);
    for (let index = 0; index < samplesDecoded; index += 1) {
      // Mono is decoded to two equal channels.
      pcm[index] = toSample(16_384 * ((left[index] ?? 0) + (right[index] ?? 0)));
    }
    return pcm;
  }

  close(): void {
    this.#stream.close();
  }
}
