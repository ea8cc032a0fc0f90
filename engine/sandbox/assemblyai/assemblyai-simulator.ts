import { randomUUID } from "node:crypto";
import * as v from "valibot";
import type { WebSocket } from "ws";
import { HANDSHAKE_FAULTS, refusalOfFault } from "../deepgram/deepgram-handshake.js";
import { DelayedEvents } from "../delayed-events.js";
import { type AssemblyAiFault, takeFault } from "../faults.js";
import {
  isGoodKey,
  refuseUpgrade,
  type SandboxContext,
  type Simulator,
  type Upgrade,
} from "../simulator.js";
import { SimulatorSockets } from "../simulator-sockets.js";
import { RawAudio } from "../sound/raw-audio.js";
import { languageOf } from "../spoken-language.js";
import { TurnModel } from "../turn-model.js";

export interface AssemblyAiOptions {
  readonly encoding: "linear16" | "mulaw";
  readonly sampleRateHz: number;
  readonly minTurnSilenceMs: number;
  readonly maxTurnSilenceMs: number;
  readonly confidenceThreshold: number;
  readonly detectsLanguage: boolean;
}

const MIN_TURN_SILENCE_MS = 400;
const MAX_TURN_SILENCE_MS = 1280;
const CONFIDENCE_THRESHOLD = 0.4;

const KEYTERMS_MAX = 100;
const KEYTERM_CHARACTERS_MAX = 50;
const KeytermsPrompt = v.pipe(
  v.string(),
  v.parseJson(),
  v.array(v.pipe(v.string(), v.nonEmpty(), v.maxLength(KEYTERM_CHARACTERS_MAX))),
  v.maxLength(KEYTERMS_MAX),
);

/** The options in the query of `/v3/ws`, or what is wrong with it. */
export function readAssemblyAiOptions(query: URLSearchParams): AssemblyAiOptions | string {
  const encoding = query.get("encoding") ?? "pcm_s16le";
  const sampleRateHz = Number(query.get("sample_rate") ?? 16_000);
  if ((query.get("speech_model") ?? "") === "") return "speech_model is required";
  if (encoding !== "pcm_s16le" && encoding !== "pcm_mulaw") {
    return "the sandbox takes raw audio only: encoding pcm_s16le or pcm_mulaw";
  }
  if (![8000, 16_000, 24_000, 48_000].includes(sampleRateHz)) {
    return "the sandbox takes a sample_rate of 8000, 16000, 24000 or 48000";
  }
  const keyterms = v.safeParse(KeytermsPrompt, query.get("keyterms_prompt") ?? "[]");
  if (!keyterms.success) {
    return `keyterms_prompt is a JSON list of at most ${KEYTERMS_MAX} texts of at most ${KEYTERM_CHARACTERS_MAX} characters`;
  }
  const detection = query.get("language_detection") ?? "false";
  if (detection !== "true" && detection !== "false") return "language_detection is true or false";
  return {
    detectsLanguage: detection === "true",
    encoding: encoding === "pcm_mulaw" ? "mulaw" : "linear16",
    sampleRateHz,
    minTurnSilenceMs: Number(query.get("min_turn_silence") ?? MIN_TURN_SILENCE_MS),
    maxTurnSilenceMs: Number(query.get("max_turn_silence") ?? MAX_TURN_SILENCE_MS),
    confidenceThreshold: Number(
      query.get("end_of_turn_confidence_threshold") ?? CONFIDENCE_THRESHOLD,
    ),
  };
}

const SLOW_MS = 3000;
const CHUNK_MIN_MS = 50;
const CHUNK_MAX_MS = 1000;
const TOO_FAST = "Audio Transmission Rate Exceeded: Received 3.2 sec. audio in 1.6 sec";
const SESSION_SEC = 10_800;

/** One `/v3/ws` socket: reports each turn as it grows, and its end. */
export class AssemblyAiStream {
  readonly #context: SandboxContext;
  readonly #socket: WebSocket;
  readonly #options: AssemblyAiOptions;
  readonly #journalId: number;
  readonly #audio: RawAudio;
  readonly #model: TurnModel;
  readonly #events: DelayedEvents;
  readonly #openedMs = performance.now();
  #turnOrder = 0;
  #confidence = 0;
  #isEnding = false;
  #speechAtNs: bigint | undefined;

  constructor(context: SandboxContext, socket: WebSocket, options: AssemblyAiOptions) {
    this.#context = context;
    this.#socket = socket;
    this.#options = options;
    this.#journalId = context.journal.nextRequest();
    this.#audio = new RawAudio(options.encoding);
    this.#events = new DelayedEvents(() => {
      const { latencyMs = 0, fault } = context.faults.assemblyai;
      return latencyMs + (fault === "slow" ? SLOW_MS : 0);
    });
    this.#model = new TurnModel(options.sampleRateHz, {
      onStart: () => this.#start(),
      onUpdate: () => this.#emit(false),
      onResumed: () => undefined,
      onQuiet: (confidence, quietMs) => this.#judge(confidence, quietMs),
    });
  }

  start(): void {
    const { journal } = this.#context;
    journal.record("assemblyai", "opened", this.#journalId);
    this.#socket.on("message", (data: Buffer, isBinary) => {
      if (this.#isEnding) return;
      if (isBinary) this.#hear(data);
      else this.#control(data.toString("utf8"));
    });
    this.#socket.on("close", () => journal.record("assemblyai", "closed", this.#journalId));
    // A broken frame or a reset connection: `ws` closes the socket itself.
    this.#socket.on("error", () => undefined);
    if (this.#takeFault(["tooManySessions"]) !== undefined) {
      this.#fail(1008, "Unauthorized connection: Too many concurrent sessions");
      return;
    }
    const expires_at = Math.floor(Date.now() / 1000) + SESSION_SEC;
    this.#send({ type: "Begin", id: randomUUID(), expires_at });
  }

  #hear(bytes: Buffer): void {
    const fault = this.#takeFault(["dropMidCall", "closeMidCall", "refuseAudio", "tooFast"]);
    const { encoding, sampleRateHz } = this.#options;
    const durationMs = (bytes.length * 1000) / (sampleRateHz * (encoding === "mulaw" ? 1 : 2));
    if (fault === "dropMidCall") this.#socket.terminate();
    else if (fault === "closeMidCall") this.#fail(3005, "Server error");
    else if (fault === "refuseAudio") this.#fail(3006, "Input validation error");
    else if (fault === "tooFast") this.#fail(3007, TOO_FAST);
    else if (durationMs < CHUNK_MIN_MS || durationMs > CHUNK_MAX_MS) {
      this.#fail(
        3007,
        `Input duration violation: ${durationMs} ms. Expected between 50 and 1000 ms`,
      );
    } else {
      const atNs = process.hrtime.bigint();
      if (this.#model.write(this.#audio.samples(bytes))) this.#speechAtNs = atNs;
    }
  }

  #control(text: string): void {
    const type = /"type"\s*:\s*"(\w+)"/.exec(text)?.[1];
    if (type === "Terminate") this.#finish();
    else if (type === "ForceEndpoint") this.#end();
    else if (type !== "KeepAlive" && type !== "UpdateConfiguration") {
      this.#fail(3006, "Invalid message type");
    }
  }

  #start(): void {
    const timestamp = this.#model.words[0]?.startMs ?? 0;
    this.#send({ type: "SpeechStarted", timestamp });
    this.#emit(false);
  }

  #judge(confidence: number, quietMs: number): void {
    this.#confidence = confidence;
    const { minTurnSilenceMs, maxTurnSilenceMs, confidenceThreshold } = this.#options;
    if (this.#context.faults.assemblyai.fault === "neverSpeechFinal") return;
    const isSure = confidence >= confidenceThreshold && quietMs >= minTurnSilenceMs;
    if (isSure || quietMs >= maxTurnSilenceMs) this.#end();
  }

  #end(): void {
    if (this.#model.words.length === 0) return;
    if (this.#speechAtNs !== undefined) {
      const { journal } = this.#context;
      journal.record("assemblyai", "lastSpeech", this.#journalId, undefined, this.#speechAtNs);
      this.#speechAtNs = undefined;
    }
    this.#emit(true);
    this.#model.close();
    this.#turnOrder++;
  }

  #finish(): void {
    if (this.#takeFault(["noAnswerToClose"]) !== undefined) return;
    this.#isEnding = true;
    this.#model.end();
    this.#end();
    this.#send({
      type: "Termination",
      audio_duration_seconds: this.#model.positionMs / 1000,
      session_duration_seconds: (performance.now() - this.#openedMs) / 1000,
    });
    this.#events.later(() => this.#socket.close(1000));
  }

  #fail(code: number, error: string): void {
    this.#isEnding = true;
    this.#send({ type: "Error", error_code: code, error });
    this.#events.later(() => this.#socket.close(code, error));
  }

  #emit(isEnd: boolean): void {
    const { words } = this.#model;
    const fault = this.#takeFault(["silent", "garbageJson", "unknownMessages"]);
    if (fault === "silent") return;
    if (fault === "garbageJson") this.#events.later(() => this.#socket.send('{"type":"Turn'));
    if (fault === "unknownMessages") this.#send({ type: "Weather", sky: "blue" });
    // The newest word of an open turn is interim, and not in its transcript.
    const settled = isEnd ? words : words.slice(0, -1);
    const transcript = settled.map(({ text }) => text).join(" ");
    this.#send(
      {
        type: "Turn",
        turn_order: this.#turnOrder,
        turn_is_formatted: false,
        end_of_turn: isEnd,
        transcript,
        end_of_turn_confidence: this.#confidence,
        ...(this.#options.detectsLanguage && {
          language_code: languageOf(words.map(({ text }) => text)),
          language_confidence: 0.98,
        }),
        words: words.map((word, n) => ({
          text: word.text,
          start: Math.round(word.startMs),
          end: Math.round(word.endMs),
          confidence: 0.99,
          word_is_final: isEnd || n < words.length - 1,
        })),
      },
      `${isEnd ? "end of turn" : "turn"}: ${transcript}`,
    );
  }

  #send(message: object, label?: string): void {
    const text = JSON.stringify(message);
    this.#events.later(() => {
      this.#socket.send(text);
      if (label === undefined) return;
      this.#context.journal.record("assemblyai", "event", this.#journalId, label);
    });
  }

  #takeFault(among: readonly AssemblyAiFault[]): AssemblyAiFault | undefined {
    return takeFault(this.#context.faults, "assemblyai", among);
  }
}

const MESSAGE_BYTES_MAX = 256 * 1024;

/** streaming.assemblyai.com: speech to text over a WebSocket, version 3. */
export class AssemblyAiSimulator implements Simulator {
  readonly #context: SandboxContext;
  readonly #sockets = new SimulatorSockets(MESSAGE_BYTES_MAX);

  constructor(context: SandboxContext) {
    this.#context = context;
  }

  handleUpgrade(upgrade: Upgrade): void {
    const { request, url } = upgrade;
    const fault = takeFault(this.#context.faults, "assemblyai", HANDSHAKE_FAULTS);
    if (fault === "stallHandshake") return;
    // The key is sent without a scheme.
    const key = request.headers.authorization ?? url.searchParams.get("token") ?? undefined;
    const options = readAssemblyAiOptions(url.searchParams);
    const status = isGoodKey(this.#context, key) ? refusalOfFault(fault)?.status : 401;
    if (url.pathname !== "/v3/ws") refuse(upgrade, 404, "Not Found");
    else if (status !== undefined) refuse(upgrade, status, "The sandbox refuses this");
    else if (typeof options === "string") refuse(upgrade, 400, options);
    else {
      this.#sockets.accept(upgrade, (socket) => {
        new AssemblyAiStream(this.#context, socket, options).start();
      });
    }
  }

  close(): void {
    this.#sockets.close();
  }
}

function refuse(upgrade: Upgrade, status: number, error: string): void {
  const headers = { "Content-Type": "application/json" };
  refuseUpgrade(upgrade, status, JSON.stringify({ error }), headers);
}
