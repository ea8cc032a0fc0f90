import { createHash } from "node:crypto";
import type { Exchange } from "../exchange.js";
import {
  decodeRecording,
  type RecognizedRecording,
  recognizeRecording,
} from "../sound/recording.js";
import type { Sound } from "../sound/resampling.js";
import { decodeMuLaw, samplesOf } from "../telephone/telephone-audio.js";
import type { Refusal } from "./deepgram-handshake.js";
import { recognized } from "./recognizer.js";

/** An hour of WAV; the vendor takes 2 GB. */
const BODY_BYTES_MAX = 128 * 1024 * 1024;
const CONFIDENCE = 0.99;
const MODEL_UUID = "00000000-0000-4000-8000-000000000000";
const SAMPLE_RATE_HZ_MIN = 8000;

/** `POST /v1/listen`: a WAV or MP3, or raw samples whose encoding is named, in the tone code. */
export async function transcribe(exchange: Exchange, requestId: string): Promise<object> {
  const query = exchange.url.searchParams;
  const bytes = await exchange.readBytes(BODY_BYTES_MAX);
  if (bytes === undefined) return badRequest("the sandbox takes no recording of this size");
  if ((exchange.header("content-type") ?? "").startsWith("application/json")) {
    return badRequest(
      "the sandbox fetches no recordings: send the audio itself",
      "REMOTE_CONTENT_ERROR",
    );
  }
  const sound = query.has("encoding") ? readRaw(bytes, query) : await decodeRecording(bytes);
  if (sound === undefined) {
    return badRequest("Bad Request: failed to process audio: corrupt or unsupported data");
  }
  const heard = recognizeRecording(sound);
  return {
    metadata: {
      transaction_key: "deprecated",
      request_id: requestId,
      sha256: createHash("sha256").update(bytes).digest("hex"),
      created: new Date().toISOString(),
      duration: heard.durationSec,
      channels: 1,
      models: [MODEL_UUID],
      model_info: { [MODEL_UUID]: modelInfo(query.get("model") ?? "nova-3") },
    },
    results: resultsOf(heard, query),
  };
}

function resultsOf(
  { text, words, durationSec }: RecognizedRecording,
  query: URLSearchParams,
): object {
  const confidence = text === "" ? 0 : CONFIDENCE;
  const told = words.map(recognized);
  const alternative = { transcript: text, confidence, words: told };
  const language = query.get("detect_language") === "true" ? { detected_language: "en" } : {};
  const channels = [{ alternatives: [alternative], ...language }];
  if (query.get("utterances") !== "true") return { channels };
  const utterance = { start: 0, end: durationSec, confidence, channel: 0, transcript: text };
  return {
    channels,
    utterances: text === "" ? [] : [{ ...utterance, words: told, id: MODEL_UUID }],
  };
}

function readRaw(bytes: Buffer, query: URLSearchParams): Sound | undefined {
  const sampleRateHz = Number(query.get("sample_rate"));
  if (!(sampleRateHz >= SAMPLE_RATE_HZ_MIN)) return undefined;
  const encoding = query.get("encoding");
  if (encoding === "linear16") return { pcm: samplesOf(bytes), sampleRateHz };
  return encoding === "mulaw" ? { pcm: decodeMuLaw(bytes), sampleRateHz } : undefined;
}

function modelInfo(name: string): object {
  return { name, version: "sandbox", arch: name };
}

function badRequest(message: string, code = "Bad Request"): Refusal {
  return { status: 400, code, message };
}
