import * as v from "valibot";
import { MP3, MULAW_8K, PCM_24K } from "../../audio/audio-format.js";
import type { Clock } from "../../time/clock.js";
import { type SpeechRequest, type TextToSpeech, VendorError } from "../contracts.js";
import { offeredModels } from "../model-catalog.js";
import { choice, HTTP_PROTOCOLS, numberFrom, text } from "../setting-fields.js";
import { SocketVoice, speakOver } from "../socket-voice/socket-voice.js";
import type { RefusedAnswer } from "../transport/http-stream.js";
import { HttpVendor } from "../transport/http-vendor.js";
import { downloadSpeech } from "../transport/speech-download.js";
import { BASE_URL, setting, type Vendor } from "../vendor.js";
import { refusal } from "../vendor-fault.js";
import {
  endpointOf,
  parseSettings,
  requireApiKey,
  type VendorContext,
  type VendorSettings,
} from "../vendor-settings.js";
import { contextDialect } from "./elevenlabs-contexts.js";
import {
  faultOfAnswer,
  languageOf,
  OUTPUT_FORMATS,
  readDetail,
  VENDOR,
  voiceSettingsOf,
} from "./elevenlabs-request.js";

const PUBLIC_URL = "https://api.elevenlabs.io";

const share = v.optional(numberFrom(0, 1));

const ELEVENLABS_FIELDS = {
  /** A voice that every account has. */
  voiceId: v.optional(
    text(/^[\x20-\x7e]{1,200}$/, "an id of 1 to 200 printable ASCII characters"),
    "21m00Tcm4TlvDq8ikWAM",
  ),
  stability: share,
  similarityBoost: share,
  style: share,
  transport: v.optional(choice(["http", "websocket"]), "http"),
};

export const ELEVENLABS: Vendor = {
  key: VENDOR,
  apiKey: { isRequired: true, variable: "ELEVENLABS_API_KEY" },
  address: { variable: "ELEVENLABS_BASE_URL", publicUrl: PUBLIC_URL, protocols: HTTP_PROTOCOLS },
  tts: {
    displayName: "ElevenLabs",
    models: offeredModels("elevenlabs", "tts"),
    fields: ELEVENLABS_FIELDS,
    settings: [
      setting("voiceId", "Voice id", "string"),
      setting("stability", "Stability, 0 to 1", "number"),
      setting("similarityBoost", "Similarity to the voice, 0 to 1", "number"),
      setting("style", "Style, 0 to 1", "number"),
      setting(
        "transport",
        "Transport: http, or websocket, which tells the times of words",
        "string",
      ),
      BASE_URL,
    ],
    client: (given, context) => new ElevenLabs(given, context),
  },
};

/** The socket is not for this model or key, or not there: plain requests may be taken all the same. */
const NO_SOCKET: ReadonlySet<number> = new Set([400, 403, 404, 405, 426, 501]);
/** So long nobody asks for a socket again where none was given. */
const NO_SOCKET_MS = 60_000;

/** By plain requests; or, where the provider's settings say so, over a kept WebSocket, which has no MP3 at 24 kHz. */
class ElevenLabs implements TextToSpeech {
  readonly formats = [MP3, MULAW_8K, PCM_24K];
  readonly #vendor: HttpVendor;
  readonly #apiKey: string;
  readonly #settings: v.InferOutput<v.ObjectSchema<typeof ELEVENLABS_FIELDS, undefined>>;

  readonly #clock: Clock;
  readonly #socketVoice: SocketVoice;
  #noSocketUntilMs = Number.NEGATIVE_INFINITY;

  constructor(given: VendorSettings, context: VendorContext) {
    this.#vendor = new HttpVendor(VENDOR, given, PUBLIC_URL, context);
    this.#apiKey = requireApiKey(VENDOR, given);
    this.#settings = parseSettings(VENDOR, ELEVENLABS_FIELDS, given);
    this.#clock = context.clock;
    this.#socketVoice = new SocketVoice(contextDialect(this.#settings.voiceId, this.#settings), {
      context,
      endpoint: endpointOf(VENDOR, given, PUBLIC_URL),
      clientOwned: given.clientOwned,
      orgId: given.orgId,
      apiKey: this.#apiKey,
      headers: { "xi-api-key": this.#apiKey },
    });
  }

  async synthesize(
    request: SpeechRequest,
    onChunk: (audio: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const isSocketWanted = this.#settings.transport === "websocket";
    const mayHaveSocket = this.#clock.monotonicMs() >= this.#noSocketUntilMs;
    if (isSocketWanted && mayHaveSocket && request.format.encoding !== "mp3") {
      try {
        return await speakOver(
          () => this.#socketVoice.synthesize(request, onChunk, signal),
          (take) => this.#download(request, take, signal),
          onChunk,
          signal,
        );
      } catch (error) {
        if (!isSocketRefused(error)) throw error;
        this.#noSocketUntilMs = this.#clock.monotonicMs() + NO_SOCKET_MS;
      }
    }
    await this.#download(request, onChunk, signal);
  }

  #download(
    request: SpeechRequest,
    onChunk: (audio: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { voiceId } = this.#settings;
    const path = `/v1/text-to-speech/${encodeURIComponent(voiceId)}/stream`;
    return downloadSpeech(
      this.#vendor,
      {
        path: `${path}?output_format=${OUTPUT_FORMATS[request.format.encoding]}`,
        headers: { "xi-api-key": this.#apiKey, "content-type": "application/json" },
        body: JSON.stringify({
          text: request.text,
          model_id: request.modelId,
          ...languageOf(request.modelId, request.language),
          voice_settings: voiceSettingsOf(this.#settings, request.speed),
        }),
        refuse: (answer) => refuse(answer, this.#apiKey),
      },
      request,
      onChunk,
      signal,
    );
  }

  warm(): void {
    this.#vendor.warm();
  }
}

function isSocketRefused(error: unknown): boolean {
  return error instanceof VendorError && NO_SOCKET.has(error.status ?? 0);
}

function refuse(answer: RefusedAnswer, apiKey: string): VendorError {
  const detail = readDetail(answer.body);
  return refusal(VENDOR, faultOfAnswer(detail.code, answer.status), answer, detail, apiKey);
}
