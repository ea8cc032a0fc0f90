import {
  type AudioFormat,
  bytesPerSample,
  durationMsOf,
  type InputFormat,
  isSameFormat,
  MP3,
  MULAW_8K,
  PCM_16K,
  PCM_24K,
  PHONE_RATE_HZ,
  type RawFormat,
} from "../audio/audio-format.js";
import type { ConversionQueue } from "../audio/conversion-queue.js";
import { mp3Stream } from "../audio/mp3-frames.js";
import { decodeSamples, encodeSamples } from "../audio/sample-coding.js";
import type { ConversionFormats } from "../audio/speech-conversion.js";
import { WholeSamples } from "../audio/whole-samples.js";
import type { SpeechFormat, TextToSpeech } from "../vendors/contracts.js";

/** The format that TTS is asked for, and the conversion of its audio to the caller's line. */
export interface SentenceFormat {
  /** Distinguishes results in the speech cache. */
  readonly name: string;
  readonly request: SpeechFormat;
  /** Pieces arrive while TTS still speaks; otherwise there is one, at the end. */
  readonly isStreamed: boolean;
  /** After the signal is aborted, results are discarded. */
  open(listener: PieceListener, signal: AbortSignal): SentenceConverter;
}

export interface PieceListener {
  /** The bytes are not changed afterwards. */
  readonly onPiece: (audio: Uint8Array, durationMs: number) => void;
  /** The audio cannot be converted; no piece follows. */
  readonly onBroken: (error: unknown) => void;
}

/** One sentence between the vendor's format and the caller's. */
export interface SentenceConverter {
  /** Sets the format of what is written next, before anything was written. False if it cannot be played. */
  takeAs(given: SpeechFormat): boolean;
  write(chunk: Uint8Array): void;
  /** TTS has finished. Resolves after the last piece, or when none follows. Never rejects. */
  end(): Promise<void>;
}

/** The audio formats of one kind of line, in both directions. */
export interface LegAudio {
  /** The format that STT receives. */
  readonly input: InputFormat;
  /** The format of the agent's speech on this line; MP3 as whole sentences. */
  readonly speech: AudioFormat;
  /** The server sends the audio in real time, so it can pause it, and the line reports what was played. */
  readonly isPaced: boolean;
  /** `as`: the format of the result, if it differs from the line's, because another voice stands in. */
  sentenceFormat(client: TextToSpeech, as?: SpeechFormat): SentenceFormat;
}

const MP3_SENTENCES: SentenceFormat = {
  name: "mp3",
  request: MP3,
  isStreamed: false,
  open: ({ onPiece }) =>
    wholeSentence((answer) => {
      const { audio, durationMs } = mp3Stream(answer);
      onPiece(audio, durationMs);
    }),
};

/** The audio pool, or only its queue. */
type Conversions = Pick<ConversionQueue, "open">;

/** A browser that receives whole sentences. */
export const WEB_AUDIO: LegAudio = {
  input: PCM_16K,
  speech: MP3,
  isPaced: false,
  sentenceFormat: () => MP3_SENTENCES,
};

/** A browser that receives audio as it is synthesized, in the format that it requests. */
export function webStreamAudio(speech: RawFormat, pool: () => Conversions): LegAudio {
  return {
    ...WEB_AUDIO,
    speech,
    sentenceFormat: (client, as) => streamedSentences(client, rawOf(as) ?? speech, pool),
  };
}

/** A telephone. STT gets µ-law unchanged; other encodings are converted to 16-bit samples, low byte first. */
export function phoneAudio(
  inbound: RawFormat,
  pool: () => Conversions,
  outbound: RawFormat = inbound,
): LegAudio {
  const { encoding, sampleRateHz } = inbound;
  return {
    input: { encoding: encoding === "mulaw" ? "mulaw" : "pcm16", sampleRateHz },
    speech: outbound,
    isPaced: true,
    sentenceFormat: (client, as) => streamedSentences(client, rawOf(as) ?? outbound, pool),
  };
}

/**
 * The TTS format if the line accepts it; otherwise converted from the best format that TTS offers. The 16-bit samples of a telephone
 * at 8 kHz become G.711 on their way, and decoding µ-law costs less than the way to the pool.
 */
function streamedSentences(
  client: TextToSpeech,
  line: RawFormat,
  pool: () => Conversions,
): SentenceFormat {
  const given = client.formats.find((format) => isSameFormat(format, line));
  if (given !== undefined && given.encoding !== "mp3") {
    return passedThroughSentences(given, line, pool);
  }
  const givesMulaw = client.formats.some((format) => isSameFormat(format, MULAW_8K));
  if (givesMulaw && line.sampleRateHz === PHONE_RATE_HZ && bytesPerSample(line.encoding) === 2) {
    return passedThroughSentences(MULAW_8K, line, pool);
  }
  const givesPcm = client.formats.some((format) => isSameFormat(format, PCM_24K));
  return convertedSentences(givesPcm ? PCM_24K : MP3, line, pool);
}

/** Every TTS offers MP3; the server never encodes it. */
function rawOf(format: SpeechFormat | undefined): RawFormat | undefined {
  return format === undefined || format.encoding === "mp3" ? undefined : format;
}

/** A name that distinguishes the formats of a line. */
function nameOf({ encoding, sampleRateHz }: RawFormat): string {
  return `${encoding}/${sampleRateHz}`;
}

/** `format` is the line's, or one whose samples are those of the line in another encoding. */
function passedThroughSentences(
  format: RawFormat<"mulaw" | "pcm16">,
  line: RawFormat,
  pool: () => Conversions,
): SentenceFormat {
  const isOfLine = isSameFormat(format, line);
  return {
    name: nameOf(line),
    request: format,
    isStreamed: true,
    open: (listener, signal) => {
      const { onPiece } = listener;
      const wholeSamples = bytesPerSample(format.encoding) === 1 ? undefined : new WholeSamples();
      const asGiven: Pick<SentenceConverter, "write" | "end"> = {
        write: (chunk) => {
          const audio = wholeSamples?.take(chunk) ?? chunk;
          const sent = isOfLine
            ? audio
            : encodeSamples(decodeSamples(audio, format.encoding), line.encoding);
          onPiece(sent, durationMsOf(audio, format));
        },
        end: () => Promise.resolve(),
      };
      let converter = asGiven;
      return {
        takeAs: (given) => {
          if (isSameFormat(given, format)) converter = asGiven;
          else if (isConvertible(given)) {
            converter = openConversion(given, line, pool(), listener, signal);
          } else return false;
          return true;
        },
        write: (chunk) => converter.write(chunk),
        end: () => converter.end(),
      };
    },
  };
}

/** Converts audio that the line does not accept in the audio pool, piece by piece. */
function convertedSentences(
  source: typeof MP3 | typeof PCM_24K,
  line: RawFormat,
  pool: () => Conversions,
): SentenceFormat {
  return {
    name: nameOf(line),
    request: source,
    isStreamed: true,
    open: (listener, signal) => {
      let conversion = openConversion(source, line, pool(), listener, signal);
      return {
        takeAs: (given) => {
          if (!isConvertible(given)) return false;
          conversion.drop();
          conversion = openConversion(given, line, pool(), listener, signal);
          return true;
        },
        write: (chunk) => conversion.write(chunk),
        end: () => conversion.end(),
      };
    },
  };
}

function isConvertible(format: SpeechFormat): format is ConversionFormats["from"] {
  return format.encoding !== "mulaw";
}

/** One sentence in the audio pool. */
function openConversion(
  from: ConversionFormats["from"],
  line: RawFormat,
  pool: Conversions,
  { onPiece, onBroken }: PieceListener,
  signal: AbortSignal,
): Pick<SentenceConverter, "write" | "end"> & { drop(): void } {
  let resolveDone = () => {};
  const done = new Promise<void>((resolve) => {
    resolveDone = resolve;
  });
  // Node keeps a composed signal, with everything its listeners reference, until they are removed.
  const settle = () => {
    signal.removeEventListener("abort", onAbort);
    resolveDone();
  };
  const conversion = pool.open({ from, to: line }, "speech", {
    onAudio: (audio) => onPiece(audio, durationMsOf(audio, line)),
    onEnd: () => settle(),
    onFailed: (error) => {
      onBroken(error);
      settle();
    },
  });
  function onAbort() {
    conversion.drop();
    settle();
  }
  signal.addEventListener("abort", onAbort);
  return {
    write: (chunk) => conversion.write(chunk),
    end: () => {
      conversion.end();
      return done;
    },
    drop: onAbort,
  };
}

/** For audio that can only be converted as a whole. */
function wholeSentence(convert: (answer: Uint8Array) => void): SentenceConverter {
  const chunks: Uint8Array[] = [];
  return {
    // Only MP3 is sent unchanged, and nothing is converted to it.
    takeAs: () => false,
    write: (chunk) => void chunks.push(chunk),
    end: () => {
      convert(Buffer.concat(chunks));
      return Promise.resolve();
    },
  };
}
