import * as v from "valibot";
import type { BreakerNews } from "../vendors/chain/breaker-news.js";
import { PAUSE_MAX_MS } from "../vendors/chain/breaker-state.js";
import { VENDOR_FAULTS } from "../vendors/contracts.js";
import { letterParts } from "./letter-parts.js";

/** Where every node hears what the others have found out of credentials. */
export const BREAKERS = "parley breakers";
/** Where a node is answered that has asked for what the others know. */
export const breakersChannelOf = (startId: string): string => `parley breakers ${startId}`;

/** Ids are UUIDs, and vendors are named by their folders. */
const NAME_LENGTH_MAX = 100;
const Name = v.pipe(v.string(), v.maxLength(NAME_LENGTH_MAX));
const Whole = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const DurationMs = v.pipe(v.number(), v.finite(), v.minValue(0));
/** Nobody stays away for longer than its own failures would keep it away. */
const PauseMs = v.pipe(
  DurationMs,
  v.transform((ms) => Math.min(ms, PAUSE_MAX_MS)),
);

const Breaker = v.object({
  id: Name,
  orgId: v.optional(Name),
  version: Whole,
  category: v.picklist(["llm", "tts", "stt"]),
  vendor: Name,
  phase: v.picklist(["closed", "open", "halfOpen"]),
  changeCount: Whole,
  pauseMs: PauseMs,
  leftMs: PauseMs,
  lastFault: v.optional(v.object({ fault: v.picklist(VENDOR_FAULTS), agoMs: DurationMs })),
});

/** Another version may be at work at the other node. */
const BreakerLetter = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    from: v.string(),
    /** It has begun to listen, and wants to be told of those that are not closed. */
    isAsking: v.optional(v.boolean(), false),
    breakers: v.optional(v.array(Breaker), []),
  }),
);

export interface ReadBreakers {
  readonly from: string;
  readonly isAsking: boolean;
  readonly breakers: readonly BreakerNews[];
}

/** Undefined of a text that is no such letter. */
export function readBreakers(text: string): ReadBreakers | undefined {
  const read = v.safeParse(BreakerLetter, text);
  if (!read.success) return undefined;
  const { breakers, ...letter } = read.output;
  const all = breakers.map((each) => ({ ...each, lastFault: each.lastFault }));
  return { ...letter, breakers: all };
}

export function askingLetter(from: string): string {
  return JSON.stringify({ from, isAsking: true });
}

/** As few letters as hold all of them. */
export function breakerLetters(from: string, breakers: readonly BreakerNews[]): readonly string[] {
  return letterParts(JSON.stringify({ from }).slice(0, -1), "breakers", breakers);
}
