import * as v from "valibot";
import type { RefusalDetail } from "../vendor-fault.js";
import { tryParse } from "../vendor-json.js";

/** What Deepgram reports, with times in seconds of audio since its socket was opened. */
export type NovaMessage =
  | {
      readonly kind: "results";
      readonly text: string;
      readonly isFinal: boolean;
      readonly speechFinal: boolean;
      readonly words: readonly NovaWord[];
      /** Where the first word begins. */
      readonly startSec: number;
      readonly lastWordEndSec: number | undefined;
      /** Up to where the audio has been dealt with, when isFinal: the next word may begin before the segment ends. */
      readonly settledSec: number;
    }
  | { readonly kind: "speechStarted" }
  | { readonly kind: "utteranceEnd"; readonly lastWordEndSec: number }
  | { readonly kind: "error"; readonly detail: RefusalDetail }
  | { readonly kind: "other" };

export interface NovaWord {
  /** As it is written; undefined from who tells only its time. */
  readonly text: string | undefined;
  readonly endSec: number;
}

const wireSchema = v.looseObject({ type: v.string() });

const resultsSchema = v.object({
  start: v.number(),
  duration: v.number(),
  is_final: v.optional(v.boolean(), false),
  speech_final: v.optional(v.boolean(), false),
  channel: v.object({
    alternatives: v.array(
      v.object({
        transcript: v.string(),
        words: v.optional(
          v.array(
            v.object({
              word: v.optional(v.string()),
              punctuated_word: v.optional(v.string()),
              start: v.optional(v.number()),
              end: v.number(),
            }),
          ),
          [],
        ),
      }),
    ),
  }),
});

const utteranceEndSchema = v.object({ last_word_end: v.number() });

/** Not in the vendor's present documents, but known to its older clients. */
const errorSchema = v.object({
  code: v.optional(v.string()),
  description: v.optional(v.string()),
  message: v.optional(v.string()),
});

/** Undefined for what is no message at all; kinds that are not known are `other`. */
export function parseNovaMessage(text: string): NovaMessage | undefined {
  const parsed = tryParse(wireSchema, text);
  if (parsed === undefined) return undefined;
  switch (parsed.value.type) {
    case "Results":
      return parseResults(parsed.value);
    case "SpeechStarted":
      return { kind: "speechStarted" };
    case "UtteranceEnd": {
      const end = v.safeParse(utteranceEndSchema, parsed.value);
      return end.success
        ? { kind: "utteranceEnd", lastWordEndSec: end.output.last_word_end }
        : undefined;
    }
    case "Error": {
      const error = v.safeParse(errorSchema, parsed.value);
      const { description, message, code } = error.success ? error.output : {};
      return { kind: "error", detail: { code, message: description ?? message } };
    }
    default:
      return { kind: "other" };
  }
}

function parseResults(message: unknown): NovaMessage | undefined {
  const parsed = v.safeParse(resultsSchema, message);
  if (!parsed.success) return undefined;
  const { start, duration, is_final, speech_final, channel } = parsed.output;
  const best = channel.alternatives[0];
  const recognized = best?.words ?? [];
  const words = recognized.map((each) => ({
    text: each.punctuated_word ?? each.word,
    endSec: each.end,
  }));
  const lastWordEndSec = words.at(-1)?.endSec;
  return {
    kind: "results",
    text: best?.transcript.trim() ?? "",
    // One page of the vendor's documents shows speech_final without is_final.
    isFinal: is_final || speech_final,
    speechFinal: speech_final,
    words,
    startSec: recognized[0]?.start ?? start,
    lastWordEndSec,
    settledSec: lastWordEndSec ?? start + duration,
  };
}
