export const DOCUMENT_STATES = {
  processing: { words: "is being read", look: "warn" },
  ready: { words: "ready", look: "good" },
  failed: { words: "could not be read", look: "fault" },
} as const;

/** "12 kB" of a number of bytes. */
export function sizeWords(sizeBytes: number): string {
  if (sizeBytes < 1_000) return `${sizeBytes} B`;
  if (sizeBytes < 1_000_000) return `${Math.round(sizeBytes / 1_000)} kB`;
  return `${(sizeBytes / 1_000_000).toFixed(1)} MB`;
}
