import type { StoredVector } from "../../storage/knowledge/embedding-store.js";

/** The vectors of an answer, as the thread has parsed them. */
export interface ParsedVectors {
  /** Float32 values in little-endian order, of length 1. */
  readonly vectors: readonly Uint8Array<ArrayBuffer>[];
  readonly dimensions: number;
  readonly tokens: number;
}

export type ToVectorThread =
  | { readonly kind: "begin"; readonly key: string; readonly dimensions: number }
  | { readonly kind: "add"; readonly key: string; readonly vectors: readonly StoredVector[] }
  | { readonly kind: "drop"; readonly key: string }
  | {
      readonly kind: "parse";
      readonly id: number;
      readonly answer: Uint8Array;
      readonly count: number;
    }
  | {
      readonly kind: "search";
      readonly id: number;
      readonly key: string;
      readonly answer: Uint8Array;
      readonly documentIds: readonly string[];
      readonly limit: number;
    };

export type FromVectorThread =
  /** No result: the answer does not have the expected form. */
  | { readonly kind: "parsed"; readonly id: number; readonly result: ParsedVectors | undefined }
  | {
      readonly kind: "found";
      readonly id: number;
      readonly passages: readonly number[] | undefined;
    };
