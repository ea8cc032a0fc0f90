import type { IncomingMessage } from "node:http";
import type { DeepgramFault } from "../faults.js";
import type { RecognizerOptions } from "./recognizer.js";

export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

export interface DeepgramStreamOptions extends RecognizerOptions {
  readonly encoding: "linear16" | "mulaw";
  readonly model: string;
}

/** Deepgram's own minimum. */
const UTTERANCE_END_MS_MIN = 1000;
const ENDPOINTING_MS_DEFAULT = 10;

const FAULT_REFUSALS: ReadonlyMap<DeepgramFault, Refusal> = new Map([
  ["unauthorized", { status: 401, code: "INVALID_AUTH", message: "Invalid credentials." }],
  ["paymentRequired", { status: 402, code: "ASR_PAYMENT_REQUIRED", message: "Out of credits." }],
  [
    "forbidden",
    { status: 403, code: "INSUFFICIENT_PERMISSIONS", message: "No such model for you." },
  ],
  ["rateLimited", { status: 429, code: "TOO_MANY_REQUESTS", message: "Too many streams." }],
  ["serverError", { status: 503, code: "SERVICE_UNAVAILABLE", message: "Try again later." }],
]);

export const HANDSHAKE_FAULTS: readonly DeepgramFault[] = [
  ...FAULT_REFUSALS.keys(),
  "stallHandshake",
];

export function refusalOfFault(fault: string | undefined): Refusal | undefined {
  const refusals: ReadonlyMap<string, Refusal> = FAULT_REFUSALS;
  return fault === undefined ? undefined : refusals.get(fault);
}

/** From `Authorization: Token KEY`, `Bearer TOKEN`, or the subprotocols of a browser. */
export function keyOf(request: IncomingMessage): string | undefined {
  const header = /^(?:token|bearer) +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
  if (header !== undefined) return header;
  const [scheme, key] = (request.headers["sec-websocket-protocol"] ?? "").split(/ *, */);
  return scheme === "token" || scheme === "bearer" ? key : undefined;
}

/** The options in the query, or why it is refused. */
export function readStreamOptions(query: URLSearchParams): DeepgramStreamOptions | Refusal {
  const model = query.get("model");
  const encoding = query.get("encoding");
  const sampleRateHz = Number(query.get("sample_rate"));
  if (model === null || model === "") return invalid("model is required");
  if (encoding === null) return invalid("the sandbox takes raw audio only: give encoding");
  if (encoding !== "linear16" && encoding !== "mulaw") {
    return invalid(`the sandbox cannot decode ${encoding}: linear16 or mulaw`);
  }
  if (![8000, 16_000, 24_000, 48_000].includes(sampleRateHz)) {
    return invalid("encoding needs a sample_rate of 8000, 16000, 24000 or 48000");
  }
  if ((query.get("channels") ?? "1") !== "1") return invalid("the sandbox takes one channel");
  if (model.startsWith("nova-3") && query.has("keywords")) {
    return invalid("keywords are not supported by nova-3: use keyterm");
  }
  const keyterms = readKeyterms(query);
  if ("status" in keyterms) return keyterms;
  if (keyterms.length > 0 && !model.startsWith("nova-3")) {
    return invalid("keyterm is for nova-3 only");
  }
  const isMultilingual = query.get("language") === "multi";
  if (query.has("language_hint") && !(isMultilingual && model.startsWith("nova-3"))) {
    return invalid("language_hint is for nova-3 with language=multi");
  }
  const timing = readTiming(query);
  if ("status" in timing) return timing;
  return { ...timing, encoding, model, sampleRateHz, keyterms, isMultilingual };
}

/** All terms together have no more; the sandbox counts a token for each four bytes. */
const KEYTERM_TOKENS_MAX = 500;

/** The terms that the query names, or why they are refused. The vendor itself stops transcribing where they are too many. */
export function readKeyterms(query: URLSearchParams): readonly string[] | Refusal {
  const keyterms = query.getAll("keyterm");
  if (keyterms.includes("")) return invalid("keyterm is empty");
  const tokens = keyterms.reduce((sum, term) => sum + Math.ceil(Buffer.byteLength(term) / 4), 0);
  if (tokens > KEYTERM_TOKENS_MAX)
    return invalid(`keyterm: more than ${KEYTERM_TOKENS_MAX} tokens`);
  return keyterms;
}

function readTiming(
  query: URLSearchParams,
): Omit<RecognizerOptions, "sampleRateHz" | "keyterms" | "isMultilingual"> | Refusal {
  for (const name of ["interim_results", "vad_events", "smart_format", "punctuate", "numerals"]) {
    const value = query.get(name);
    if (value !== null && value !== "true" && value !== "false") {
      return invalid(`${name} is true or false`);
    }
  }
  const hasInterimResults = query.get("interim_results") === "true";
  const endpointing = query.get("endpointing") ?? String(ENDPOINTING_MS_DEFAULT);
  if (endpointing !== "false" && !/^\d+$/.test(endpointing)) {
    return invalid("endpointing is a number of milliseconds or false");
  }
  const utteranceEnd = query.get("utterance_end_ms");
  if (utteranceEnd !== null && !(Number(utteranceEnd) >= UTTERANCE_END_MS_MIN)) {
    return invalid(`utterance_end_ms is at least ${UTTERANCE_END_MS_MIN}, not ${utteranceEnd}`);
  }
  if (utteranceEnd !== null && !hasInterimResults) {
    return invalid("utterance_end_ms needs interim_results=true");
  }
  return {
    endpointingMs: endpointing === "false" ? undefined : Number(endpointing),
    utteranceEndMs: utteranceEnd === null ? undefined : Number(utteranceEnd),
    hasInterimResults,
    hasVoiceEvents: query.get("vad_events") === "true",
    hasMarks: query.get("punctuate") === "true" || query.get("smart_format") === "true",
  };
}

function invalid(message: string): Refusal {
  return { status: 400, code: "INVALID_QUERY_PARAMETER", message };
}
