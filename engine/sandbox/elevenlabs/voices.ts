export const VOICES = [
  ["21m00Tcm4TlvDq8ikWAM", "Rachel"],
  ["JBFqnCBsd6RMkjVDRZzb", "George"],
] as const;

/** The vendor refuses other ids. */
export function isVoice(voiceId: string): boolean {
  return VOICES.some(([known]) => known === voiceId);
}
