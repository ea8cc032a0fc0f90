import type { Refusal } from "./deepgram-handshake.js";

export interface FluxThresholds {
  readonly eotThreshold: number;
  /** Undefined: no eager ends. */
  readonly eagerEotThreshold: number | undefined;
  readonly eotTimeoutMs: number;
}

export interface FluxOptions extends FluxThresholds {
  readonly encoding: "linear16" | "mulaw";
  readonly sampleRateHz: number;
}

/** The names of version 1 do not exist here. */
const FORBIDDEN = ["endpointing", "interim_results", "utterance_end_ms", "vad_events", "language"];

/** What the query of `/v2/listen` asks for, or why it is refused. */
export function readFluxOptions(query: URLSearchParams): FluxOptions | Refusal {
  const model = query.get("model");
  const encoding = query.get("encoding");
  const sampleRateHz = Number(query.get("sample_rate"));
  if (model !== "flux-general-en" && model !== "flux-general-multi") {
    return invalid("model is flux-general-en or flux-general-multi");
  }
  if (encoding !== "linear16" && encoding !== "mulaw") {
    return invalid("the sandbox takes raw audio only: encoding linear16 or mulaw");
  }
  if (![8000, 16_000, 24_000, 48_000].includes(sampleRateHz)) {
    return invalid("encoding needs a sample_rate of 8000, 16000, 24000 or 48000");
  }
  const forbidden = FORBIDDEN.find((name) => query.has(name));
  if (forbidden !== undefined) return invalid(`${forbidden} is not a parameter of v2`);
  if (query.has("language_hint") && model !== "flux-general-multi") {
    return invalid("language_hint is for flux-general-multi");
  }
  const eager = query.get("eager_eot_threshold");
  const thresholds = readThresholds({
    eot_threshold: Number(query.get("eot_threshold") ?? 0.7),
    eager_eot_threshold: eager === null ? undefined : Number(eager),
    eot_timeout_ms: Number(query.get("eot_timeout_ms") ?? 5000),
  });
  return typeof thresholds === "string"
    ? invalid(thresholds)
    : { ...thresholds, encoding, sampleRateHz };
}

/** The thresholds by their names on the wire; or what is wrong with them. */
export function readThresholds(given: {
  readonly eot_threshold: number;
  readonly eager_eot_threshold: number | undefined;
  readonly eot_timeout_ms: number;
}): FluxThresholds | string {
  const { eot_threshold: eot, eager_eot_threshold: eager, eot_timeout_ms: timeoutMs } = given;
  if (!(eot >= 0.5 && eot <= 1)) return "eot_threshold is from 0.5 to 1";
  if (eager !== undefined && !(eager >= 0.3 && eager <= eot)) {
    return "eager_eot_threshold is from 0.3 to eot_threshold";
  }
  if (!(timeoutMs >= 500 && timeoutMs <= 60_000)) return "eot_timeout_ms is from 500 to 60000";
  return { eotThreshold: eot, eagerEotThreshold: eager, eotTimeoutMs: timeoutMs };
}

function invalid(message: string): Refusal {
  return { status: 400, code: "INVALID_QUERY_PARAMETER", message };
}
