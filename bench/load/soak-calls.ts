import { Caller } from "../../engine/sandbox/caller.js";
import { type Phrase, shortPhrase } from "./phrases.js";

export interface SoakCalls {
  readonly url: string;
  readonly apiKey: string;
  readonly count: number;
  /** Calls at the same time. */
  readonly concurrency: number;
}

/** One call of so many has a conversation; the others hang up at the greeting, which is where most code has run. */
const TALK_EVERY = 10;
const PHRASES = 8;
const TIMEOUT_MS = 15_000;
const REASONS_MAX = 20;

export interface SoakOutcome {
  readonly completed: number;
  readonly failed: number;
  /** The first few. */
  readonly reasons: readonly string[];
}

/** Makes `count` short calls, one after another in `concurrency` rows, and says how many went as they should. */
export async function soakCalls(options: SoakCalls): Promise<SoakOutcome> {
  const phrases = Array.from({ length: PHRASES }, (_, number) => shortPhrase(number));
  const reasons: string[] = [];
  let next = 0;
  let completed = 0;
  let failed = 0;
  const row = async (): Promise<void> => {
    while (next < options.count) {
      const number = next;
      next += 1;
      try {
        await oneCall(options, number % TALK_EVERY === 0 ? phrases[number % PHRASES] : undefined);
        completed += 1;
      } catch (error) {
        failed += 1;
        if (reasons.length < REASONS_MAX) reasons.push(String(error));
      }
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, row));
  return { completed, failed, reasons };
}

async function oneCall({ url, apiKey }: SoakCalls, phrase: Phrase | undefined): Promise<void> {
  const caller = await Caller.connect({ url, apiKey, keepsAudio: false });
  try {
    await caller.until(({ type }) => type === "audio", TIMEOUT_MS);
    if (phrase === undefined) return;
    const { endNs } = await caller.play(phrase.text, phrase.audio);
    await caller.until(({ type, atNs }) => type === "audio" && atNs > endNs, TIMEOUT_MS);
  } finally {
    await caller.hangUp();
  }
}
