import * as v from "valibot";
import type { Exchange } from "../exchange.js";
import { takeFault } from "../faults.js";
import type { SandboxContext } from "../simulator.js";
import { streamAudio } from "../sound/audio-stream.js";
import { speak, speechSec, type VoiceFormat } from "../sound/simulated-voice.js";
import {
  type Refusal,
  refusalOf,
  refuse,
  refuseBody,
  VOICE_NOT_FOUND,
} from "./elevenlabs-refusal.js";
import { isVoice } from "./voices.js";

/** The audio in base64 with the time of every character, complete or as the single line of a stream. */
export function answerTimed(
  exchange: Exchange,
  text: string,
  audio: Uint8Array,
  speed: number,
  isStream: boolean,
): void {
  const alignment = alignmentOf(text, speed);
  const audio_base64 = Buffer.from(audio).toString("base64");
  const body = { audio_base64, alignment, normalized_alignment: alignment };
  if (!isStream) exchange.answerJson(200, body);
  else
    exchange.answerText(200, `${JSON.stringify(body)}\n`, { "content-type": "text/event-stream" });
}

/** Every character takes an equal part of the text's duration. */
function alignmentOf(text: string, speed: number): object {
  const characters = Array.from(text);
  const durationSec = speechSec(text, speed);
  const at = (position: number): number => (durationSec * position) / characters.length;
  return {
    characters,
    character_start_times_seconds: characters.map((_, position) => at(position)),
    character_end_times_seconds: characters.map((_, position) => at(position + 1)),
  };
}

/** How the audio is sent: raw, or as JSON with the time of every character. */
export type AudioForm = "bare" | "timed" | "timedLines";

const TEXT_CHARACTERS_MAX = 40_000;

const SpeechRequest = v.looseObject({
  text: v.pipe(v.string(), v.minLength(1)),
  model_id: v.optional(v.string(), "eleven_multilingual_v2"),
  language_code: v.optional(v.nullable(v.string())),
  voice_settings: v.optional(
    v.nullable(
      v.looseObject({
        stability: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
        similarity_boost: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
        speed: v.optional(v.pipe(v.number(), v.minValue(0.7), v.maxValue(1.2))),
      }),
    ),
  ),
  previous_text: v.optional(v.nullable(v.string())),
  next_text: v.optional(v.nullable(v.string())),
});

export const FORMATS: ReadonlyMap<string, VoiceFormat> = new Map<string, VoiceFormat>([
  ["mp3_22050_32", { codec: "mp3", sampleRateHz: 22_050, kbps: 32 }],
  ["mp3_24000_48", { codec: "mp3", sampleRateHz: 24_000, kbps: 48 }],
  ["mp3_44100_64", { codec: "mp3", sampleRateHz: 44_100, kbps: 64 }],
  ["mp3_44100_128", { codec: "mp3", sampleRateHz: 44_100, kbps: 128 }],
  ["ulaw_8000", { codec: "mulaw", sampleRateHz: 8000 }],
  ...[8000, 16_000, 22_050, 24_000, 44_100, 48_000].map((sampleRateHz): [string, VoiceFormat] => [
    `pcm_${sampleRateHz}`,
    { codec: "pcm", sampleRateHz },
  ]),
]);

/** `POST /v1/text-to-speech/{voice}` and the paths below it: all voices sound alike. */
export async function answerSpeech(
  context: SandboxContext,
  exchange: Exchange,
  request: number,
  { voiceId, form }: { readonly voiceId: string; readonly form: AudioForm },
): Promise<void> {
  const { journal, faults } = context;
  const atNs = process.hrtime.bigint();
  const parsed = v.safeParse(SpeechRequest, await exchange.readJson());
  const said = parsed.success ? parsed.output.text : "";
  journal.record("elevenlabs", "request", request, said, atNs);
  const fault = takeFault(faults, "elevenlabs");
  const formatName = exchange.url.searchParams.get("output_format") ?? "mp3_44100_128";
  const format = FORMATS.get(formatName);
  const refusal = refusalOf(context, exchange, fault);
  if (refusal !== undefined) refuse(exchange, refusal);
  else if (!isVoice(voiceId)) refuse(exchange, VOICE_NOT_FOUND);
  else if (!parsed.success) refuseBody(exchange, parsed.issues[0]);
  else if (format === undefined) {
    refuse(exchange, { http: 400, status: "invalid_output_format", message: formatName });
  } else {
    const { text, voice_settings: settings, model_id: model } = parsed.output;
    const contextual = parsed.output.previous_text ?? parsed.output.next_text;
    const bodyRefusal = refusalOfBody(text, model, contextual);
    if (bodyRefusal !== undefined) {
      refuse(exchange, bodyRefusal);
      return;
    }
    const spoken = { ...format, speed: settings?.speed ?? 1 };
    const bytes = await speak(text, spoken);
    const audio = { bytes, format: spoken };
    const headers = headersOf(format, request, text);
    if (form === "bare") {
      await streamAudio(context, "elevenlabs", request, exchange, headers, audio, fault);
    } else answerTimed(exchange, text, bytes, spoken.speed, form === "timedLines");
  }
}

function refusalOfBody(
  text: string,
  model: string,
  contextual: string | null | undefined,
): Refusal | undefined {
  if (text.length > TEXT_CHARACTERS_MAX) {
    return { http: 400, status: "max_character_limit_exceeded", message: "The text is too long." };
  }
  if (!model.startsWith("eleven_v3") || contextual == null) return undefined;
  const message = "This model takes no previous_text and no next_text.";
  return { http: 400, status: "unsupported_model", message };
}

function headersOf(format: VoiceFormat, request: number, text: string): Record<string, string> {
  return {
    "content-type": format.codec === "mp3" ? "audio/mpeg" : "application/octet-stream",
    "request-id": `sandbox-${request}`,
    "character-cost": String(text.length),
    "current-concurrent-requests": "1",
    "maximum-concurrent-requests": "15",
  };
}
