import * as v from "valibot";
import type { Exchange } from "../exchange.js";
import { takeFault } from "../faults.js";
import type { SandboxContext, Simulator } from "../simulator.js";
import {
  decodeRecording,
  type RecognizedRecording,
  recognizeRecording,
} from "../sound/recording.js";
import { languageOf } from "../spoken-language.js";
import { badRequest, notFound, refusalOf, refusalOfLookup, refuse } from "./api-error.js";
import type { ApiRequest } from "./api-request.js";
import { answerChatCompletion } from "./chat-completions.js";
import { answerEmbeddings } from "./embeddings.js";
import { answerResponse, answerStoredResponse, StoredResponses } from "./responses.js";
import { answerWhole } from "./whole-answer.js";

const MODELS = {
  openai: ["gpt-6-luna", "gpt-6-sol", "gpt-5.6-luna", "gpt-5-mini", "gpt-4o-mini-tts", "whisper-1"],
  groq: ["openai/gpt-oss-20b", "openai/gpt-oss-120b", "qwen/qwen3-32b", "whisper-large-v3"],
} as const;
const CREATED_SEC = 1_715_367_049;

/** `GET /models`. The list is only for clients that request it: chat accepts any name. */
export function answerModels(request: ApiRequest): void {
  const refusal = refusalOfLookup(request);
  if (refusal !== undefined) refuse(request, refusal);
  else {
    const data = MODELS[request.vendor].map((id) => modelOf(request, id));
    request.exchange.answerJson(200, { object: "list", data });
  }
}

/** `GET /models/{id}`. */
export function answerModel(request: ApiRequest, name: string): void {
  const refusal = refusalOfLookup(request);
  if (refusal !== undefined) refuse(request, refusal);
  else if (MODELS[request.vendor].some((id) => id === name)) {
    request.exchange.answerJson(200, modelOf(request, name));
  } else {
    refuse(request, notFound(`The model '${name}' does not exist`, "model", "model_not_found"));
  }
}

function modelOf({ vendor }: ApiRequest, id: string): object {
  const owner = { id, object: "model", created: CREATED_SEC, owned_by: vendor };
  if (vendor === "openai") return owner;
  return { ...owner, active: true, context_window: 131_072, public_apps: null };
}

/** The vendor's own limit. */
const FORM_BYTES_MAX = 25 * 1024 * 1024;

const TranscriptionForm = v.object({
  file: v.instance(File),
  model: v.pipe(v.string(), v.minLength(1)),
  response_format: v.optional(v.picklist(["json", "text", "verbose_json"]), "json"),
  language: v.optional(v.string()),
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
  const recognition = recognizeRecording(recording);
  if (parsed.output.response_format === "text") exchange.answerText(200, `${recognition.text}\n`);
  else {
    const groqs = vendor === "groq" ? { x_groq: { id: `req_${id}` } } : {};
    const body = { ...transcriptOf(parsed.output, recognition), ...groqs };
    await answerWhole(request, fault, body, {});
  }
}

const languageNames = new Intl.DisplayNames(["en"], { type: "language" });

/** A detected language has its English name, not a code. */
function detectedName(words: readonly string[]): string | undefined {
  return languageNames.of(languageOf(words))?.toLowerCase();
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
  const spoken = language ?? detectedName(words.map((word) => word.text));
  return {
    task: "transcribe",
    language: spoken,
    duration: durationSec,
    text,
    segments,
    words: placed,
  };
}

/** The API of OpenAI without its speech, and that of Groq, which has the same form. */
export class OpenAiSimulator implements Simulator {
  readonly #context: SandboxContext;
  readonly #vendor: ApiRequest["vendor"];
  readonly #stored = new StoredResponses();

  constructor(context: SandboxContext, vendor: ApiRequest["vendor"]) {
    this.#context = context;
    this.#vendor = vendor;
  }

  async handleRequest(exchange: Exchange): Promise<void> {
    const { journal } = this.#context;
    const id = journal.nextRequest();
    const receivedNs = process.hrtime.bigint();
    exchange.whenAborted(() => journal.record(this.#vendor, "aborted", id));
    const request = { context: this.#context, vendor: this.#vendor, exchange, id, receivedNs };
    const { pathname } = exchange.url;
    const route = `${exchange.request.method} ${pathname}`;
    const responseName = /^GET \/responses\/([^/]+)$/.exec(route)?.[1];
    const modelName = /^GET \/models\/(.+)$/.exec(route)?.[1];
    if (route === "POST /chat/completions") await answerChatCompletion(request);
    else if (route === "POST /embeddings" && this.#vendor === "openai") {
      await answerEmbeddings(request);
    } else if (route === "POST /audio/transcriptions") await answerTranscription(request);
    else if (route === "GET /models") answerModels(request);
    else if (modelName !== undefined) answerModel(request, decodeURIComponent(modelName));
    else if (route === "POST /responses") await answerResponse(request, this.#stored);
    else if (responseName !== undefined) answerStoredResponse(request, this.#stored, responseName);
    else refuse(request, notFound(`Invalid URL (${route})`, "url", null));
  }
}
