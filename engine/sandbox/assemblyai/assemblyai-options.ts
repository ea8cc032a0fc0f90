export interface AssemblyAiOptions {
  readonly encoding: "linear16" | "mulaw";
  readonly sampleRateHz: number;
  readonly minTurnSilenceMs: number;
  readonly maxTurnSilenceMs: number;
  readonly confidenceThreshold: number;
}

const MIN_TURN_SILENCE_MS = 400;
const MAX_TURN_SILENCE_MS = 1280;
const CONFIDENCE_THRESHOLD = 0.4;

/** What the query of `/v3/ws` asks for, or in words what is wrong with it. */
export function readAssemblyAiOptions(query: URLSearchParams): AssemblyAiOptions | string {
  const encoding = query.get("encoding") ?? "pcm_s16le";
  const sampleRateHz = Number(query.get("sample_rate") ?? 16_000);
  if ((query.get("speech_model") ?? "") === "") return "speech_model is required";
  if (encoding !== "pcm_s16le" && encoding !== "pcm_mulaw") {
    return "the sandbox takes raw audio only: encoding pcm_s16le or pcm_mulaw";
  }
  if (![8000, 16_000, 24_000, 48_000].includes(sampleRateHz)) {
    return "the sandbox takes a sample_rate of 8000, 16000, 24000 or 48000";
  }
  return {
    encoding: encoding === "pcm_mulaw" ? "mulaw" : "linear16",
    sampleRateHz,
    minTurnSilenceMs: Number(query.get("min_turn_silence") ?? MIN_TURN_SILENCE_MS),
    maxTurnSilenceMs: Number(query.get("max_turn_silence") ?? MAX_TURN_SILENCE_MS),
    confidenceThreshold: Number(
      query.get("end_of_turn_confidence_threshold") ?? CONFIDENCE_THRESHOLD,
    ),
  };
}
