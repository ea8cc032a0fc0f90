import { PCM_16K } from "../../../../engine/audio/audio-format.js";
import { Recognizer } from "../../../../engine/sandbox/deepgram/recognizer.js";
import { type DecodedWord, encodeSpeech } from "../../../../engine/sandbox/telephone/tone-code.js";
import { TurnModel } from "../../../../engine/sandbox/turn-model.js";
import { assemblyAiDialect } from "../../../../engine/vendors/assemblyai/assemblyai.js";
import type {
  ListenOptions,
  SpeechListener,
  SpeechStream,
  SpeechToText,
} from "../../../../engine/vendors/contracts.js";
import { fluxDialect } from "../../../../engine/vendors/deepgram/deepgram-flux.js";
import { novaDialect } from "../../../../engine/vendors/deepgram/deepgram-nova.js";
import type { RecognizerDialect } from "../../../../engine/vendors/stt-stream/stt-dialect.js";
import {
  type RecognizerSocket,
  RecognizerStream,
} from "../../../../engine/vendors/stt-stream/stt-stream.js";
import type { SocketListener } from "../../../../engine/vendors/transport/web-socket.js";
import type { VirtualClock } from "../../../doubles/virtual-clock.js";

export const RECOGNIZERS = ["nova", "novaWithoutInterims", "flux", "assemblyai"] as const;
export type RecognizerKind = (typeof RECOGNIZERS)[number];

const ENDPOINTING_MS = 200;
const BYTES_PER_MS = 32;
const FRAME_BYTES = 20 * BYTES_PER_MS;

type Hears = (pcm: Int16Array) => void;

const DIALECTS: Readonly<Record<RecognizerKind, () => RecognizerDialect>> = {
  nova: () => novaDialect(),
  novaWithoutInterims: () => novaDialect(),
  flux: () => fluxDialect({}),
  assemblyai: () => assemblyAiDialect({}),
};

/** Hears the words of the sandbox's tone code and tells them as the vendor does. */
function hearsAs(kind: RecognizerKind, tell: (message: object) => void): Hears {
  if (kind === "flux") return hearsAsFlux(tell);
  if (kind === "assemblyai") return hearsAsAssemblyAi(tell);
  const recognizer = new Recognizer(
    {
      sampleRateHz: 16_000,
      endpointingMs: ENDPOINTING_MS,
      utteranceEndMs: 1_500,
      hasInterimResults: kind === "nova",
      hasVoiceEvents: true,
      hasMarks: true,
      isMultilingual: false,
      keyterms: [],
    },
    {
      emit: tell,
      takeFault: () => undefined,
      interimIntervalMs: 1_000,
      segmentMs: 60_000,
    },
  );
  return (pcm) => recognizer.write(pcm);
}

function textOf(words: readonly DecodedWord[]): string {
  return words.map(({ text }) => text).join(" ");
}

function hearsAsFlux(tell: (message: object) => void): Hears {
  let startMs = 0;
  const info = (event: string) => {
    const { words, positionMs } = model;
    tell({
      type: "TurnInfo",
      event,
      audio_window_start: startMs / 1_000,
      audio_window_end: positionMs / 1_000,
      transcript: textOf(words),
      words: words.map((word) => ({
        word: word.text,
        start: word.startMs / 1_000,
        end: word.endMs / 1_000,
      })),
    });
  };
  const model: TurnModel = new TurnModel(16_000, {
    onStart: () => info("StartOfTurn"),
    onUpdate: () => info("Update"),
    onQuiet: (confidence) => {
      if (confidence < 0.7) return;
      info("EndOfTurn");
      model.close();
      startMs = model.positionMs;
    },
    onResumed: () => undefined,
  });
  return (pcm) => model.write(pcm);
}

function hearsAsAssemblyAi(tell: (message: object) => void): Hears {
  let order = 0;
  const turn = (isEnd: boolean) => {
    const { words } = model;
    tell({
      type: "Turn",
      turn_order: order,
      end_of_turn: isEnd,
      transcript: textOf(isEnd ? words : words.slice(0, -1)),
      words: words.map((word) => ({
        text: word.text,
        start: Math.round(word.startMs),
        end: Math.round(word.endMs),
      })),
    });
  };
  const model: TurnModel = new TurnModel(16_000, {
    onStart: () => turn(false),
    onUpdate: () => turn(false),
    onQuiet: (confidence) => {
      if (confidence < 0.5) return;
      turn(true);
      model.close();
      order += 1;
    },
    onResumed: () => undefined,
  });
  return (pcm) => model.write(pcm);
}

/** A connection to a recognizer under load: each result comes so long after the audio that decides it. */
class SlowSocket implements RecognizerSocket {
  readonly bufferedBytes = 0;
  isDestroyed = false;
  #listener: SocketListener | undefined;
  readonly #hears: Hears;

  constructor(kind: RecognizerKind, clock: VirtualClock, lateMs: () => number | undefined) {
    this.#hears = hearsAs(kind, (message) => {
      const delayMs = lateMs();
      const text = JSON.stringify(message);
      if (delayMs !== undefined) clock.after(delayMs, () => this.#listener?.onText(text));
    });
  }

  listen(listener: SocketListener): void {
    this.#listener = listener;
  }

  sendText(): void {}

  sendBinary(bytes: Uint8Array): void {
    const copy = bytes.slice();
    this.#hears(new Int16Array(copy.buffer, 0, copy.length / 2));
  }

  destroy(): void {
    this.isDestroyed = true;
    this.#listener = undefined;
  }
}

/** A vendor whose results are late, or never come while `lateMs` is undefined. */
export class SlowRecognizer implements SpeechToText {
  readonly sockets: SlowSocket[] = [];
  lateMs: number | undefined;
  readonly #kind: RecognizerKind;
  readonly #clock: VirtualClock;

  constructor(kind: RecognizerKind, clock: VirtualClock, lateMs: number | undefined) {
    this.#kind = kind;
    this.#clock = clock;
    this.lateMs = lateMs;
  }

  open(
    { format, endpointingMs }: ListenOptions,
    listener: SpeechListener,
    signal: AbortSignal,
  ): Promise<SpeechStream> {
    const parts = {
      dialect: DIALECTS[this.#kind](),
      clock: this.#clock,
      format,
      endpointingMs,
      listener,
      apiKey: "key",
      connect: () => Promise.resolve(this.#connect()),
    };
    return Promise.resolve(new RecognizerStream(parts, this.#connect(), signal));
  }

  #connect(): SlowSocket {
    const socket = new SlowSocket(this.#kind, this.#clock, () => this.lateMs);
    this.sockets.push(socket);
    return socket;
  }
}

export const LISTENING: ListenOptions = {
  language: "en-US",
  modelId: "any",
  format: PCM_16K,
  endpointingMs: ENDPOINTING_MS,
};

/** Texts are spoken, numbers are milliseconds of silence. In real time on the virtual clock. */
export async function speak(
  stream: SpeechStream,
  clock: VirtualClock,
  script: readonly (string | number)[],
): Promise<void> {
  for (const part of script) {
    const audio = typeof part === "string" ? spoken(part) : room(part);
    for (let at = 0; at < audio.length; at += FRAME_BYTES) {
      stream.write(audio.subarray(at, at + FRAME_BYTES));
      clock.advance(20);
      // A new connection is a promise.
      for (let turn = 0; turn < 4; turn += 1) await Promise.resolve();
    }
  }
}

function spoken(text: string): Uint8Array {
  const pcm = encodeSpeech(text, 16_000);
  return new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength);
}

/** The line is never quite silent. */
function room(durationMs: number): Uint8Array {
  return new Uint8Array(
    Int16Array.from({ length: durationMs * 16 }, (_, at) => (at % 7) - 3).buffer,
  );
}
