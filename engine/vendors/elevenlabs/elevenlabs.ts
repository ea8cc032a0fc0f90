import * as v from "valibot";
import { MP3, MULAW_8K, PCM_24K } from "../../audio/audio-format.js";
import type { SpeechRequest, TextToSpeech, VendorError, VendorFault } from "../contracts.js";
import { HTTP_PROTOCOLS, numberFrom, text } from "../setting-fields.js";
import type { RefusedAnswer } from "../transport/http-stream.js";
import { HttpVendor } from "../transport/http-vendor.js";
import { downloadSpeech } from "../transport/speech-download.js";
import { BASE_URL, setting, type Vendor } from "../vendor.js";
import { faultOfStatus, refusal } from "../vendor-fault.js";
import { tryParse } from "../vendor-json.js";
import {
  parseSettings,
  requireApiKey,
  type VendorContext,
  type VendorSettings,
} from "../vendor-settings.js";

const VENDOR = "elevenlabs";
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
};

export const ELEVENLABS: Vendor = {
  key: VENDOR,
  apiKey: { isRequired: true, variable: "ELEVENLABS_API_KEY" },
  address: { variable: "ELEVENLABS_BASE_URL", publicUrl: PUBLIC_URL, protocols: HTTP_PROTOCOLS },
  tts: {
    displayName: "ElevenLabs",
    models: [
      {
        modelId: "eleven_flash_v2_5",
        label: "Flash v2.5",
        description: "Lowest delay",
        plan: "starter",
      },
      { modelId: "eleven_turbo_v2_5", label: "Turbo v2.5", plan: "pro" },
      { modelId: "eleven_multilingual_v2", label: "Multilingual v2", plan: "pro" },
    ],
    fields: ELEVENLABS_FIELDS,
    settings: [
      setting("voiceId", "Voice id", "string"),
      setting("stability", "Stability, 0 to 1", "number"),
      setting("similarityBoost", "Similarity to the voice, 0 to 1", "number"),
      setting("style", "Style, 0 to 1", "number"),
      BASE_URL,
    ],
    client: (given, context) => new ElevenLabs(given, context),
  },
};

/** The documented range; a value outside it would refuse the whole sentence. */
const SPEED_MIN = 0.7;
const SPEED_MAX = 1.2;

/** Only these models take a language; others find it out from the text and refuse the field. */
const TAKES_LANGUAGE = /_v2_5$/;

const OUTPUT_FORMATS = { mp3: "mp3_24000_48", mulaw: "ulaw_8000", pcm16: "pcm_24000" } as const;

const detailSchema = v.object({
  status: v.optional(v.string()),
  code: v.optional(v.string()),
  message: v.optional(v.string()),
});

/** The list is that of a request that does not fit; its entries also quote the text, which is left out. */
const bodySchema = v.object({
  // The list stands first: to an object's schema whose fields are all optional, a list is an object too.
  detail: v.union([v.string(), v.array(v.object({ msg: v.optional(v.string()) })), detailSchema]),
});

class ElevenLabs implements TextToSpeech {
  readonly formats = [MP3, MULAW_8K, PCM_24K];
  readonly #vendor: HttpVendor;
  readonly #apiKey: string;
  readonly #settings: v.InferOutput<v.ObjectSchema<typeof ELEVENLABS_FIELDS, undefined>>;

  constructor(given: VendorSettings, context: VendorContext) {
    this.#vendor = new HttpVendor(VENDOR, given, PUBLIC_URL, context);
    this.#apiKey = requireApiKey(VENDOR, given);
    this.#settings = parseSettings(VENDOR, ELEVENLABS_FIELDS, given);
  }

  synthesize(
    request: SpeechRequest,
    onChunk: (audio: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { voiceId, stability, similarityBoost, style } = this.#settings;
    const path = `/v1/text-to-speech/${encodeURIComponent(voiceId)}/stream`;
    return downloadSpeech(
      this.#vendor,
      {
        path: `${path}?output_format=${OUTPUT_FORMATS[request.format.encoding]}`,
        headers: { "xi-api-key": this.#apiKey, "content-type": "application/json" },
        body: JSON.stringify({
          text: request.text,
          model_id: request.modelId,
          ...(TAKES_LANGUAGE.test(request.modelId)
            ? { language_code: request.language.split("-", 1)[0] }
            : {}),
          voice_settings: {
            stability,
            similarity_boost: similarityBoost,
            style,
            speed: Math.min(SPEED_MAX, Math.max(SPEED_MIN, request.speed)),
          },
        }),
        refuse: (answer) => refuse(answer, this.#apiKey),
      },
      onChunk,
      signal,
    );
  }

  warm(): void {
    this.#vendor.warm();
  }
}

function refuse(answer: RefusedAnswer, apiKey: string): VendorError {
  const { code, message } = readDetail(answer.body);
  const fault = FAULTS.get(code ?? "") ?? faultOfStatus(answer.status);
  return refusal(VENDOR, fault, answer, { code, message }, apiKey);
}

function readDetail(body: string): { code: string | undefined; message: string | undefined } {
  const detail = tryParse(bodySchema, body)?.value.detail;
  if (detail === undefined || typeof detail === "string") {
    return { code: undefined, message: detail };
  }
  if (Array.isArray(detail)) {
    const messages = detail.map(({ msg }) => msg ?? "").filter((msg) => msg !== "");
    return { code: "validation_error", message: messages.join("; ") };
  }
  return { code: detail.status ?? detail.code, message: detail.message };
}

/** ElevenLabs gives one word different statuses: out of quota has been seen as 400 and as 401. */
const FAULTS: ReadonlyMap<string, VendorFault> = new Map([
  ["quota_exceeded", "quotaExceeded"],
  ["too_many_concurrent_requests", "rateLimited"],
  ["system_busy", "unavailable"],
  ["voice_not_found", "notFound"],
]);
