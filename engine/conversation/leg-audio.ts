import {
  type AudioFormat,
  bytesPerSample,
  durationMsOf,
  type InputFormat,
  isSameFormat,
  MP3,
  PCM_16K,
  PCM_24K,
  type RawFormat,
} from "../audio/audio-format.js";
import type { ConversionQueue } from "../audio/conversion-queue.js";
import { mp3Stream } from "../audio/mp3-frames.js";
import type { ConversionFormats } from "../audio/speech-conversion.js";
import { WholeSamples } from "../audio/whole-samples.js";
import type { SpeechFormat, TextToSpeech } from "../vendors/contracts.js";

/** What a vendor is asked for, and how its answer becomes what the caller's line takes. */
export interface SentenceFormat {
  /** Tells one result from another in the speech cache. */
  readonly name: string;
  readonly request: SpeechFormat;
  /** Its pieces come while the vendor still speaks; otherwise there is one, at the end. */
  readonly isStreamed: boolean;
  /** When the signal is aborted nobody waits any more. */
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
  /** What is written from now on, before anything was, is in this format. False where that cannot be played. */
  takeAs(given: SpeechFormat): boolean;
  write(chunk: Uint8Array): void;
  /** The vendor has said all: resolves after the last piece, or when none follows. Never rejects. */
  end(): Promise<void>;
}

/** The audio of one kind of line, both ways. */
export interface LegAudio {
  /** What the recognizer is given. */
  readonly input: InputFormat;
  /** How the line takes the agent's speech; MP3 as whole sentences. */
  readonly speech: AudioFormat;
  /** The server sends the audio in real time, so it can pause it, and the line reports what was played. */
  readonly isPaced: boolean;
  /** `as` is what the result is to be, where that is not what the line takes: one voice stands in for another. */
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

/** The audio pool, or its queue alone. */
type Conversions = Pick<ConversionQueue, "open">;

/** A browser, which is given whole sentences. */
export const WEB_AUDIO: LegAudio = {
  input: PCM_16K,
  speech: MP3,
  isPaced: false,
  sentenceFormat: () => MP3_SENTENCES,
};

/** A browser that takes the voice as it comes, in the format that it asks for. */
export function webStreamAudio(speech: RawFormat, pool: () => Conversions): LegAudio {
  return {
    ...WEB_AUDIO,
    speech,
    sentenceFormat: (client, as) => streamedSentences(client, rawOf(as) ?? speech, pool),
  };
}

/** A telephone. The recognizer is given µ-law as it comes; other encodings reach it as 16-bit samples, low byte first. */
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

/** As the voice gives it, where that is what the line takes; else converted from the best that the voice gives. */
function streamedSentences(
  client: TextToSpeech,
  line: RawFormat,
  pool: () => Conversions,
): SentenceFormat {
  const given = client.formats.find((format) => isSameFormat(format, line));
  if (given !== undefined && given.encoding !== "mp3") return passedThroughSentences(given, pool);
  const givesPcm = client.formats.some((format) => isSameFormat(format, PCM_24K));
  return convertedSentences(givesPcm ? PCM_24K : MP3, line, pool);
}

/** MP3 is given by every voice, and never made. */
function rawOf(format: SpeechFormat | undefined): RawFormat | undefined {
  return format === undefined || format.encoding === "mp3" ? undefined : format;
}

/** Tells the formats of a line apart. */
function nameOf({ encoding, sampleRateHz }: RawFormat): string {
  return `${encoding}/${sampleRateHz}`;
}

function passedThroughSentences(
  format: RawFormat<"mulaw" | "pcm16">,
  pool: () => Conversions,
): SentenceFormat {
  return {
    name: nameOf(format),
    request: format,
    isStreamed: true,
    open: (listener, signal) => {
      const { onPiece } = listener;
      const wholeSamples = bytesPerSample(format.encoding) === 1 ? undefined : new WholeSamples();
      const asGiven: Pick<SentenceConverter, "write" | "end"> = {
        write: (chunk) => {
          const audio = wholeSamples?.take(chunk) ?? chunk;
          onPiece(audio, durationMsOf(audio, format));
        },
        end: () => Promise.resolve(),
      };
      let converter = asGiven;
      return {
        takeAs: (given) => {
          if (isSameFormat(given, format)) converter = asGiven;
          else if (isConvertible(given)) {
            converter = openConversion(given, format, pool(), listener, signal);
          } else return false;
          return true;
        },
        write: (chunk) => converter.write(chunk),
        end: () => converter.end(),
      };
    },
  };
}

/** What the line does not take as it comes passes the audio pool, piece by piece. */
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

/** One sentence on its way through the audio pool. */
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
  // Node keeps a signal made of others, with all that its listeners hold, until they are taken off it.
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

/** For what can only be converted as a whole. */
function wholeSentence(convert: (answer: Uint8Array) => void): SentenceConverter {
  const chunks: Uint8Array[] = [];
  return {
    // Only MP3 is sent as it is, and nothing is made into it.
    takeAs: () => false,
    write: (chunk) => void chunks.push(chunk),
    end: () => {
      convert(Buffer.concat(chunks));
      return Promise.resolve();
    },
  };
}
