import type { WebSocket } from "ws";
import { DelayedEvents } from "../delayed-events.js";
import { type DeepgramFault, takeFault } from "../faults.js";
import type { SandboxContext } from "../simulator.js";
import { RawAudio } from "../sound/raw-audio.js";
import type { DeepgramStreamOptions } from "./deepgram-handshake.js";
import { Recognizer, type RecognizerMessage } from "./recognizer.js";

const IDLE_TIMEOUT_MS = 10_000;
const NO_AUDIO_TIMEOUT_MS = 30_000;
const INTERIM_INTERVAL_MS = 500;
const SEGMENT_MS = 4000;
const SLOW_MS = 3000;

/** One `/v1/listen` socket: takes audio and control messages, and returns transcripts after the configured latency. */
export class DeepgramStream {
  readonly #context: SandboxContext;
  readonly #socket: WebSocket;
  readonly #options: DeepgramStreamOptions;
  readonly #requestId: string;
  readonly #journalId: number;
  readonly #recognizer: Recognizer;
  readonly #audio: RawAudio;
  readonly #events: DelayedEvents;
  readonly #openedMs = performance.now();
  #lastMessageMs = performance.now();
  #hasAudio = false;
  #isEnding = false;
  #speechAtNs: bigint | undefined;
  #watchdog: NodeJS.Timeout | undefined;

  constructor(
    context: SandboxContext,
    socket: WebSocket,
    options: DeepgramStreamOptions,
    requestId: string,
  ) {
    this.#context = context;
    this.#socket = socket;
    this.#options = options;
    this.#requestId = requestId;
    this.#journalId = context.journal.nextRequest();
    this.#audio = new RawAudio(options.encoding);
    this.#events = new DelayedEvents(() => {
      const { latencyMs = 0, fault } = context.faults.deepgram;
      return latencyMs + (fault === "slow" ? SLOW_MS : 0);
    });
    this.#recognizer = new Recognizer(options, {
      emit: (message) => this.#emit(message),
      takeFault: (...among) => this.#takeFault(among),
      get interimIntervalMs() {
        return context.faults.deepgram.interimIntervalMs ?? INTERIM_INTERVAL_MS;
      },
      get segmentMs() {
        return context.faults.deepgram.segmentMs ?? SEGMENT_MS;
      },
      get rareWord() {
        return context.faults.deepgram.rareWord;
      },
      get misheardEvery() {
        return context.faults.deepgram.misheardEvery;
      },
    });
  }

  start(): void {
    const { journal } = this.#context;
    journal.record("deepgram", "opened", this.#journalId);
    this.#socket.on("message", (data: Buffer, isBinary) => this.#receive(data, isBinary));
    this.#socket.on("close", () => {
      clearTimeout(this.#watchdog);
      journal.record("deepgram", "closed", this.#journalId);
    });
    // A broken frame or a reset connection: `ws` closes the socket itself.
    this.#socket.on("error", () => undefined);
    this.#watch();
  }

  /** From now on all input is ignored. */
  #close(code: number, reason: string): void {
    this.#isEnding = true;
    this.#socket.close(code, reason);
  }

  #receive(data: Buffer, isBinary: boolean): void {
    this.#lastMessageMs = performance.now();
    if (this.#isEnding) return;
    if (!isBinary) this.#control(data.toString("utf8"));
    else if (data.length === 0) this.#finish();
    else this.#hear(data);
  }

  #hear(bytes: Buffer): void {
    this.#hasAudio = true;
    const fault = this.#takeFault(["dropMidCall", "closeMidCall", "refuseAudio"]);
    if (fault !== undefined) {
      if (fault === "dropMidCall") this.#socket.terminate();
      else if (fault === "closeMidCall") this.#close(1011, "NET-0001: told to fail");
      else this.#close(1008, "DATA-0000: cannot decode the audio");
      return;
    }
    const atNs = process.hrtime.bigint();
    if (this.#recognizer.write(this.#audio.samples(bytes))) this.#speechAtNs = atNs;
  }

  #control(text: string): void {
    const type = typeOf(text);
    if (type === undefined) {
      this.#close(1008, "DATA-0000: a text message that is not a control message");
    } else if (type === "CloseStream") {
      this.#finish();
    } else if (type === "Finalize" && this.#takeFault(["noAnswerToFinalize"]) === undefined) {
      this.#recognizer.finalize();
    }
  }

  #finish(): void {
    if (this.#takeFault(["noAnswerToClose"]) !== undefined) return;
    this.#isEnding = true;
    this.#recognizer.end();
    const metadata = {
      type: "Metadata",
      transaction_key: "deprecated",
      request_id: this.#requestId,
      sha256: "0".repeat(64),
      created: new Date().toISOString(),
      duration: this.#recognizer.positionMs / 1000,
      channels: 1,
    };
    this.#events.later(() => {
      this.#socket.send(JSON.stringify(metadata));
      this.#socket.close(1000);
    });
  }

  #takeFault(among: readonly DeepgramFault[]): DeepgramFault | undefined {
    return takeFault(this.#context.faults, "deepgram", among);
  }

  #emit(message: RecognizerMessage): void {
    const isLast =
      message.type === "Results" &&
      (message.speech_final === true || message.from_finalize === true);
    if (isLast || message.type === "UtteranceEnd") this.#noteSpeech();
    const fault = this.#takeFault(["silent", "garbageJson", "unknownMessages"]);
    if (fault === "silent") return;
    if (fault === "garbageJson")
      this.#events.later(() => this.#socket.send('{"type":"Results","chan'));
    if (fault === "unknownMessages") {
      this.#events.later(() => this.#socket.send('{"type":"Weather","sky":"blue"}'));
    }
    const text = JSON.stringify(message.type === "Results" ? this.#withMetadata(message) : message);
    this.#events.later(() => {
      this.#socket.send(text);
      this.#context.journal.record("deepgram", "event", this.#journalId, label(message));
    });
  }

  #noteSpeech(): void {
    if (this.#speechAtNs === undefined) return;
    const { journal } = this.#context;
    journal.record("deepgram", "lastSpeech", this.#journalId, undefined, this.#speechAtNs);
    this.#speechAtNs = undefined;
  }

  #withMetadata(message: RecognizerMessage): object {
    return {
      ...message,
      metadata: {
        request_id: this.#requestId,
        model_info: { name: this.#options.model, version: "sandbox", arch: this.#options.model },
        model_uuid: "00000000-0000-4000-8000-000000000000",
      },
    };
  }

  #watch(): void {
    const { idleTimeoutMs = IDLE_TIMEOUT_MS, noAudioTimeoutMs = NO_AUDIO_TIMEOUT_MS } =
      this.#context.faults.deepgram;
    const nowMs = performance.now();
    const idleInMs = this.#lastMessageMs + idleTimeoutMs - nowMs;
    const deafInMs = this.#hasAudio ? idleInMs : this.#openedMs + noAudioTimeoutMs - nowMs;
    if (idleInMs <= 0) {
      this.#close(1011, "NET-0001: no audio and no message in time");
    } else if (deafInMs <= 0) {
      this.#close(1011, "NET-0000: no audio in time");
    } else {
      this.#watchdog = setTimeout(() => this.#watch(), Math.ceil(Math.min(idleInMs, deafInMs)));
      this.#watchdog.unref();
    }
  }
}

function typeOf(text: string): string | undefined {
  try {
    const message: unknown = JSON.parse(text);
    if (typeof message !== "object" || message === null || !("type" in message)) return undefined;
    return typeof message.type === "string" ? message.type : undefined;
  } catch {
    return undefined;
  }
}

function label(message: RecognizerMessage): string {
  if (message.type !== "Results") return message.type;
  const kind = message.speech_final ? "speech_final" : message.is_final ? "final" : "interim";
  return `${kind}: ${message.channel.alternatives[0]?.transcript ?? ""}`;
}
