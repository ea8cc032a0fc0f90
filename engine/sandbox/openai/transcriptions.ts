import * as v from "valibot";
import { takeFault } from "../faults.js";
import {
  decodeRecording,
  type RecognizedRecording,
  recognizeRecording,
} from "../sound/recording.js";
import { badRequest, refusalOf, refuse } from "./api-error.js";
import type { ApiRequest } from "./api-request.js";
import { answerWhole } from "./whole-answer.js";

/** The vendor's own limit. */
const FORM_BYTES_MAX = 25 * 1024 * 1024;

const TranscriptionForm = v.object({
  file: v.instance(File),
  model: v.pipe(v.string(), v.minLength(1)),
  response_format: v.optional(v.picklist(["json", "text", "verbose_json"]), "json"),
  language: v.optional(v.string(), "en"),
});
type TranscriptionForm = v.InferOutput<typeof TranscriptionForm>;

/** `POST /audio/transcriptions`: a WAV or an MP3 in the tone code as text. */
export async function answerTranscription(request: ApiRequest): Promise<void> {
  const { context, vendor, exchange, id, receivedNs } = request;
  const form = await exchange.readForm(FORM_BYTES_MAX);
  const parsed = v.safeParse(TranscriptionForm, Object.fromEntries(form ?? []));
  context.journal.record(vendor, "request", id, undefined, receivedNs);
  const fault = takeFault(context.faults, vendor);
  const refusal = refusalOf(request, fault);
  if (refusal !== undefined) {
    refuse(request, refusal);
    return;
  }
  if (!parsed.success) {
    const issue = parsed.issues[0];
    refuse(request, badRequest(issue.message, v.getDotPath(issue) ?? "body", null));
    return;
  }
  const bytes = new Uint8Array(await parsed.output.file.arrayBuffer());
  const recording = await decodeRecording(bytes);
  if (recording === undefined) {
    const message = "The audio file could not be decoded or its format is not supported.";
    refuse(request, badRequest(message, "file", "invalid_value"));
    return;
  }
  const heard = recognizeRecording(recording);
  if (parsed.output.response_format === "text") exchange.answerText(200, `${heard.text}\n`);
  else {
    const groqs = vendor === "groq" ? { x_groq: { id: `req_${id}` } } : {};
    const body = { ...transcriptOf(parsed.output, heard), ...groqs };
    await answerWhole(request, fault, body, {});
  }
}

function transcriptOf(
  { response_format, language }: TranscriptionForm,
  { text, words, durationSec }: RecognizedRecording,
): object {
  if (response_format === "json") {
    return { text, usage: { type: "duration", seconds: Math.ceil(durationSec) } };
  }
  const placed = words.map((word) => ({
    word: word.text,
    start: word.startMs / 1000,
    end: word.endMs / 1000,
  }));
  const segment = { id: 0, seek: 0, start: 0, end: durationSec, text, tokens: [] };
  const scores = { temperature: 0, avg_logprob: -0.1, compression_ratio: 1, no_speech_prob: 0 };
  const segments = text === "" ? [] : [{ ...segment, ...scores }];
  return { task: "transcribe", language, duration: durationSec, text, segments, words: placed };
}
