import * as v from "valibot";
import type { WebSocket } from "ws";
import { DelayedEvents } from "../delayed-events.js";
import { type DeepgramFault, takeFault } from "../faults.js";
import type { SandboxContext } from "../simulator.js";
import { RawAudio } from "../sound/raw-audio.js";
import { languageOf } from "../spoken-language.js";
import { TurnModel } from "../turn-model.js";
import { type Refusal, readKeyterms } from "./deepgram-handshake.js";
import { recognized } from "./recognizer.js";

export interface FluxThresholds {
  readonly eotThreshold: number;
  /** Undefined: no eager ends. */
  readonly eagerEotThreshold: number | undefined;
  readonly eotTimeoutMs: number;
}

export interface FluxOptions extends FluxThresholds {
  readonly encoding: "linear16" | "mulaw";
  readonly sampleRateHz: number;
  readonly isMultilingual: boolean;
}

/** The names of version 1 do not exist here. */
const FORBIDDEN = ["endpointing", "interim_results", "utterance_end_ms", "vad_events", "language"];

/** The options in the query of `/v2/listen`, or why it is refused. */
export function readFluxOptions(query: URLSearchParams): FluxOptions | Refusal {
  const model = query.get("model");
  const encoding = query.get("encoding");
  const sampleRateHz = Number(query.get("sample_rate"));
  if (model !== "flux-general-en" && model !== "flux-general-multi") {
    return invalid("model is flux-general-en or flux-general-multi");
  }
  if (encoding !== "linear16" && encoding !== "mulaw") {
    return invalid("the sandbox takes raw audio only: encoding linear16 or mulaw");
  }
  if (![8000, 16_000, 24_000, 48_000].includes(sampleRateHz)) {
    return invalid("encoding needs a sample_rate of 8000, 16000, 24000 or 48000");
  }
  const forbidden = FORBIDDEN.find((name) => query.has(name));
  if (forbidden !== undefined) return invalid(`${forbidden} is not a parameter of v2`);
  if (query.has("language_hint") && model !== "flux-general-multi") {
    return invalid("language_hint is for flux-general-multi");
  }
  const keyterms = readKeyterms(query);
  if ("status" in keyterms) return keyterms;
  const eager = query.get("eager_eot_threshold");
  const thresholds = readThresholds({
    eot_threshold: Number(query.get("eot_threshold") ?? 0.7),
    eager_eot_threshold: eager === null ? undefined : Number(eager),
    eot_timeout_ms: Number(query.get("eot_timeout_ms") ?? 5000),
  });
  return typeof thresholds === "string"
    ? invalid(thresholds)
    : {
        ...thresholds,
        encoding,
        sampleRateHz,
        isMultilingual: model === "flux-general-multi",
      };
}

/** The thresholds by their names in the protocol; or what is wrong with them. */
export function readThresholds(given: {
  readonly eot_threshold: number;
  readonly eager_eot_threshold: number | undefined;
  readonly eot_timeout_ms: number;
}): FluxThresholds | string {
  const { eot_threshold: eot, eager_eot_threshold: eager, eot_timeout_ms: timeoutMs } = given;
  if (!(eot >= 0.5 && eot <= 1)) return "eot_threshold is from 0.5 to 1";
  if (eager !== undefined && !(eager >= 0.3 && eager <= eot)) {
    return "eager_eot_threshold is from 0.3 to eot_threshold";
  }
  if (!(timeoutMs >= 500 && timeoutMs <= 60_000)) return "eot_timeout_ms is from 500 to 60000";
  return { eotThreshold: eot, eagerEotThreshold: eager, eotTimeoutMs: timeoutMs };
}

function invalid(message: string): Refusal {
  return { status: 400, code: "INVALID_QUERY_PARAMETER", message };
}

const SLOW_MS = 3000;

type FluxEvent = "Update" | "StartOfTurn" | "EagerEndOfTurn" | "TurnResumed" | "EndOfTurn";

const ClientMessage = v.variant("type", [
  v.object({ type: v.literal("CloseStream") }),
  v.object({ type: v.literal("ForceEndTurn") }),
  v.object({
    type: v.literal("Configure"),
    thresholds: v.optional(
      v.object({
        eot_threshold: v.optional(v.number()),
        eager_eot_threshold: v.optional(v.number()),
        eot_timeout_ms: v.optional(v.number()),
      }),
      {},
    ),
    keyterms: v.optional(v.array(v.string()), []),
    language_hints: v.optional(v.array(v.string())),
  }),
]);

/**
 * One `/v2/listen` socket: transcribes words, and decides itself when a turn begins, seems to end, resumes and
 * ends.
 */
export class FluxStream {
  readonly #context: SandboxContext;
  readonly #socket: WebSocket;
  readonly #requestId: string;
  readonly #journalId: number;
  readonly #isMultilingual: boolean;
  readonly #audio: RawAudio;
  readonly #model: TurnModel;
  readonly #events: DelayedEvents;
  #thresholds: FluxThresholds;
  #sequenceId = 0;
  #turnIndex = 0;
  #turnStartMs = 0;
  #isEager = false;
  #isEnding = false;
  #confidence = 0;
  #speechAtNs: bigint | undefined;

  constructor(context: SandboxContext, socket: WebSocket, options: FluxOptions, requestId: string) {
    this.#context = context;
    this.#socket = socket;
    this.#requestId = requestId;
    this.#thresholds = options;
    this.#isMultilingual = options.isMultilingual;
    this.#journalId = context.journal.nextRequest();
    this.#audio = new RawAudio(options.encoding);
    this.#events = new DelayedEvents(() => {
      const { latencyMs = 0, fault } = context.faults.deepgram;
      return latencyMs + (fault === "slow" ? SLOW_MS : 0);
    });
    this.#model = new TurnModel(options.sampleRateHz, {
      onStart: () => this.#emit("StartOfTurn"),
      onUpdate: () => this.#emit("Update"),
      onResumed: () => this.#resume(),
      onQuiet: (confidence, quietMs) => this.#judge(confidence, quietMs),
    });
  }

  start(): void {
    const { journal } = this.#context;
    journal.record("deepgram", "opened", this.#journalId);
    this.#socket.on("message", (data: Buffer, isBinary) => {
      if (this.#isEnding) return;
      if (isBinary) this.#hear(data);
      else this.#control(data.toString("utf8"));
    });
    this.#socket.on("close", () => journal.record("deepgram", "closed", this.#journalId));
    // A broken frame or a reset connection: `ws` closes the socket itself.
    this.#socket.on("error", () => undefined);
    this.#send({ type: "Connected", request_id: this.#requestId });
  }

  #hear(bytes: Buffer): void {
    const fault = this.#takeFault(["dropMidCall", "closeMidCall", "refuseAudio"]);
    if (fault === "dropMidCall") this.#socket.terminate();
    else if (fault === "closeMidCall") this.#fail("INTERNAL_SERVER_ERROR", "told to fail", 1011);
    else if (fault === "refuseAudio") this.#fail("DATA-0000", "cannot decode the audio", 1008);
    else {
      const atNs = process.hrtime.bigint();
      if (this.#model.write(this.#audio.samples(bytes))) this.#speechAtNs = atNs;
    }
  }

  #control(text: string): void {
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      json = undefined;
    }
    const parsed = v.safeParse(ClientMessage, json);
    if (!parsed.success) {
      // There is no KeepAlive here. The vendor's close code is not confirmed.
      this.#fail("UNPARSABLE_CLIENT_MESSAGE", "not a message of v2", 1008);
    } else if (parsed.output.type === "CloseStream") this.#finish();
    else if (parsed.output.type === "ForceEndTurn") this.#end("manual");
    else this.#configure(parsed.output);
  }

  #configure({
    thresholds,
    keyterms,
  }: v.InferOutput<typeof ClientMessage> & { type: "Configure" }) {
    const current = this.#thresholds;
    const read = readThresholds({
      eot_threshold: thresholds.eot_threshold ?? current.eotThreshold,
      eager_eot_threshold: thresholds.eager_eot_threshold ?? current.eagerEotThreshold,
      eot_timeout_ms: thresholds.eot_timeout_ms ?? current.eotTimeoutMs,
    });
    if (typeof read === "string") {
      this.#send({ type: "ConfigureFailure", request_id: this.#requestId });
      return;
    }
    this.#thresholds = read;
    const acceptedThresholds = {
      eot_threshold: read.eotThreshold,
      eager_eot_threshold: read.eagerEotThreshold,
      eot_timeout_ms: read.eotTimeoutMs,
    };
    const request_id = this.#requestId;
    this.#send({ type: "ConfigureSuccess", request_id, thresholds: acceptedThresholds, keyterms });
  }

  #judge(confidence: number, quietMs: number): void {
    this.#confidence = confidence;
    const { eotThreshold, eagerEotThreshold, eotTimeoutMs } = this.#thresholds;
    if (this.#context.faults.deepgram.fault === "neverSpeechFinal") return;
    if (confidence >= eotThreshold) this.#end("model");
    else if (quietMs >= eotTimeoutMs) this.#end("timeout");
    else if (!this.#isEager && eagerEotThreshold !== undefined && confidence >= eagerEotThreshold) {
      this.#isEager = true;
      this.#emit("EagerEndOfTurn");
    }
  }

  #resume(): void {
    if (!this.#isEager) return;
    this.#isEager = false;
    this.#emit("TurnResumed");
  }

  #end(trigger: "model" | "manual" | "timeout"): void {
    if (this.#model.words.length === 0) return;
    this.#noteSpeech();
    this.#emit("EndOfTurn", { trigger });
    this.#model.close();
    this.#isEager = false;
    this.#turnIndex++;
    this.#turnStartMs = this.#model.positionMs;
  }

  /** What the vendor sends for an open turn when the stream is closed is not confirmed: here the turn ends. */
  #finish(): void {
    if (this.#takeFault(["noAnswerToClose"]) !== undefined) return;
    this.#isEnding = true;
    this.#model.end();
    this.#end("manual");
    this.#events.later(() => this.#socket.close(1000));
  }

  #fail(code: string, description: string, closeCode: number): void {
    this.#isEnding = true;
    this.#send({ type: "Error", code, description });
    this.#events.later(() => this.#socket.close(closeCode));
  }

  #emit(event: FluxEvent, more: object = {}): void {
    const { words } = this.#model;
    const transcript = words.map(({ text }) => text).join(" ");
    const fault = this.#takeFault(["silent", "garbageJson", "unknownMessages"]);
    if (fault === "silent") return;
    if (fault === "garbageJson") this.#events.later(() => this.#socket.send('{"type":"Turn'));
    if (fault === "unknownMessages") this.#send({ type: "Weather", sky: "blue" });
    this.#send(
      {
        type: "TurnInfo",
        request_id: this.#requestId,
        event,
        turn_index: this.#turnIndex,
        audio_window_start: this.#turnStartMs / 1000,
        audio_window_end: this.#model.positionMs / 1000,
        transcript,
        words: words.map(recognized).map(({ punctuated_word, confidence, start, end }) => ({
          word: punctuated_word,
          confidence,
          start,
          end,
        })),
        end_of_turn_confidence: this.#confidence,
        ...(this.#isMultilingual && { languages: [languageOf(words.map(({ text }) => text))] }),
        ...more,
      },
      `${event}: ${transcript}`,
    );
  }

  #send(message: object, label?: string): void {
    const text = JSON.stringify({ ...message, sequence_id: this.#sequenceId++ });
    this.#events.later(() => {
      this.#socket.send(text);
      if (label === undefined) return;
      this.#context.journal.record("deepgram", "event", this.#journalId, label);
    });
  }

  #noteSpeech(): void {
    if (this.#speechAtNs === undefined) return;
    const { journal } = this.#context;
    journal.record("deepgram", "lastSpeech", this.#journalId, undefined, this.#speechAtNs);
    this.#speechAtNs = undefined;
  }

  #takeFault(among: readonly DeepgramFault[]): DeepgramFault | undefined {
    return takeFault(this.#context.faults, "deepgram", among);
  }
}
