import * as v from "valibot";
import type { WebSocket } from "ws";
import type { Exchange } from "../exchange.js";
import { takeFault } from "../faults.js";
import {
  isGoodKey,
  refuseUpgrade,
  type SandboxContext,
  type Simulator,
  type Upgrade,
} from "../simulator.js";
import { SimulatorSockets } from "../simulator-sockets.js";
import { streamAudio } from "../sound/audio-stream.js";
import { speak, type VoiceFormat } from "../sound/simulated-voice.js";
import {
  isUpgradeRefused,
  speakOverSocket,
  statusOfSpeechFault,
} from "../sound/voice-over-socket.js";
import { timedWords } from "../spoken-words.js";

const RawFormat = v.strictObject({
  container: v.literal("raw"),
  encoding: v.picklist(["pcm_s16le", "pcm_mulaw"]),
  sample_rate: v.picklist([8000, 16_000, 22_050, 24_000, 44_100]),
});
const Mp3Format = v.strictObject({
  container: v.literal("mp3"),
  sample_rate: v.picklist([22_050, 24_000, 44_100]),
  bit_rate: v.picklist([32_000, 48_000, 64_000, 96_000, 128_000, 192_000]),
});

/** A generation; the WebSocket has no containers, and HTTP no contexts. The sandbox has no floating-point audio. */
export const Generation = v.looseObject({
  model_id: v.pipe(v.string(), v.minLength(1)),
  transcript: v.string(),
  voice: v.looseObject({ mode: v.literal("id"), id: v.pipe(v.string(), v.minLength(1)) }),
  language: v.optional(v.nullable(v.string())),
  output_format: v.variant("container", [RawFormat, Mp3Format]),
  generation_config: v.optional(
    v.looseObject({
      speed: v.optional(v.pipe(v.number(), v.minValue(0.6), v.maxValue(1.5)), 1),
      volume: v.optional(v.pipe(v.number(), v.minValue(0.5), v.maxValue(2))),
    }),
    {},
  ),
});
export type Generation = v.InferOutput<typeof Generation>;

export const SocketGeneration = v.object({
  ...Generation.entries,
  output_format: RawFormat,
  context_id: v.pipe(v.string(), v.minLength(1)),
  continue: v.optional(v.nullable(v.boolean()), false),
  flush: v.optional(v.nullable(v.boolean()), false),
  add_timestamps: v.optional(v.nullable(v.boolean()), false),
  max_buffer_delay_ms: v.optional(v.nullable(v.number())),
});
export type SocketGeneration = v.InferOutput<typeof SocketGeneration>;

export const Cancellation = v.object({ context_id: v.string(), cancel: v.literal(true) });

export function voiceFormatOf({
  output_format: format,
  generation_config,
}: Pick<Generation, "output_format" | "generation_config">): VoiceFormat {
  const voice = { sampleRateHz: format.sample_rate, speed: generation_config.speed ?? 1 };
  if (format.container === "raw") {
    return { ...voice, codec: format.encoding === "pcm_mulaw" ? "mulaw" : "pcm" };
  }
  const kbps = ([32, 48, 64, 96, 128, 192] as const).find(
    (each) => each * 1000 === format.bit_rate,
  );
  return { ...voice, codec: "mp3", kbps: kbps ?? 48 };
}

interface SpeechContext {
  readonly id: string;
  text: string;
  isCancelled: boolean;
  isSpeaking: boolean;
}

/** One `/tts/websocket`: many concurrent contexts, each identified by its id. */
export class CartesiaStream {
  readonly #context: SandboxContext;
  readonly #socket: WebSocket;
  readonly #contexts = new Map<string, SpeechContext>();

  constructor(context: SandboxContext, socket: WebSocket) {
    this.#context = context;
    this.#socket = socket;
  }

  start(): void {
    this.#socket.on("message", (data: Buffer) => this.#receive(data.toString("utf8")));
    // A broken frame or a reset connection: `ws` closes the socket itself.
    this.#socket.on("error", () => undefined);
  }

  #receive(text: string): void {
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      json = undefined;
    }
    const cancellation = v.safeParse(Cancellation, json);
    const generation = v.safeParse(SocketGeneration, json);
    if (cancellation.success) {
      const context = this.#contexts.get(cancellation.output.context_id);
      // The vendor continues a generation that has started; here it ends, which a client has to handle as well.
      if (context !== undefined) context.isCancelled = true;
    } else if (generation.success) this.#generate(generation.output);
    else {
      const where = v.getDotPath(generation.issues[0]) ?? "message";
      this.#refuse(undefined, `Invalid ${where}`, "invalid_request");
    }
  }

  #generate(request: SocketGeneration): void {
    const { context_id: id } = request;
    if (!isVoice(request.voice.id)) {
      this.#refuse(id, "Voice not found", "voice_not_found");
      return;
    }
    const context = this.#contexts.get(id) ?? {
      id,
      text: "",
      isCancelled: false,
      isSpeaking: false,
    };
    if (context.isSpeaking) {
      // The vendor continues a context after its last input for a short while; the sandbox does not.
      this.#refuse(id, "The context has ended", "context_closed");
      return;
    }
    this.#contexts.set(id, context);
    context.text += request.transcript;
    if (request.continue === true && request.flush !== true) return;
    context.isSpeaking = true;
    this.#speak(request, context).catch(() => this.#socket.close(1011, "internal error"));
  }

  async #speak(request: SocketGeneration, context: SpeechContext): Promise<void> {
    const format = voiceFormatOf(request);
    const { text, id } = context;
    const ids = { context_id: id, status_code: 206 };
    const send = (message: object) => this.#socket.send(JSON.stringify(message));
    await speakOverSocket(this.#context, "cartesia", this.#socket, text, format, {
      audio: (chunk, isFirst) => {
        const data = Buffer.from(chunk).toString("base64");
        send({ type: "chunk", data, done: false, step_time: 10, ...ids });
        if (!isFirst || request.add_timestamps !== true) return;
        const words = timedWords(text, format.speed);
        const word_timestamps = {
          words: words.map((word) => word.text),
          start: words.map(({ startMs }) => startMs / 1000),
          end: words.map(({ endMs }) => endMs / 1000),
        };
        send({ type: "timestamps", done: false, word_timestamps, ...ids });
      },
      done: () => send({ type: "done", done: true, ...ids, status_code: 200 }),
      doneEarly: () => send({ type: "done", done: true, ...ids, status_code: 200 }),
      get isCancelled() {
        return context.isCancelled;
      },
    });
    this.#contexts.delete(id);
  }

  #refuse(contextId: string | undefined, title: string, code: string): void {
    const error = { type: "error", done: true, title, message: title, error_code: code };
    const context = contextId === undefined ? {} : { context_id: contextId };
    this.#socket.send(JSON.stringify({ ...error, status_code: 400, ...context }));
  }
}

const MESSAGE_BYTES_MAX = 64 * 1024;

/**
 * api.cartesia.ai: speech over a WebSocket of contexts (`/tts/websocket`), and complete over HTTP (`POST
 * /tts/bytes`).
 */
export class CartesiaSimulator implements Simulator {
  readonly #context: SandboxContext;
  readonly #sockets = new SimulatorSockets(MESSAGE_BYTES_MAX);

  constructor(context: SandboxContext) {
    this.#context = context;
  }

  handleUpgrade(upgrade: Upgrade): void {
    const { request, url } = upgrade;
    const header = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
    const key = header ?? url.searchParams.get("api_key") ?? undefined;
    const version = request.headers["cartesia-version"] ?? url.searchParams.get("cartesia_version");
    if (url.pathname !== "/tts/websocket") refuseUpgrade(upgrade, 404, "");
    else if (typeof version !== "string") refuseUpgrade(upgrade, 400, "");
    else if (!isUpgradeRefused(this.#context, "cartesia", upgrade, key, errorOf)) {
      this.#sockets.accept(upgrade, (socket) => {
        new CartesiaStream(this.#context, socket).start();
      });
    }
  }

  async handleRequest(exchange: Exchange): Promise<void> {
    const { journal, faults } = this.#context;
    const request = journal.nextRequest();
    exchange.whenAborted(() => journal.record("cartesia", "aborted", request));
    const route = `${exchange.request.method} ${exchange.url.pathname}`;
    if (route === "GET /voices") {
      if (isGoodKey(this.#context, exchange.bearer)) exchange.answerJson(200, VOICES);
      else exchange.answerJson(401, errorOf(401));
      return;
    }
    if (route !== "POST /tts/bytes") {
      exchange.answerJson(404, errorOf(404));
      return;
    }
    const parsed = v.safeParse(Generation, await exchange.readJson());
    const text = parsed.success ? parsed.output.transcript : undefined;
    journal.record("cartesia", "request", request, text);
    const fault = takeFault(faults, "cartesia");
    const isRight = parsed.success && exchange.header("cartesia-version") !== undefined;
    const isKeyGood = isGoodKey(this.#context, exchange.bearer);
    const status = isKeyGood ? statusOfSpeechFault(fault) : 401;
    if (status !== undefined) exchange.answerJson(status, errorOf(status));
    else if (!isRight) exchange.answerJson(400, errorOf(400));
    else if (!isVoice(parsed.output.voice.id)) exchange.answerJson(404, errorOf(404));
    else {
      const format = voiceFormatOf(parsed.output);
      const bytes = await speak(parsed.output.transcript, format);
      const audio = { bytes, format };
      const type = format.codec === "mp3" ? "audio/mpeg" : "application/octet-stream";
      const headers = { "content-type": type };
      await streamAudio(this.#context, "cartesia", request, exchange, headers, audio, fault);
    }
  }

  close(): void {
    this.#sockets.close();
  }
}

const VOICES = {
  data: [
    ["a0e99841-438c-4a64-b679-ae501e7d6091", "Katie", "en", "Warm, for support"],
    ["f786b574-daa5-4673-aa0c-cbe3e8534c02", "Ronan", "en", "Calm, for appointments"],
    ["b9de4a89-2257-424b-94c2-db18ba68c81a", "Viktoria", "de", "Clear, for the desk"],
  ].map(([id, name, language, description]) => ({
    id,
    name,
    language,
    description,
    is_owner: false,
    is_public: true,
    created_at: "2026-01-01T00:00:00Z",
  })),
  has_more: false,
};

/** The vendor refuses other ids. */
function isVoice(voiceId: string): boolean {
  return VOICES.data.some(({ id }) => id === voiceId);
}

function errorOf(status: number): object {
  const title = status === 401 ? "Invalid API key" : "The sandbox refuses this";
  return { error_code: `sandbox_${status}`, title, message: title, status_code: status };
}
