import * as v from "valibot";
import { tryParse } from "../vendor-json.js";

/** The most that a vector may have: each takes 4 bytes of every passage in memory. */
export const DIMENSIONS_MAX = 3_072;

const Answer = v.object({
  data: v.array(
    v.object({
      index: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
      embedding: v.pipe(v.array(v.number()), v.minLength(1)),
    }),
  ),
  usage: v.optional(
    v.nullable(
      v.object({ prompt_tokens: v.optional(v.number()), total_tokens: v.optional(v.number()) }),
    ),
  ),
});

export interface ParsedEmbeddings {
  /** In the order of the request, each of length 1. */
  readonly vectors: readonly Float32Array<ArrayBuffer>[];
  readonly dimensions: number;
  /** Tokens that the vendor has counted; 0 if it counts none. */
  readonly tokens: number;
}

/**
 * Parses the answer to a request of `count` texts. Returns undefined if a vector is missing, all zero, or of another
 * length than the others. Runs in a thread of its own: an answer has tens of thousands of numbers.
 */
export function parseEmbeddings(answer: Uint8Array, count: number): ParsedEmbeddings | undefined {
  const parsed = tryParse(Answer, Buffer.from(answer).toString())?.value;
  if (parsed === undefined || parsed.data.length !== count) return undefined;
  const dimensions = parsed.data[0]?.embedding.length ?? 0;
  const vectors: Float32Array<ArrayBuffer>[] = [];
  for (const [at, { index = at, embedding }] of parsed.data.entries()) {
    const vector = unitVector(embedding);
    if (vector === undefined || embedding.length !== dimensions) return undefined;
    if (index >= count || vectors[index] !== undefined) return undefined;
    vectors[index] = vector;
  }
  const { prompt_tokens, total_tokens } = parsed.usage ?? {};
  return { vectors, dimensions, tokens: prompt_tokens ?? total_tokens ?? 0 };
}

function unitVector(values: readonly number[]): Float32Array<ArrayBuffer> | undefined {
  let sum = 0;
  for (const value of values) sum += value * value;
  const length = Math.sqrt(sum);
  if (length === 0 || !Number.isFinite(length)) return undefined;
  return Float32Array.from(values, (value) => value / length);
}
