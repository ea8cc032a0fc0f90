import * as v from "valibot";
import type { VendorFault } from "../contracts.js";
import { speechAbilities } from "../model-catalog.js";
import { faultOfStatus, type RefusalDetail } from "../vendor-fault.js";
import { tryParse } from "../vendor-json.js";

export const VENDOR = "elevenlabs";

/** The documented range; a value outside it would refuse the whole sentence. */
const SPEED_MIN = 0.7;
const SPEED_MAX = 1.2;

export const OUTPUT_FORMATS = {
  mp3: "mp3_24000_48",
  mulaw: "ulaw_8000",
  pcm16: "pcm_24000",
} as const;

export interface VoiceSettings {
  readonly stability?: number | undefined;
  readonly similarityBoost?: number | undefined;
  readonly style?: number | undefined;
}

export function voiceSettingsOf(settings: VoiceSettings, speed: number): object {
  const { stability, similarityBoost, style } = settings;
  return {
    stability,
    similarity_boost: similarityBoost,
    style,
    speed: Math.min(SPEED_MAX, Math.max(SPEED_MIN, speed)),
  };
}

export function languageOf(modelId: string, language: string): { readonly language_code?: string } {
  const [code] = language.split("-", 1);
  // Others find it out from the text, and refuse the field.
  const takesLanguage = speechAbilities(VENDOR, modelId).language === true;
  return takesLanguage && code !== undefined ? { language_code: code } : {};
}

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

export function readDetail(body: string): RefusalDetail {
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
  ["invalid_api_key", "unauthorized"],
  ["quota_exceeded", "quotaExceeded"],
  ["too_many_concurrent_requests", "rateLimited"],
  ["system_busy", "unavailable"],
  ["voice_not_found", "notFound"],
]);

export function faultOfAnswer(code: string | undefined, status: number): VendorFault {
  return FAULTS.get(code ?? "") ?? faultOfStatus(status);
}
