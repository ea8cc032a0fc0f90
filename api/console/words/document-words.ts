export const DOCUMENT_STATES = {
  processing: { words: "is being read", look: "warn" },
  ready: { words: "ready", look: "good" },
  failed: { words: "could not be read", look: "fault" },
} as const;

/** What a document's embeddings are for its reader; empty where there is nothing to say. */
export function passagesWords(count: number): string {
  return count === 1 ? "1 passage" : `${count} passages`;
}

export function embeddingWords(
  embedding: keyof typeof EMBEDDING_WORDS,
  embeddedPassages: number,
): string {
  const words = EMBEDDING_WORDS[embedding];
  return embedding === "pending" ? `${words}, ${embeddedPassages} so far` : words;
}

const EMBEDDING_WORDS = {
  none: "",
  whole: "whole in the prompt",
  pending: "being embedded",
  ready: "embedded",
  failed: "not embedded",
  limited: "beyond the limit of embeddings",
} as const;

/** "12 kB" of a number of bytes. */
export function sizeWords(sizeBytes: number): string {
  if (sizeBytes < 1_000) return `${sizeBytes} B`;
  if (sizeBytes < 1_000_000) return `${Math.round(sizeBytes / 1_000)} kB`;
  return `${(sizeBytes / 1_000_000).toFixed(1)} MB`;
}
