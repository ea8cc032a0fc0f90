import * as v from "valibot";
import type { Exchange } from "../exchange.js";
import { takeFault } from "../faults.js";
import type { SandboxContext } from "../simulator.js";
import {
  decodeRecording,
  type RecognizedRecording,
  recognizeRecording,
} from "../sound/recording.js";
import { refusalOf, refuse, refuseBody } from "./elevenlabs-refusal.js";

/** The vendor takes 3 GB. */
const FORM_BYTES_MAX = 64 * 1024 * 1024;
const LOG_PROBABILITY = -0.01;

const TranscriptionForm = v.object({
  model_id: v.pipe(v.string(), v.minLength(1)),
  file: v.instance(File),
});

/** `POST /v1/speech-to-text`: a WAV or an MP3 in the tone code as text. */
export async function answerTranscription(
  context: SandboxContext,
  exchange: Exchange,
  request: number,
): Promise<void> {
  const form = await exchange.readForm(FORM_BYTES_MAX);
  const parsed = v.safeParse(TranscriptionForm, Object.fromEntries(form ?? []));
  context.journal.record("elevenlabs", "request", request);
  const refusal = refusalOf(context, exchange, takeFault(context.faults, "elevenlabs"));
  if (refusal !== undefined) {
    refuse(exchange, refusal);
    return;
  }
  if (!parsed.success) {
    refuseBody(exchange, parsed.issues[0]);
    return;
  }
  const bytes = new Uint8Array(await parsed.output.file.arrayBuffer());
  const recording = await decodeRecording(bytes);
  if (recording === undefined) {
    const message = "File upload is corrupted. Please ensure it is playable audio.";
    refuse(exchange, { http: 400, status: "invalid_content", message });
  } else exchange.answerJson(200, transcriptOf(recognizeRecording(recording)));
}

function transcriptOf({ text, words, durationSec }: RecognizedRecording): object {
  return {
    language_code: "eng",
    language_probability: text === "" ? 0 : 0.99,
    text,
    words: words.flatMap((word, position) => {
      const spoken = placed(word.text, "word", word.startMs, word.endMs);
      const next = words[position + 1];
      return next === undefined
        ? [spoken]
        : [spoken, placed(" ", "spacing", word.endMs, next.startMs)];
    }),
    audio_duration_secs: durationSec,
  };
}

function placed(text: string, type: "word" | "spacing", startMs: number, endMs: number): object {
  const [start, end] = [startMs / 1000, endMs / 1000];
  return { text, start, end, type, speaker_id: null, logprob: LOG_PROBABILITY };
}
