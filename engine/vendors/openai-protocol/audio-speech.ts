import * as v from "valibot";
import { MP3, PCM_24K } from "../../audio/audio-format.js";
import { refuseOpenAi } from "../chat-completions/openai-refusal.js";
import type { SpeechRequest, TextToSpeech } from "../contracts.js";
import { speechAbilities } from "../model-catalog.js";
import { name, words } from "../setting-fields.js";
import { HttpVendor } from "../transport/http-vendor.js";
import { downloadSpeech } from "../transport/speech-download.js";
import {
  bearer,
  parseSettings,
  requireApiKey,
  type VendorContext,
  type VendorSettings,
} from "../vendor-settings.js";

const INSTRUCTIONS_CHARACTERS_MAX = 4_096;

/** The settings of a TTS that uses OpenAI's protocol. */
export function audioSpeechFields(voice: string) {
  return {
    voice: v.optional(name(), voice),
    /** Speaking instructions, for models that support them (not tts-1 and tts-1-hd). */
    instructions: v.optional(words(INSTRUCTIONS_CHARACTERS_MAX)),
  };
}

export interface AudioSpeechDialect {
  readonly vendor: string;
  readonly publicUrl: string;
  readonly isKeyRequired: boolean;
  readonly fields: ReturnType<typeof audioSpeechFields>;
}

/** The documented range; a value outside it makes the vendor refuse the whole sentence. */
const SPEED_MIN = 0.25;
const SPEED_MAX = 4;

/** OpenAI's speech endpoint, and compatible ones. */
export class AudioSpeech implements TextToSpeech {
  readonly formats = [MP3, PCM_24K];
  readonly #vendor: HttpVendor;
  readonly #apiKey: string | undefined;
  readonly #settings: v.InferOutput<v.ObjectSchema<AudioSpeechDialect["fields"], undefined>>;

  constructor(dialect: AudioSpeechDialect, given: VendorSettings, context: VendorContext) {
    const { vendor, publicUrl, isKeyRequired, fields } = dialect;
    this.#vendor = new HttpVendor(vendor, given, publicUrl, context);
    this.#apiKey = isKeyRequired ? requireApiKey(vendor, given) : given.apiKey;
    this.#settings = parseSettings(vendor, fields, given);
  }

  synthesize(
    request: SpeechRequest,
    onChunk: (audio: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { voice, instructions } = this.#settings;
    const abilities = speechAbilities("openai", request.modelId);
    const takesDirections = instructions !== undefined && abilities.instructions !== false;
    return downloadSpeech(
      this.#vendor,
      {
        path: "/audio/speech",
        headers: { ...bearer(this.#apiKey), "content-type": "application/json" },
        body: JSON.stringify({
          model: request.modelId,
          voice,
          input: request.text,
          response_format: request.format.encoding === "pcm16" ? "pcm" : "mp3",
          speed: Math.min(SPEED_MAX, Math.max(SPEED_MIN, request.speed)),
          ...(takesDirections ? { instructions } : {}),
        }),
        refuse: refuseOpenAi(this.#vendor.name, this.#apiKey),
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
