import type { AudioPool } from "../audio/audio-pool.js";
import { mp3Stream } from "../audio/mp3-frames.js";
import { bytesPerSample, PHONE_RATE_HZ, type PhoneEncoding } from "../audio/phone-encoding.js";
import type { ListenOptions, SpeechFormat, TextToSpeech } from "../vendors/contracts.js";

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
  write(chunk: Uint8Array): void;
  /** The vendor has said all: resolves after the last piece, or when none follows. Never rejects. */
  end(): Promise<void>;
}

/** The audio of one kind of line, both ways. */
export interface LegAudio {
  readonly encoding: ListenOptions["encoding"];
  readonly sampleRateHz: number;
  /** How the line takes the agent's speech; MP3 as whole sentences. */
  readonly speech: PhoneEncoding | "mp3";
  /** The bytes of a millisecond of what the recognizer is given. */
  readonly bytesPerMs: number;
  /** The server sends the audio in real time, so it can be held, and the line tells what was played. */
  readonly isPaced: boolean;
  sentenceFormat(client: TextToSpeech): SentenceFormat;
}

const MP3_SENTENCES: SentenceFormat = {
  name: "mp3",
  request: "mp3",
  isStreamed: false,
  open: ({ onPiece }) =>
    wholeSentence((answer) => {
      const { audio, durationMs } = mp3Stream(answer);
      onPiece(audio, durationMs);
    }),
};

/** A browser: PCM of 16 bits at 16 kHz in, MP3 at 24 kHz out. */
export const WEB_AUDIO: LegAudio = {
  encoding: "linear16",
  sampleRateHz: 16_000,
  speech: "mp3",
  bytesPerMs: 32,
  isPaced: false,
  sentenceFormat: () => MP3_SENTENCES,
};

/** A telephone at 8 kHz. The recognizer is given µ-law as it comes; other encodings reach it as 16-bit samples. */
export function phoneAudio(encoding: PhoneEncoding, pool: () => AudioPool): LegAudio {
  const isMulaw = encoding === "mulaw";
  return {
    encoding: isMulaw ? "mulaw" : "linear16",
    sampleRateHz: PHONE_RATE_HZ,
    speech: encoding,
    bytesPerMs: isMulaw ? 8 : 16,
    isPaced: true,
    sentenceFormat: (client) =>
      isMulaw && client.formats.includes("mulaw")
        ? MULAW_SENTENCES
        : convertedSentences(client.formats.includes("pcm24k") ? "pcm24k" : "mp3", encoding, pool),
  };
}

const MULAW_SENTENCES: SentenceFormat = {
  name: "mulaw",
  request: "mulaw",
  isStreamed: true,
  open: ({ onPiece }) => ({
    write: (chunk) => onPiece(chunk, durationOf(chunk, "mulaw")),
    end: () => Promise.resolve(),
  }),
};

/** What no telephone takes as it comes passes the audio pool, piece by piece. */
function convertedSentences(
  source: "mp3" | "pcm24k",
  encoding: PhoneEncoding,
  pool: () => AudioPool,
): SentenceFormat {
  return {
    name: encoding,
    request: source,
    isStreamed: true,
    open: ({ onPiece, onBroken }, signal) => {
      let settle = () => {};
      const done = new Promise<void>((resolve) => {
        settle = resolve;
      });
      const conversion = pool().open({ from: source, to: encoding }, "speech", {
        onAudio: (audio) => onPiece(audio, durationOf(audio, encoding)),
        onEnd: () => settle(),
        onFailed: (error) => {
          onBroken(error);
          settle();
        },
      });
      const onAbort = () => {
        conversion.drop();
        settle();
      };
      signal.addEventListener("abort", onAbort, { once: true });
      return {
        write: (chunk) => conversion.write(chunk),
        end: () => {
          conversion.end();
          return done;
        },
      };
    },
  };
}

/** For what can only be converted as a whole. */
function wholeSentence(convert: (answer: Uint8Array) => void): SentenceConverter {
  const chunks: Uint8Array[] = [];
  return {
    write: (chunk) => void chunks.push(chunk),
    end: () => {
      convert(Buffer.concat(chunks));
      return Promise.resolve();
    },
  };
}

function durationOf(audio: Uint8Array, encoding: PhoneEncoding): number {
  return ((audio.byteLength / bytesPerSample(encoding)) * 1_000) / PHONE_RATE_HZ;
}
