import { parentPort } from "node:worker_threads";
import { parseEmbeddings } from "../vendors/openai-protocol/embedding-answer.js";
import type { FromVectorThread, ToVectorThread } from "./vector-protocol.js";

/**
 * Parses the answers of embedding models and holds the vectors of organizations, in a thread of its own, which
 * `VectorSets` starts.
 */

interface Chunk {
  readonly passages: readonly number[];
  readonly documentIds: readonly string[];
  /** All vectors, one after the other. */
  readonly values: Float32Array;
}

interface HeldSet {
  readonly dimensions: number;
  readonly chunks: Chunk[];
}

if (parentPort === null) throw new Error("the vector thread is started by its client");
const port = parentPort;
const sets = new Map<string, HeldSet>();

port.on("message", (message: ToVectorThread) => {
  switch (message.kind) {
    case "begin":
      sets.set(message.key, { dimensions: message.dimensions, chunks: [] });
      return;
    case "add": {
      const set = sets.get(message.key);
      if (set !== undefined) set.chunks.push(chunkOf(message, set.dimensions));
      return;
    }
    case "drop":
      sets.delete(message.key);
      return;
    case "parse":
      return parse(message);
    case "search":
      return search(message);
  }
});

function parse({ id, answer, count }: Extract<ToVectorThread, { kind: "parse" }>): void {
  const parsed = parseEmbeddings(answer, count);
  // Each vector has its own buffer: the whole buffer of a view is copied with it.
  const vectors = parsed?.vectors.map((values) => new Uint8Array(values.buffer));
  const result = parsed && vectors && { ...parsed, vectors };
  const reply: FromVectorThread = { kind: "parsed", id, result };
  port.postMessage(reply, vectors?.map(({ buffer }) => buffer) ?? []);
}

function search(message: Extract<ToVectorThread, { kind: "search" }>): void {
  const { id, key, answer, documentIds, limit } = message;
  const set = sets.get(key);
  const [vector] = parseEmbeddings(answer, 1)?.vectors ?? [];
  const isComparable = set !== undefined && vector?.length === set.dimensions;
  const passages = isComparable ? nearest(set, vector, new Set(documentIds), limit) : undefined;
  const reply: FromVectorThread = { kind: "found", id, passages };
  port.postMessage(reply);
}

/** The passages of the documents by the cosine of their vectors with this one, the nearest first. */
function nearest(
  { chunks, dimensions }: HeldSet,
  vector: Float32Array,
  documentIds: ReadonlySet<string>,
  limit: number,
): readonly number[] {
  const best: { readonly passage: number; readonly cosine: number }[] = [];
  for (const { passages, documentIds: owners, values } of chunks) {
    for (const [at, passage] of passages.entries()) {
      if (!documentIds.has(owners[at] ?? "")) continue;
      const cosine = dotProduct(values, at * dimensions, vector);
      if (best.length === limit && cosine <= (best.at(-1)?.cosine ?? 0)) continue;
      const place = best.findIndex((each) => each.cosine < cosine);
      best.splice(place === -1 ? best.length : place, 0, { passage, cosine });
      if (best.length > limit) best.pop();
    }
  }
  return best.map(({ passage }) => passage);
}

function dotProduct(values: Float32Array, start: number, vector: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < vector.length; at += 1)
    sum += (values[start + at] ?? 0) * (vector[at] ?? 0);
  return sum;
}

/** Vectors of another length are left out. */
function chunkOf({ vectors }: Extract<ToVectorThread, { kind: "add" }>, dimensions: number): Chunk {
  const fitting = vectors.filter(({ vector }) => vector.byteLength === dimensions * 4);
  const bytes = new Uint8Array(fitting.length * dimensions * 4);
  for (const [at, { vector }] of fitting.entries()) bytes.set(vector, at * dimensions * 4);
  return {
    passages: fitting.map(({ passage }) => passage),
    documentIds: fitting.map(({ documentId }) => documentId),
    values: new Float32Array(bytes.buffer),
  };
}
