import { notFound, refusalOfLookup, refuse } from "./api-error.js";
import type { ApiRequest } from "./api-request.js";

const MODELS = {
  openai: ["gpt-6-luna", "gpt-6-sol", "gpt-5.6-luna", "gpt-5-mini", "gpt-4o-mini-tts", "whisper-1"],
  groq: ["openai/gpt-oss-20b", "openai/gpt-oss-120b", "qwen/qwen3-32b", "whisper-large-v3"],
} as const;
const CREATED_SEC = 1_715_367_049;

/** `GET /models`. The list is for clients that ask for one: chat takes any name. */
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
