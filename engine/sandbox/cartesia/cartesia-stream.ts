import * as v from "valibot";
import type { WebSocket } from "ws";
import type { SandboxContext } from "../simulator.js";
import { sayOverSocket } from "../sound/voice-over-socket.js";
import { timedWords } from "../spoken-words.js";
import { Cancellation, SocketGeneration, voiceFormatOf } from "./cartesia-request.js";

interface SpeechContext {
  readonly id: string;
  text: string;
  isCancelled: boolean;
  isSpeaking: boolean;
}

/** One `/tts/websocket`: many contexts side by side, each told by its id. */
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
      // The vendor lets a generation that has begun go on; here it ends, which a client has to bear as well.
      if (context !== undefined) context.isCancelled = true;
    } else if (generation.success) this.#generate(generation.output);
    else {
      const where = v.getDotPath(generation.issues[0]) ?? "message";
      this.#refuse(undefined, `Invalid ${where}`, "invalid_request");
    }
  }

  #generate(request: SocketGeneration): void {
    const { context_id: id } = request;
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
    const told = { context_id: id, status_code: 206 };
    const send = (message: object) => this.#socket.send(JSON.stringify(message));
    await sayOverSocket(this.#context, "cartesia", this.#socket, text, format, {
      audio: (chunk, isFirst) => {
        const data = Buffer.from(chunk).toString("base64");
        send({ type: "chunk", data, done: false, step_time: 10, ...told });
        if (!isFirst || request.add_timestamps !== true) return;
        const words = timedWords(text, format.speed);
        const word_timestamps = {
          words: words.map((word) => word.text),
          start: words.map(({ startMs }) => startMs / 1000),
          end: words.map(({ endMs }) => endMs / 1000),
        };
        send({ type: "timestamps", done: false, word_timestamps, ...told });
      },
      done: () => send({ type: "done", done: true, ...told, status_code: 200 }),
      doneEarly: () => send({ type: "done", done: true, ...told, status_code: 200 }),
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
