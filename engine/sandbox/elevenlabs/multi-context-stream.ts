import * as v from "valibot";
import type { WebSocket } from "ws";
import type { SandboxContext } from "../simulator.js";
import { bytesPerSecondOf, type VoiceFormat } from "../sound/simulated-voice.js";
import { speakOverSocket } from "../sound/voice-over-socket.js";
import { timedCharacters } from "../spoken-words.js";
import { VOICE_NOT_FOUND } from "./elevenlabs-refusal.js";

const CONTEXTS_MAX = 5;
/** Without `auto_mode` or `flush` text waits until there is this much of it. */
const BUFFERED_CHARACTERS_MIN = 120;
const POLICY_VIOLATION = 1008;

const Message = v.object({
  context_id: v.optional(v.string(), "default"),
  text: v.optional(v.string()),
  voice_settings: v.optional(
    v.looseObject({
      speed: v.optional(v.pipe(v.number(), v.minValue(0.7), v.maxValue(1.2)), 1),
      stability: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
    }),
  ),
  flush: v.optional(v.boolean(), false),
  close_context: v.optional(v.boolean(), false),
  close_socket: v.optional(v.boolean(), false),
});
type Message = v.InferOutput<typeof Message>;

interface SpeechContext {
  readonly id: string;
  readonly speed: number;
  buffered: string;
  /** Flushed pieces that are not spoken yet. */
  underWay: number;
  spoken: Promise<void>;
  isClosing: boolean;
}

export interface StreamOptions {
  readonly format: VoiceFormat;
  readonly isAutomatic: boolean;
  readonly isAligned: boolean;
  readonly inactivitySec: number;
  readonly hasVoice: boolean;
}

/** One `/multi-stream-input`: concurrent contexts, whose text is spoken when it is flushed. */
export class MultiContextStream {
  readonly #context: SandboxContext;
  readonly #socket: WebSocket;
  readonly #options: StreamOptions;
  readonly #contexts = new Map<string, SpeechContext>();
  #inactivity: NodeJS.Timeout | undefined;

  constructor(context: SandboxContext, socket: WebSocket, options: StreamOptions) {
    this.#context = context;
    this.#socket = socket;
    this.#options = options;
  }

  start(): void {
    this.#socket.on("message", (data: Buffer) => this.#receive(data.toString("utf8")));
    this.#socket.on("close", () => clearTimeout(this.#inactivity));
    // A broken frame or a reset connection: `ws` closes the socket itself.
    this.#socket.on("error", () => undefined);
    this.#wait();
  }

  #wait(): void {
    clearTimeout(this.#inactivity);
    const leave = () => this.#refuse("input_timeout_exceeded", "No input for too long.");
    this.#inactivity = setTimeout(leave, this.#options.inactivitySec * 1_000).unref();
  }

  #receive(text: string): void {
    this.#wait();
    const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), Message), text);
    if (!parsed.success) {
      this.#refuse("invalid_input_message", "The message is not one of this protocol.");
      return;
    }
    const message = parsed.output;
    if (message.close_socket) this.#closeAll();
    else if (message.close_context) this.#closeContext(message.context_id);
    else this.#takeText(message);
  }

  #takeText(message: Message): void {
    if (!this.#options.hasVoice) {
      this.#refuse(VOICE_NOT_FOUND.status, VOICE_NOT_FOUND.message);
      return;
    }
    const known = this.#contexts.get(message.context_id);
    if (known !== undefined && message.voice_settings !== undefined) {
      this.#refuse("invalid_input_message", "Voice settings are for a context's first message.");
      return;
    }
    if (known === undefined && this.#contexts.size >= CONTEXTS_MAX) {
      this.#refuse("max_contexts_exceeded", "Too many contexts at once.");
      return;
    }
    const context = known ?? this.#open(message);
    context.buffered += message.text ?? "";
    const isEnough = context.buffered.trim().length >= BUFFERED_CHARACTERS_MIN;
    if (message.flush || this.#options.isAutomatic || isEnough) this.#flush(context);
  }

  #open({ context_id: id, voice_settings: settings }: Message): SpeechContext {
    const context: SpeechContext = {
      id,
      speed: settings?.speed ?? 1,
      buffered: "",
      underWay: 0,
      spoken: Promise.resolve(),
      isClosing: false,
    };
    this.#contexts.set(id, context);
    return context;
  }

  #flush(context: SpeechContext): void {
    // Blanks only separate the pieces.
    const text = context.buffered.trim();
    if (text === "") return;
    context.buffered = "";
    context.underWay++;
    context.spoken = context.spoken
      .then(() => this.#speak(context, text))
      .catch(() => this.#socket.close(1011, "internal error"));
  }

  /** Flushed text is still spoken; other text is dropped. */
  #closeContext(id: string): void {
    const context = this.#contexts.get(id);
    if (context === undefined) return;
    context.isClosing = true;
    context.buffered = "";
    this.#endIfSpoken(context);
  }

  #closeAll(): void {
    const spoken = [...this.#contexts.values()].map((context) => context.spoken);
    for (const id of this.#contexts.keys()) this.#closeContext(id);
    void Promise.all(spoken).then(() => this.#socket.close(1000));
  }

  #endIfSpoken(context: SpeechContext): void {
    if (!context.isClosing || context.underWay > 0) return;
    this.#contexts.delete(context.id);
    this.#send({ isFinal: true, contextId: context.id });
  }

  async #speak(context: SpeechContext, text: string): Promise<void> {
    const format = { ...this.#options.format, speed: context.speed };
    const bytesPerMs = bytesPerSecondOf(format) / 1_000;
    let sentBytes = 0;
    await speakOverSocket(this.#context, "elevenlabs", this.#socket, text, format, {
      audio: (chunk) => {
        const [fromMs, toMs] = [sentBytes, sentBytes + chunk.length].map((at) => at / bytesPerMs);
        sentBytes += chunk.length;
        const timed = this.#options.isAligned
          ? alignmentOf(text, context.speed, fromMs, toMs)
          : null;
        const audio = Buffer.from(chunk).toString("base64");
        const alignments = { alignment: timed, normalizedAlignment: timed, contextId: context.id };
        this.#send({ audio, isFinal: null, ...alignments });
      },
      done: () => {
        context.underWay--;
        this.#endIfSpoken(context);
      },
      doneEarly: () => this.#send({ isFinal: true, contextId: context.id }),
      isCancelled: false,
    });
  }

  #refuse(error: string, message: string): void {
    this.#send({ message, error, code: POLICY_VIOLATION });
    this.#socket.close(POLICY_VIOLATION, message);
  }

  #send(message: object): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(message));
  }
}

/** The characters that begin in this piece, with times from its beginning. */
function alignmentOf(text: string, speed: number, fromMs = 0, toMs = 0): object {
  const timed = timedCharacters(text, speed).filter(
    ({ startMs }) => startMs >= fromMs && startMs < toMs,
  );
  return {
    chars: timed.map(({ character }) => character),
    charStartTimesMs: timed.map(({ startMs }) => Math.round(startMs - fromMs)),
    charDurationsMs: timed.map(({ startMs, endMs }) => Math.round(endMs - startMs)),
  };
}
