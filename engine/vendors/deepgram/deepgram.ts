import * as v from "valibot";
import type { ListenOptions, SpeechListener, SpeechStream, SpeechToText } from "../contracts.js";
import { VendorError } from "../contracts.js";
import { DEEPGRAM_FIELDS, WEB_SOCKET_PROTOCOLS } from "../setting-fields.js";
import { openSocket, type RefusedUpgrade, type VendorSocket } from "../transport/web-socket.js";
import { faultOfStatus, headerOf, refusal } from "../vendor-fault.js";
import { tryParse } from "../vendor-json.js";
import {
  type Endpoint,
  endpointOf,
  parseSettings,
  requireApiKey,
  type VendorContext,
  type VendorSettings,
} from "../vendor-settings.js";
import { audioFormatOf } from "./audio-format.js";
import { DeepgramStream } from "./deepgram-stream.js";

const VENDOR = "deepgram";

const OPEN_TIMEOUT_MS = 5_000;

const refusalSchema = v.object({
  err_code: v.optional(v.string()),
  err_msg: v.optional(v.string()),
});

/** Deepgram's live transcription, version 1 of its protocol. */
export class Deepgram implements SpeechToText {
  readonly #context: VendorContext;
  readonly #endpoint: Endpoint;
  readonly #apiKey: string;
  readonly #clientOwned: boolean;
  readonly #utteranceEndMs: number;

  constructor(given: VendorSettings, context: VendorContext) {
    this.#context = context;
    this.#endpoint = endpointOf(VENDOR, given, "wss://api.deepgram.com", WEB_SOCKET_PROTOCOLS);
    this.#apiKey = requireApiKey(VENDOR, given);
    this.#clientOwned = given.clientOwned;
    this.#utteranceEndMs = parseSettings(VENDOR, DEEPGRAM_FIELDS, given).utteranceEndMs;
  }

  async open(
    options: ListenOptions,
    listener: SpeechListener,
    signal: AbortSignal,
  ): Promise<SpeechStream> {
    const connect = (until: AbortSignal) => this.#connect(options, until);
    const socket = await connect(signal);
    if (signal.aborted) {
      socket.destroy();
      throw new VendorError(VENDOR, "aborted", `${VENDOR}: aborted`);
    }
    return new DeepgramStream(
      {
        clock: this.#context.clock,
        format: audioFormatOf(options),
        endpointingMs: options.endpointingMs,
        listener,
        apiKey: this.#apiKey,
        connect,
      },
      socket,
      signal,
    );
  }

  #connect(options: ListenOptions, signal: AbortSignal): Promise<VendorSocket> {
    const query = new URLSearchParams({
      model: options.modelId,
      language: options.language,
      encoding: options.encoding,
      sample_rate: String(options.sampleRateHz),
      channels: "1",
      interim_results: "true",
      endpointing: String(options.endpointingMs),
      utterance_end_ms: String(this.#utteranceEndMs),
      vad_events: "true",
    });
    const url = `${this.#endpoint.origin}${this.#endpoint.path}/v1/listen?${query.toString()}`;
    return openSocket(
      {
        vendor: VENDOR,
        url,
        headers: { Authorization: `Token ${this.#apiKey}` },
        dispatcher: this.#context.connections.forSocket(url, this.#clientOwned),
        clock: this.#context.clock,
        openTimeoutMs: OPEN_TIMEOUT_MS,
        offersCompression: false,
        refuse: (answer) => this.#refusal(answer),
      },
      signal,
    );
  }

  #refusal(answer: RefusedUpgrade): VendorError {
    const body = tryParse(refusalSchema, answer.body)?.value;
    const detail = {
      code: body?.err_code,
      message: headerOf(answer.headers, "dg-error") ?? body?.err_msg,
    };
    const nowMs = this.#context.clock.epochMs();
    const fault = faultOfStatus(answer.status);
    return refusal(VENDOR, fault, { ...answer, nowMs }, detail, this.#apiKey);
  }
}
