import { createHash, randomUUID } from "node:crypto";
import type { Exchange } from "../exchange.js";
import { takeFault } from "../faults.js";
import { isGoodKey, type SandboxContext } from "../simulator.js";
import type { Sound } from "../sound/raw-audio.js";
import {
  decodeRecording,
  type RecognizedRecording,
  recognizeRecording,
} from "../sound/recording.js";
import { decodeMuLaw, samplesOf } from "../telephone/telephone-audio.js";
import { HANDSHAKE_FAULTS, keyOf, type Refusal, refusalOfFault } from "./deepgram-handshake.js";
import { recognized } from "./recognizer.js";

/** The one project of the sandbox. */
export const PROJECT_ID = "00000000-0000-4000-8000-00000000aaaa";
const KEY_ID = "00000000-0000-4000-8000-00000000bbbb";
const CREATED = "2026-01-01T00:00:00.000000Z";
const TOKEN_LIVES_SEC = 30;

export function project(): object {
  return { project_id: PROJECT_ID, name: "Sandbox", mip_opt_out: false };
}

/** `GET /v1/auth/token`: about the request's own key. */
export function keyDetails(): object {
  return {
    api_key_id: KEY_ID,
    scopes: ["usage:write"],
    tags: [],
    created: CREATED,
    accessor: KEY_ID,
    accounts: [PROJECT_ID],
  };
}

/** `POST /v1/auth/grant`: a token for a browser. The sandbox accepts it as a key only while it accepts any key. */
export function grantedToken(): object {
  return { access_token: "sandbox-access-token", expires_in: TOKEN_LIVES_SEC };
}

export function models(): object {
  const model = {
    name: "nova-3",
    canonical_name: "nova-3-general",
    architecture: "nova-3",
    languages: ["en", "en-US", "es"],
    version: "sandbox",
    uuid: "00000000-0000-4000-8000-000000000000",
    batch: true,
    streaming: true,
    formatted_output: true,
  };
  return { stt: [model], tts: [] };
}

/** An hour of WAV; the vendor accepts 2 GB. */
const BODY_BYTES_MAX = 128 * 1024 * 1024;
const CONFIDENCE = 0.99;
const MODEL_UUID = "00000000-0000-4000-8000-000000000000";
const SAMPLE_RATE_HZ_MIN = 8000;

/** `POST /v1/listen`: a WAV or MP3, or raw samples with a declared encoding, in the tone code. */
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
  const recognition = recognizeRecording(sound);
  return {
    metadata: {
      transaction_key: "deprecated",
      request_id: requestId,
      sha256: createHash("sha256").update(bytes).digest("hex"),
      created: new Date().toISOString(),
      duration: recognition.durationSec,
      channels: 1,
      models: [MODEL_UUID],
      model_info: { [MODEL_UUID]: modelInfo(query.get("model") ?? "nova-3") },
    },
    results: resultsOf(recognition, query),
  };
}

function resultsOf(
  { text, words, durationSec }: RecognizedRecording,
  query: URLSearchParams,
): object {
  const confidence = text === "" ? 0 : CONFIDENCE;
  const recognizedWords = words.map(recognized);
  const alternative = { transcript: text, confidence, words: recognizedWords };
  const language = query.get("detect_language") === "true" ? { detected_language: "en" } : {};
  const channels = [{ alternatives: [alternative], ...language }];
  if (query.get("utterances") !== "true") return { channels };
  const utterance = { start: 0, end: durationSec, confidence, channel: 0, transcript: text };
  return {
    channels,
    utterances: text === "" ? [] : [{ ...utterance, words: recognizedWords, id: MODEL_UUID }],
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

/** Deepgram over plain HTTP: recordings, and the account requests of its SDKs. */
export async function answerRest(context: SandboxContext, exchange: Exchange): Promise<void> {
  const { journal } = context;
  const requestId = randomUUID();
  const request = journal.nextRequest();
  exchange.whenAborted(() => journal.record("deepgram", "aborted", request));
  journal.record("deepgram", "request", request);
  const fault = takeFault(context.faults, "deepgram", HANDSHAKE_FAULTS);
  if (fault === "stallHandshake") await exchange.stall();
  const isKeyGood = isGoodKey(context, keyOf(exchange.request));
  const refusal = refusalOfFault(isKeyGood ? fault : "unauthorized");
  const answer = refusal ?? (await answerOf(exchange, requestId));
  if (isRefusal(answer)) {
    refuse(exchange, answer, requestId);
    journal.record("deepgram", "fault", request, String(answer.status));
  } else {
    exchange.answerJson(200, answer, { "dg-request-id": requestId });
    journal.record("deepgram", "lastByte", request);
  }
}

async function answerOf(exchange: Exchange, requestId: string): Promise<object> {
  const { pathname } = exchange.url;
  switch (`${exchange.request.method} ${pathname}`) {
    case "POST /v1/listen":
      return transcribe(exchange, requestId);
    case "GET /v1/projects":
      return { projects: [project()] };
    case `GET /v1/projects/${PROJECT_ID}`:
      return project();
    case "GET /v1/auth/token":
      return keyDetails();
    case "POST /v1/auth/grant":
      return grantedToken();
    case "GET /v1/models":
    case `GET /v1/projects/${PROJECT_ID}/models`:
      return models();
    default:
      return notFound(pathname);
  }
}

function notFound(pathname: string): Refusal {
  return pathname.startsWith("/v1/projects/")
    ? { status: 404, code: "PROJECT_NOT_FOUND", message: "Project not found." }
    : { status: 404, code: "NOT_FOUND", message: "Not found." };
}

function isRefusal(answer: object): answer is Refusal {
  return "status" in answer && "code" in answer;
}

function refuse(exchange: Exchange, { status, code, message }: Refusal, requestId: string): void {
  const headers = { "dg-request-id": requestId, "dg-error": message };
  const retry = status === 429 ? { "retry-after": "1" } : {};
  const body = { err_code: code, err_msg: message, request_id: requestId };
  exchange.answerJson(status, body, { ...headers, ...retry });
}
