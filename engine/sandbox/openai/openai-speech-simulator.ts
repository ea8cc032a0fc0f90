import * as v from "valibot";
import type { Exchange } from "../exchange.js";
import { type SpeechFault, takeFault } from "../faults.js";
import { isGoodKey, type SandboxContext, type Simulator } from "../simulator.js";
import { streamAudio } from "../sound/audio-stream.js";
import { speak, type VoiceFormat } from "../sound/simulated-voice.js";
import { wavHeader } from "../sound/wav-header.js";

const INPUT_CHARACTERS_MAX = 4096;

/** The vendor's schema accepts no unknown field. */
const SpeechRequest = v.strictObject({
  model: v.pipe(v.string(), v.minLength(1)),
  input: v.pipe(v.string(), v.minLength(1), v.maxLength(INPUT_CHARACTERS_MAX)),
  voice: v.union([v.pipe(v.string(), v.minLength(1)), v.strictObject({ id: v.string() })]),
  instructions: v.optional(v.pipe(v.string(), v.maxLength(INPUT_CHARACTERS_MAX))),
  response_format: v.optional(v.picklist(["mp3", "opus", "aac", "flac", "wav", "pcm"]), "mp3"),
  speed: v.optional(v.pipe(v.number(), v.minValue(0.25), v.maxValue(4)), 1),
  stream_format: v.optional(v.literal("audio")),
});
type SpeechRequest = v.InferOutput<typeof SpeechRequest>;

const FAULT_ANSWERS: Partial<
  Record<SpeechFault, readonly [status: number, type: string, code: string]>
> = {
  unauthorized: [401, "invalid_request_error", "invalid_api_key"],
  badRequest: [400, "invalid_request_error", "unsupported_value"],
  rateLimited: [429, "requests", "rate_limit_exceeded"],
  quotaExceeded: [429, "insufficient_quota", "insufficient_quota"],
  serverError: [500, "server_error", "internal_error"],
};

const OWN_MODEL = /^(?:tts-1|gpt-4o-mini-tts)/;
const VOICES = "alloy ash ballad cedar coral echo fable marin nova onyx sage shimmer verse".split(
  " ",
);

const SAMPLE_RATE_HZ = 24_000;

/** `POST /audio/speech` of OpenAI: MP3, WAV with unknown sizes, or raw PCM. */
export class OpenAiSpeechSimulator implements Simulator {
  readonly #context: SandboxContext;

  constructor(context: SandboxContext) {
    this.#context = context;
  }

  async handleRequest(exchange: Exchange): Promise<void> {
    const { journal, faults } = this.#context;
    const request = journal.nextRequest();
    const atNs = process.hrtime.bigint();
    exchange.whenAborted(() => journal.record("openaiSpeech", "aborted", request));
    const parsed = v.safeParse(SpeechRequest, await exchange.readJson());
    const text = parsed.success ? parsed.output.input : undefined;
    journal.record("openaiSpeech", "request", request, text, atNs);
    const fault = takeFault(faults, "openaiSpeech");
    const isKeyGood = isGoodKey(this.#context, exchange.bearer);
    const refusal = FAULT_ANSWERS[isKeyGood ? (fault ?? "slow") : "unauthorized"];
    if (refusal !== undefined) {
      const [status, type, code] = refusal;
      refuse(exchange, status, "The sandbox refuses this.", type, code);
    } else if (!parsed.success) {
      refuse(exchange, 400, parsed.issues[0].message, "invalid_request_error", "invalid_value");
    } else if (!hasVoice(parsed.output)) {
      const message = `Invalid value. Supported values are: ${VOICES.join(", ")}.`;
      refuse(exchange, 400, message, "invalid_request_error", "invalid_value");
    } else {
      await this.#answer(exchange, request, parsed.output, fault);
    }
  }

  async #answer(
    exchange: Exchange,
    request: number,
    { input, response_format: format, speed }: SpeechRequest,
    fault: SpeechFault | undefined,
  ): Promise<void> {
    if (format !== "mp3" && format !== "wav" && format !== "pcm") {
      refuse(
        exchange,
        400,
        `the sandbox has no ${format}`,
        "invalid_request_error",
        "unsupported_value",
      );
      return;
    }
    const codec: VoiceFormat["codec"] = format === "mp3" ? "mp3" : "pcm";
    const voice: VoiceFormat = { codec, sampleRateHz: SAMPLE_RATE_HZ, speed };
    const spoken = await speak(input, voice);
    const bytes = format === "wav" ? Buffer.concat([wavHeader(SAMPLE_RATE_HZ), spoken]) : spoken;
    const audio = { bytes, format: voice };
    const type = format === "mp3" ? "audio/mpeg" : format === "wav" ? "audio/wav" : "audio/pcm";
    const headers = { "content-type": type, "x-request-id": `req_${request}` };
    await streamAudio(this.#context, "openaiSpeech", request, exchange, headers, audio, fault);
  }
}

/** The vendor's own models have its voices; other models stand for servers with any. */
function hasVoice({ model, voice }: SpeechRequest): boolean {
  if (typeof voice !== "string" || !OWN_MODEL.test(model)) return true;
  return VOICES.includes(voice);
}

function refuse(
  exchange: Exchange,
  status: number,
  message: string,
  type: string,
  code: string,
): void {
  const headers: Record<string, string> = status === 429 ? { "retry-after": "1" } : {};
  exchange.answerJson(status, { error: { message, type, param: null, code } }, headers);
}
