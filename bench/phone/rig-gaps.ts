import * as v from "valibot";
import { PlayoutDelay, type SentenceArrival } from "../../engine/conversation/synthesis.js";
import type { Phrase } from "../load/phrases.js";
import type { VoiceVendor } from "../load/turn-timing.js";

/** A shorter gap is hidden by what the telephone has buffered: the server does not count it either. */
const GAP_MIN_MS = 20;

const Arrival = v.pipe(
  v.object({ durationMs: v.number(), elapsedMs: v.number(), minMarginMs: v.nullable(v.number()) }),
  v.transform(
    ({ minMarginMs, ...arrival }): SentenceArrival => ({
      ...arrival,
      minMarginMs: minMarginMs ?? Number.POSITIVE_INFINITY,
    }),
  ),
);
const Pace = v.pipe(v.string(), v.parseJson(), v.object({ planned: Arrival, sent: Arrival }));
type Pace = v.InferOutput<typeof Pace>;
const Journal = v.array(
  v.object({
    vendor: v.string(),
    kind: v.string(),
    request: v.number(),
    text: v.optional(v.string(), ""),
  }),
);
type JournalEntry = v.InferOutput<typeof Journal>[number];

/** What the simulated voice alone is to blame for, where it and the callers share a core and are late themselves. */
export interface RigGaps {
  /** First sentences with a gap, had a server that takes no time passed on what the voice sent when it sent it. */
  readonly sent: number;
  /** The same, had the voice sent everything when it was to. */
  readonly planned: number;
  /** By how much less than planned was left to play where it was least, for each first sentence. */
  readonly lateMs: readonly number[];
}

/** Takes the JSON of the sandbox's journal. A reply's later sentences wait for the first, and so have no gaps to speak of. */
export function rigGaps(journal: unknown, voice: VoiceVendor, phrases: readonly Phrase[]): RigGaps {
  const entries = v.parse(Journal, journal).filter(({ vendor }) => vendor === voice);
  const firstSentences = new Set(phrases.map(({ firstSentence }) => firstSentence));
  const firsts = new Set<number>();
  const paces = new Map<number, Pace>();
  for (const { kind, request, text } of entries) {
    if (kind === "request" && firstSentences.has(text)) firsts.add(request);
    if (kind === "lastByte") paces.set(request, v.parse(Pace, text));
  }
  const gapsOf = (which: keyof Pace) =>
    gapsByRule(entries, (request) => paces.get(request)?.[which], firsts);
  const lateMs = Array.from(paces)
    .filter(([request, { sent }]) => firsts.has(request) && Number.isFinite(sent.minMarginMs))
    .map(([, { planned, sent }]) => planned.minMarginMs - sent.minMarginMs);
  return { sent: gapsOf("sent"), planned: gapsOf("planned"), lateMs };
}

/** The server's own rule for when a sentence begins, which learns from those that ended before. */
function gapsByRule(
  entries: readonly JournalEntry[],
  arrivalOf: (request: number) => SentenceArrival | undefined,
  counted: ReadonlySet<number>,
): number {
  const rule = new PlayoutDelay();
  const delaysMs = new Map<number, number>();
  let gaps = 0;
  for (const { kind, request } of entries) {
    const arrival = arrivalOf(request);
    if (arrival === undefined) continue;
    if (kind === "firstByte") delaysMs.set(request, rule.of(arrival.durationMs));
    if (kind !== "lastByte") continue;
    const missingMs = -arrival.minMarginMs - (delaysMs.get(request) ?? 0);
    if (counted.has(request) && missingMs > GAP_MIN_MS) gaps += 1;
    rule.observe(arrival);
  }
  return gaps;
}
