import * as v from "valibot";
import type { WebSocket } from "ws";
import type { Exchange } from "../exchange.js";
import { takeFault } from "../faults.js";
import { isGoodKey, type SandboxContext } from "../simulator.js";
import { streamAudio } from "../sound/audio-stream.js";
import { speak, type VoiceFormat } from "../sound/simulated-voice.js";
import { speakOverSocket, statusOfSpeechFault } from "../sound/voice-over-socket.js";
import { keyOf } from "./deepgram-handshake.js";

const FLUSHES_MAX = 20;
const FLUSH_WINDOW_MS = 60_000;
const MP3_RATE_HZ = 22_050;

/** The format of `/v1/speak`, or what is wrong with the query. */
export function auraFormat(query: URLSearchParams, isSocket: boolean): VoiceFormat | string {
  const encoding = query.get("encoding") ?? (isSocket ? "linear16" : "mp3");
  const rate = query.get("sample_rate");
  const sampleRateHz = Number(rate ?? (encoding === "linear16" ? 24_000 : 8000));
  if ((query.get("model") ?? "") === "") return "model is required";
  if (encoding === "mp3" && !isSocket) {
    if (rate !== null) return "sample_rate is not for mp3";
    return { codec: "mp3", sampleRateHz: MP3_RATE_HZ, kbps: 48 };
  }
  if (encoding === "mulaw" && sampleRateHz === 8000) return { codec: "mulaw", sampleRateHz };
  if (encoding === "linear16" && [8000, 16_000, 24_000, 48_000].includes(sampleRateHz)) {
    return { codec: "pcm", sampleRateHz };
  }
  return `the sandbox has no ${encoding} at ${sampleRateHz} Hz`;
}

export function auraError(status: number, message = "The sandbox refuses this"): object {
  return { err_code: status === 401 ? "INVALID_AUTH" : `SANDBOX_${status}`, err_msg: message };
}

/** `POST /v1/speak`: a whole text. */
export async function answerSpeak(context: SandboxContext, exchange: Exchange): Promise<void> {
  const { journal, faults } = context;
  const request = journal.nextRequest();
  exchange.whenAborted(() => journal.record("deepgramSpeech", "aborted", request));
  const body = v.safeParse(v.object({ text: v.string() }), await exchange.readJson());
  const text = body.success ? body.output.text : undefined;
  journal.record("deepgramSpeech", "request", request, text);
  const fault = takeFault(faults, "deepgramSpeech");
  const isKeyGood = isGoodKey(context, keyOf(exchange.request));
  const status = isKeyGood ? statusOfSpeechFault(fault) : 401;
  const format = auraFormat(exchange.url.searchParams, false);
  if (status !== undefined) exchange.answerJson(status, auraError(status));
  else if (text === undefined) exchange.answerJson(400, auraError(400, "text is required"));
  else if (typeof format === "string") exchange.answerJson(400, auraError(400, format));
  else {
    const bytes = await speak(text, format);
    const audio = { bytes, format };
    const type = format.codec === "mp3" ? "audio/mpeg" : "application/octet-stream";
    const headers = { "content-type": type, "dg-request-id": `sandbox-${request}` };
    await streamAudio(context, "deepgramSpeech", request, exchange, headers, audio, fault);
  }
}

const ClientMessage = v.variant("type", [
  v.object({ type: v.literal("Speak"), text: v.string() }),
  v.object({ type: v.picklist(["Flush", "Clear", "Close"]) }),
]);

/** One `/v1/speak` socket: collects texts, and speaks them when they are flushed, one after the other. */
export class AuraStream {
  readonly #context: SandboxContext;
  readonly #socket: WebSocket;
  readonly #format: VoiceFormat;
  readonly #requestId: string;
  readonly #model: string;
  #text = "";
  #generation = 0;
  #sequenceId = 0;
  #flushesMs: readonly number[] = [];
  #speaking: Promise<void> = Promise.resolve();

  constructor(
    context: SandboxContext,
    socket: WebSocket,
    format: VoiceFormat,
    { requestId, model }: { readonly requestId: string; readonly model: string },
  ) {
    this.#context = context;
    this.#socket = socket;
    this.#format = format;
    this.#requestId = requestId;
    this.#model = model;
  }

  start(): void {
    this.#socket.on("message", (data: Buffer) => this.#receive(data.toString("utf8")));
    // A broken frame or a reset connection: `ws` closes the socket itself.
    this.#socket.on("error", () => undefined);
    const model = { model_name: this.#model, model_version: "sandbox" };
    const uuid = { model_uuid: "00000000-0000-4000-8000-000000000000" };
    this.#send({ type: "Metadata", request_id: this.#requestId, ...model, ...uuid });
  }

  #receive(text: string): void {
    const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), ClientMessage), text);
    if (!parsed.success) {
      this.#send({ type: "Warning", code: "UNPARSABLE_MESSAGE", description: "not a message" });
      return;
    }
    const message = parsed.output;
    if (message.type === "Speak") this.#text += message.text;
    else if (message.type === "Flush") this.#flush();
    else if (message.type === "Close") this.#socket.close(1000);
    else {
      this.#text = "";
      this.#generation++;
      this.#send({ type: "Cleared", sequence_id: this.#sequenceId++ });
    }
  }

  #flush(): void {
    const nowMs = performance.now();
    this.#flushesMs = this.#flushesMs.filter((atMs) => nowMs - atMs < FLUSH_WINDOW_MS);
    if (this.#flushesMs.length >= FLUSHES_MAX) {
      // The text of the vendor's warning is not confirmed.
      const description = "Too many Flush messages in 60 seconds";
      this.#send({ type: "Warning", code: "EXCESSIVE_FLUSH", description });
      return;
    }
    this.#flushesMs = [...this.#flushesMs, nowMs];
    const text = this.#text;
    this.#text = "";
    const generation = this.#generation;
    this.#speaking = this.#speaking
      .then(() => this.#speak(text, generation))
      .catch(() => this.#socket.close(1011, "internal error"));
  }

  #speak(text: string, generation: number): Promise<void> {
    const isCancelled = (): boolean => generation !== this.#generation;
    return speakOverSocket(this.#context, "deepgramSpeech", this.#socket, text, this.#format, {
      audio: (chunk) => this.#socket.send(chunk),
      done: () => this.#send({ type: "Flushed", sequence_id: this.#sequenceId++ }),
      doneEarly: () => this.#send({ type: "Flushed", sequence_id: this.#sequenceId }),
      get isCancelled() {
        return isCancelled();
      },
    });
  }

  #send(message: object): void {
    this.#socket.send(JSON.stringify(message));
  }
}
