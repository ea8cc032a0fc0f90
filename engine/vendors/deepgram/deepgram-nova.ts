import * as v from "valibot";
import type { SpeechToText, SpokenLanguage } from "../contracts.js";
import { languagesToDetect } from "../model-catalog.js";
import { wholeNumber } from "../setting-fields.js";
import { languageField, mostSpoken } from "../spoken-language.js";
import type { MessageReader, RecognizerDialect, SttMessage } from "../stt-stream/stt-dialect.js";
import { SocketRecognizer } from "../stt-stream/stt-stream.js";
import type { RefusalDetail } from "../vendor-fault.js";
import { tryParse } from "../vendor-json.js";
import { parseSettings, type VendorContext, type VendorSettings } from "../vendor-settings.js";
import {
  appendKeyterms,
  appendLanguageHints,
  deepgramAccess,
  deepgramEncoding,
  deepgramRefusal,
  deepgramRefusalFault,
  VENDOR,
} from "./deepgram-access.js";

/** A message from Deepgram, with times in seconds of audio since its socket was opened. */
export type NovaMessage =
  | {
      readonly kind: "results";
      readonly text: string;
      readonly isFinal: boolean;
      readonly speechFinal: boolean;
      readonly words: readonly NovaWord[];
      /** The language of most words; omitted where the vendor assigns none. */
      readonly language?: SpokenLanguage;
      /** Where the first word begins. */
      readonly startSec: number;
      readonly lastWordEndSec: number | undefined;
      /** Where the processed audio ends, if isFinal: the next word may begin before the segment ends. */
      readonly settledSec: number;
    }
  | { readonly kind: "speechStarted" }
  | { readonly kind: "utteranceEnd"; readonly lastWordEndSec: number }
  | { readonly kind: "error"; readonly detail: RefusalDetail }
  | { readonly kind: "other" };

export interface NovaWord {
  /** As it is written; undefined if the message contains only its time. */
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
        languages: v.fallback(v.optional(v.array(v.string()), []), []),
        words: v.optional(
          v.array(
            v.object({
              word: v.optional(v.string()),
              punctuated_word: v.optional(v.string()),
              start: v.optional(v.number()),
              end: v.number(),
              language: v.fallback(v.optional(v.string()), undefined),
            }),
          ),
          [],
        ),
      }),
    ),
  }),
});

const utteranceEndSchema = v.object({ last_word_end: v.number() });

/** Not in the vendor's current documents, but known to its older clients. */
const errorSchema = v.object({
  code: v.optional(v.string()),
  description: v.optional(v.string()),
  message: v.optional(v.string()),
});

/** Undefined for an invalid message; unknown kinds are `other`. */
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
    ...languageField(
      mostSpoken(recognized.map((each) => each.language)) ?? mostSpoken(best?.languages),
    ),
    startSec: recognized[0]?.start ?? start,
    lastWordEndSec,
    settledSec: lastWordEndSec ?? start + duration,
  };
}

/** The vendor refuses a lower value; a higher one is longer than any caller waits. */
const UTTERANCE_END_MIN_MS = 1_000;
const UTTERANCE_END_MAX_MS = 5_000;
/** Shorter ones have been seen to fire in the middle of speech; the call has its own, shorter timer for silence. */
const UTTERANCE_END_MS = 1_500;

export const NOVA_FIELDS = {
  utteranceEndMs: v.optional(
    wholeNumber(UTTERANCE_END_MIN_MS, UTTERANCE_END_MAX_MS),
    UTTERANCE_END_MS,
  ),
};

/** "The audio cannot be decoded": a new connection would fail the same way. */
const UNDECODABLE_AUDIO_CODE = 1008;
const SERVER_TROUBLE_CODE = 1011;

type Results = NovaMessage & { readonly kind: "results" };

/** Deepgram's live transcription, protocol version 1. */
export function deepgramNova(given: VendorSettings, context: VendorContext): SpeechToText {
  const { utteranceEndMs } = parseSettings(VENDOR, NOVA_FIELDS, given);
  return new SocketRecognizer(novaDialect(utteranceEndMs), deepgramAccess(given, context));
}

export function novaDialect(utteranceEndMs = UTTERANCE_END_MS): RecognizerDialect {
  return {
    vendor: VENDOR,
    hasTurnDetection: false,
    feed: {
      openingSilenceMs: 100,
      soundPieceMs: 0,
      // The vendor closes a stream after 10 s without a frame.
      keepAliveMs: 4_000,
      keepAlive: JSON.stringify({ type: "KeepAlive" }),
      endMark: JSON.stringify({ type: "CloseStream" }),
    },
    target: (options) => {
      const detected = languagesToDetect(VENDOR, options);
      // One language is transcribed better by its own model.
      const isMultilingual = detected.length > 1;
      const query = new URLSearchParams({
        model: options.modelId,
        language: isMultilingual ? "multi" : options.language,
        encoding: deepgramEncoding(options.format),
        sample_rate: String(options.format.sampleRateHz),
        channels: "1",
        interim_results: "true",
        // Endpointing and the LLM rely on the punctuation.
        punctuate: "true",
        endpointing: String(options.endpointingMs),
        utterance_end_ms: String(utteranceEndMs),
        vad_events: "true",
      });
      // Other models refuse keyterms and hints.
      if (options.modelId.startsWith("nova-3")) {
        appendKeyterms(query, options.keyterms);
        if (isMultilingual) appendLanguageHints(query, detected);
      }
      return `/v1/listen?${query.toString()}`;
    },
    newReader: () => new NovaReader(),
    closeFault: deepgramCloseFault,
    refusalDetail: deepgramRefusal,
    refusalFault: deepgramRefusalFault,
  };
}

export function deepgramCloseFault(code: number) {
  if (code === UNDECODABLE_AUDIO_CODE) return "refused";
  return code === SERVER_TROUBLE_CODE ? "unavailable" : "disconnected";
}

/** Keeps the newest interim result of one socket, so that no word of it is lost when the socket breaks. */
class NovaReader implements MessageReader {
  #guess: Results | undefined;

  read(text: string): readonly SttMessage[] | undefined {
    const message = parseNovaMessage(text);
    switch (message?.kind) {
      case undefined:
        return undefined;
      case "results":
        return this.#readResults(message);
      case "utteranceEnd":
        // Negative when there was no word.
        return message.lastWordEndSec >= 0 ? [message] : [];
      case "speechStarted":
        return [message];
      case "error":
        return [{ kind: "error", fault: "unavailable", detail: message.detail }];
      case "other":
        return [];
    }
  }

  lost(heldFromSec: number): readonly SttMessage[] {
    const guess = this.#guess;
    this.#guess = undefined;
    // Words that are replayed in full are transcribed again in full.
    if (guess === undefined || guess.startSec >= heldFromSec) return [];
    const isNewestHeld = heldFromSec <= guess.settledSec;
    const { text, sec } = isNewestHeld ? withoutNewest(guess) : wholeOf(guess);
    const { language } = guess;
    const words = { kind: "words", text, isFinal: true, speechFinal: false } as const;
    return [
      { kind: "settled", sec },
      { ...words, lastWordEndSec: sec, ...languageField(language) },
    ];
  }

  #readResults(message: Results): readonly SttMessage[] {
    const { text, isFinal, speechFinal, lastWordEndSec, settledSec, language } = message;
    this.#guess = isFinal || text === "" ? undefined : message;
    const settled: SttMessage[] = isFinal ? [{ kind: "settled", sec: settledSec }] : [];
    // A continuing silence changes nothing; the end of one may end a turn.
    if (text === "" && !isFinal) return [{ kind: "wordless" }];
    const words = { kind: "words", text, isFinal, speechFinal } as const;
    return [...settled, { ...words, lastWordEndSec, ...languageField(language) }];
  }
}

function wholeOf({ text, settledSec: sec }: Results) {
  return { text, sec };
}

/** The newest word may be cut off, and is transcribed again. */
function withoutNewest(guess: Results) {
  const older = guess.words.slice(0, -1);
  const last = older.at(-1);
  const texts = older.flatMap((word) => word.text ?? []);
  if (last === undefined || texts.length < older.length) return wholeOf(guess);
  return { text: texts.join(" "), sec: last.endSec };
}
