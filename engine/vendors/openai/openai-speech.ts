import type * as v from "valibot";
import { refuseOpenAi } from "../chat-completions/openai-refusal.js";
import type { SpeechRequest, TextToSpeech } from "../contracts.js";
import { OPENAI_SPEECH_FIELDS } from "../setting-fields.js";
import { HttpVendor } from "../transport/http-vendor.js";
import { downloadSpeech } from "../transport/speech-download.js";
import {
  parseSettings,
  requireApiKey,
  type VendorContext,
  type VendorSettings,
} from "../vendor-settings.js";

const VENDOR = "openai";

/** The documented range; a value outside it would refuse the whole sentence. */
const SPEED_MIN = 0.25;
const SPEED_MAX = 4;

/** OpenAI's speech endpoint, and others that copy it. */
export class OpenAiSpeech implements TextToSpeech {
  readonly formats = ["mp3", "pcm24k"] as const;
  readonly #vendor: HttpVendor;
  readonly #apiKey: string;
  readonly #settings: v.InferOutput<v.ObjectSchema<typeof OPENAI_SPEECH_FIELDS, undefined>>;

  constructor(given: VendorSettings, context: VendorContext) {
    this.#vendor = new HttpVendor(VENDOR, given, "https://api.openai.com/v1", context);
    this.#apiKey = requireApiKey(VENDOR, given);
    this.#settings = parseSettings(VENDOR, OPENAI_SPEECH_FIELDS, given);
  }

  synthesize(
    request: SpeechRequest,
    onChunk: (audio: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { voice, instructions } = this.#settings;
    const takesDirections = instructions !== undefined && !request.modelId.startsWith("tts-1");
    return downloadSpeech(
      this.#vendor,
      {
        path: "/audio/speech",
        headers: {
          authorization: `Bearer ${this.#apiKey}`,
          "content-type": "application/json",
        },
        body: JSON.stringify({
          model: request.modelId,
          voice,
          input: request.text,
          response_format: request.format === "pcm24k" ? "pcm" : "mp3",
          speed: Math.min(SPEED_MAX, Math.max(SPEED_MIN, request.speed)),
          ...(takesDirections ? { instructions } : {}),
        }),
        refuse: refuseOpenAi(VENDOR, this.#apiKey),
      },
      onChunk,
      signal,
    );
  }

  warm(): void {
    this.#vendor.warm();
  }
}
