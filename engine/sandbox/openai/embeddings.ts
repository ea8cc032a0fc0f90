import * as v from "valibot";
import { type EmbeddingFault, takeFault } from "../faults.js";
import { type ApiError, badRequest, notFound, refusalOf, refuse } from "./api-error.js";
import type { ApiRequest } from "./api-request.js";

/** The vendor's own limits. */
const TEXTS_MAX = 2_048;
const TOKENS_PER_TEXT_MAX = 8_192;
const TOKENS_MAX = 300_000;
const CHARACTERS_PER_TOKEN = 4;

interface SimulatedModel {
  readonly dimensions: number;
  readonly canShorten: boolean;
}

const MODELS: Readonly<Record<string, SimulatedModel>> = {
  "text-embedding-3-small": { dimensions: 1_536, canShorten: true },
  "text-embedding-3-large": { dimensions: 3_072, canShorten: true },
  "text-embedding-ada-002": { dimensions: 1_536, canShorten: false },
};
/** A self-hosted server has models of any name. */
const OTHER_MODEL: SimulatedModel = { dimensions: 384, canShorten: false };

const EmbeddingsRequest = v.looseObject({
  model: v.pipe(v.string(), v.minLength(1)),
  input: v.pipe(
    v.union([v.string(), v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(TEXTS_MAX))]),
    v.transform((input) => (typeof input === "string" ? [input] : input)),
    v.everyItem((text) => text !== "", "input cannot be an empty string"),
  ),
  encoding_format: v.optional(v.picklist(["float", "base64"]), "float"),
  dimensions: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
});
type EmbeddingsRequest = v.InferOutput<typeof EmbeddingsRequest>;

/** `POST /embeddings`. Its faults are those of `openaiEmbeddings`, so that the LLM of the same key can work meanwhile. */
export async function answerEmbeddings(request: ApiRequest): Promise<void> {
  const { context, vendor, exchange, id, receivedNs } = request;
  const parsed = v.safeParse(EmbeddingsRequest, await exchange.readJson());
  context.journal.record(vendor, "request", id, undefined, receivedNs);
  const fault = takeFault(context.faults, "openaiEmbeddings");
  const refusal = refusalOf(request, refusedFault(fault));
  if (refusal !== undefined) return refuse(request, refusal);
  if (!parsed.success) {
    const [issue] = parsed.issues;
    return refuse(request, badRequest(issue.message, v.getDotPath(issue) ?? "body", null));
  }
  const model = MODELS[parsed.output.model] ?? (context.isOpen ? OTHER_MODEL : undefined);
  const misfit = refusalOfModel(parsed.output, model);
  if (misfit !== undefined || model === undefined) {
    return refuse(request, misfit ?? noSuchModel(parsed.output));
  }
  if (fault === "stallBeforeFirstByte") await exchange.stall();
  await exchange.pause(context.faults.openaiEmbeddings.firstByteMs ?? 0);
  if (fault === "disconnectBeforeFirstByte") return exchange.disconnect();
  if (fault === "garbageJson") exchange.answerText(200, '{"object":"list","data":[', {});
  else exchange.answerJson(200, answerOf(parsed.output, model, fault));
  context.journal.record(vendor, "lastByte", id);
}

function refusedFault(fault: EmbeddingFault | undefined) {
  return fault === "missingVector" || fault === "shortVectors" ? undefined : fault;
}

function noSuchModel({ model }: EmbeddingsRequest): ApiError {
  return notFound(`The model \`${model}\` does not exist.`, "model", "model_not_found");
}

function refusalOfModel(
  { input, dimensions }: EmbeddingsRequest,
  model: SimulatedModel | undefined,
): ApiError | undefined {
  if (model === undefined) return undefined;
  if (dimensions !== undefined && !model.canShorten) {
    return badRequest("This model does not support specifying dimensions.", "dimensions", null);
  }
  if (dimensions !== undefined && dimensions > model.dimensions) {
    const message = `Invalid value for 'dimensions' = ${dimensions}. Must be less than or equal to ${model.dimensions}.`;
    return badRequest(message, "dimensions", null);
  }
  const tokens = input.map(tokensOf);
  const isTooLong = tokens.some((count) => count > TOKENS_PER_TEXT_MAX);
  if (!isTooLong && tokens.reduce((sum, count) => sum + count, 0) <= TOKENS_MAX) return undefined;
  return badRequest("This model's maximum context length is 8192 tokens.", "input", null);
}

function answerOf(
  { model, input, encoding_format, dimensions }: EmbeddingsRequest,
  simulated: SimulatedModel,
  fault: EmbeddingFault | undefined,
): object {
  const count = dimensions ?? simulated.dimensions;
  const texts = fault === "missingVector" ? input.slice(0, -1) : input;
  const data = texts.map((text, index) => {
    const vector = gramVector(text, fault === "shortVectors" ? count - 1 : count);
    const embedding =
      encoding_format === "base64"
        ? Buffer.from(vector.buffer).toString("base64")
        : Array.from(vector, (value) => Math.round(value * 1e8) / 1e8);
    return { object: "embedding", index, embedding };
  });
  const tokens = input.reduce((sum, text) => sum + tokensOf(text), 0);
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  return { object: "list", data, model, usage };
}

function tokensOf(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}

const GRAM_CHARACTERS = [3, 4, 5] as const;

/**
 * The words of a text and their parts of three to five characters, each hashed to one dimension and a sign. Texts that
 * share word stems are close to each other; synonyms are not, as it knows no meaning.
 */
function gramVector(text: string, dimensions: number): Float32Array<ArrayBuffer> {
  const vector = new Float32Array(dimensions);
  for (const word of text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []) {
    const bounded = ` ${word} `;
    for (const length of GRAM_CHARACTERS) {
      for (let at = 0; at + length <= bounded.length; at += 1) {
        const hashed = hash(bounded.slice(at, at + length));
        const place = hashed % dimensions;
        vector[place] = (vector[place] ?? 0) + (hashed & 0x40000000 ? 1 : -1);
      }
    }
  }
  // A text without letters has a vector, too.
  if (vector.every((value) => value === 0)) vector[hash(text) % dimensions] = 1;
  // Damps what occurs often, such as the parts of "the".
  const damped = vector.map((value) => Math.sign(value) * Math.log1p(Math.abs(value)));
  const length = Math.hypot(...damped);
  return damped.map((value) => value / length);
}

/** FNV-1a, mixed so that its last bits depend on all characters. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  }
  return (value ^ (value >>> 15)) >>> 0;
}
