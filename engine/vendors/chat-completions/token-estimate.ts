/** A rule of thumb for English; better than reporting nothing when a vendor leaves its counters out. */
const CHARS_PER_TOKEN = 4;

export function estimateTokens(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN);
}
