import * as v from "valibot";
import { streamAudio } from "../audio-stream.js";
import type { Exchange } from "../exchange.js";
import { type SpeechFault, takeFault } from "../faults.js";
import { speak, type VoiceFormat } from "../simulated-voice.js";
import { isGoodKey, type SandboxContext, type Simulator } from "../simulator.js";

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

const FORMATS: ReadonlyMap<string, VoiceFormat> = new Map<string, VoiceFormat>([
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

interface Refusal {
  readonly http: number;
  readonly status: string;
  readonly message: string;
}

const UNAUTHORIZED: Refusal = { http: 401, status: "invalid_api_key", message: "Invalid API key" };
const FAULT_REFUSALS: Partial<Record<SpeechFault, Refusal>> = {
  unauthorized: UNAUTHORIZED,
  badRequest: { http: 400, status: "unsupported_model", message: "The model cannot do this." },
  rateLimited: {
    http: 429,
    status: "too_many_concurrent_requests",
    message: "Too many concurrent requests.",
  },
  quotaExceeded: { http: 401, status: "quota_exceeded", message: "This exceeds your quota." },
  serverError: { http: 500, status: "internal_error", message: "Internal error." },
};

/** `POST /v1/text-to-speech/{voice}/stream` of ElevenLabs: audio without framing. */
export class ElevenLabsSimulator implements Simulator {
  readonly #context: SandboxContext;

  constructor(context: SandboxContext) {
    this.#context = context;
  }

  async handleRequest(exchange: Exchange): Promise<void> {
    const { journal, faults } = this.#context;
    const request = journal.nextRequest();
    const atNs = process.hrtime.bigint();
    exchange.whenAborted(() => journal.record("elevenlabs", "aborted", request));
    const isKnown = /^\/v1\/text-to-speech\/[^/]+\/stream$/.test(exchange.url.pathname);
    if (exchange.request.method !== "POST" || !isKnown) {
      exchange.answerJson(404, { detail: "Not Found" });
      return;
    }
    const parsed = v.safeParse(SpeechRequest, await exchange.readJson());
    journal.record(
      "elevenlabs",
      "request",
      request,
      parsed.success ? parsed.output.text : "",
      atNs,
    );
    const fault = takeFault(faults, "elevenlabs");
    const formatName = exchange.url.searchParams.get("output_format") ?? "mp3_44100_128";
    const format = FORMATS.get(formatName);
    const refusal = this.#refusalOf(exchange, fault);
    if (refusal !== undefined) refuse(exchange, refusal);
    else if (!parsed.success) refuseBody(exchange, parsed.issues[0]);
    else if (format === undefined) {
      refuse(exchange, { http: 400, status: "invalid_output_format", message: formatName });
    } else {
      const { text, voice_settings: settings, model_id: model } = parsed.output;
      const contextual = parsed.output.previous_text ?? parsed.output.next_text;
      const bodyRefusal = refusalOfBody(text, model, contextual);
      if (bodyRefusal !== undefined) refuse(exchange, bodyRefusal);
      else {
        const audio = await speak(text, { ...format, speed: settings?.speed ?? 1 });
        const headers = headersOf(format, request, text);
        await streamAudio(this.#context, "elevenlabs", request, exchange, headers, audio, fault);
      }
    }
  }

  #refusalOf(exchange: Exchange, fault: SpeechFault | undefined): Refusal | undefined {
    if (!isGoodKey(this.#context, exchange.header("xi-api-key"))) return UNAUTHORIZED;
    return fault === undefined ? undefined : FAULT_REFUSALS[fault];
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

function refuse(exchange: Exchange, { http, status, message }: Refusal): void {
  exchange.answerJson(http, { detail: { status, message } });
}

function refuseBody(exchange: Exchange, issue: v.BaseIssue<unknown>): void {
  const where = (v.getDotPath(issue) ?? "").split(".");
  const detail = [{ loc: ["body", ...where], msg: issue.message, type: "value_error" }];
  exchange.answerJson(422, { detail });
}
