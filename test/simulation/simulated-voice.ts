import type { SeededRandom } from "./seeded-random.js";

/** One thing that a voice does, so many ms after it was asked. */
export interface VoiceStep {
  readonly afterMs: number;
  readonly kind: "piece" | "last" | "failed" | "refused";
  /** The audio of this step. */
  readonly pieceMs: number;
}

export const MS_PER_CHARACTER = 60;
const PIECE_MS = 100;
/** Multiples of real time: most voices, a poor one, and one that is slower than it plays. */
const RATES = [4, 4, 10, 1.5, 0.9];
const DEATHS = ["failed", "failed", "refused", "silence"] as const;

/** How a voice delivers a sentence: in pieces, at a rate of its own, and now and then not to the end. */
export function voiceSteps(
  text: string,
  { random, isStreamed, faultRate }: VoiceManner,
): readonly VoiceStep[] {
  const wholeMs = text.length * MS_PER_CHARACTER;
  const rate = random.pick(RATES);
  const pieceMs = isStreamed ? PIECE_MS : wholeMs;
  const death = random.chance(faultRate) ? random.pick(DEATHS) : undefined;
  const diesAtMs = death === undefined ? Number.POSITIVE_INFINITY : random.whole(0, wholeMs);
  const isLate = random.chance(faultRate / 3);
  const beginsMs = isLate ? random.whole(600, 2_500) : random.whole(30, 600);
  const steps: VoiceStep[] = [];
  let afterMs = 0;
  for (let atMs = 0; atMs < wholeMs; atMs += pieceMs) {
    const dueMs = beginsMs + Math.round(atMs / rate) + random.whole(0, isStreamed ? 40 : 0);
    // One connection carries them, in their order.
    afterMs = Math.max(afterMs, dueMs);
    if (atMs + pieceMs > diesAtMs) {
      if (death !== undefined && death !== "silence")
        steps.push({ afterMs, kind: death, pieceMs: 0 });
      return steps;
    }
    const isLast = atMs + pieceMs >= wholeMs;
    steps.push({
      afterMs,
      kind: isLast ? "last" : "piece",
      pieceMs: Math.min(pieceMs, wholeMs - atMs),
    });
  }
  return steps;
}

interface VoiceManner {
  readonly random: SeededRandom;
  /** False where only whole sentences are told. */
  readonly isStreamed: boolean;
  readonly faultRate: number;
}
