import * as v from "valibot";
import type { SpeechToText, SpokenLanguage } from "../contracts.js";
import { languagesToDetect } from "../model-catalog.js";
import { numberFrom, wholeNumber } from "../setting-fields.js";
import { languageField, spokenLanguage } from "../spoken-language.js";
import type { MessageReader, RecognizerDialect, SttMessage } from "../stt-stream/stt-dialect.js";
import { SocketRecognizer } from "../stt-stream/stt-stream.js";
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
import { deepgramCloseFault } from "./deepgram-nova.js";

/** The confidence that the vendor recommends for preemptive replies; no `eotThreshold` is lower. */
const EAGER_EOT_THRESHOLD = 0.5;

export const FLUX_FIELDS = {
  /** The confidence that ends a turn. */
  eotThreshold: v.optional(numberFrom(0.5, 1)),
  /**
   * The confidence for an eager end, which may be revoked; if unset, only agents that request eager ends get them.
   * Not above `eotThreshold`.
   */
  eagerEotThreshold: v.optional(numberFrom(0.3, 0.9)),
  /** After this much silence a turn ends in any case. */
  eotTimeoutMs: v.optional(wholeNumber(500, 60_000)),
};

export function isFlux(modelId: string): boolean {
  return modelId.startsWith("flux-");
}

/** Deepgram's STT with turn detection, protocol version 2. */
export function deepgramFlux(given: VendorSettings, context: VendorContext): SpeechToText {
  const settings = parseSettings(VENDOR, FLUX_FIELDS, given);
  return new SocketRecognizer(fluxDialect(settings), deepgramAccess(given, context));
}

type FluxSettings = v.InferOutput<v.ObjectSchema<typeof FLUX_FIELDS, undefined>>;

export function fluxDialect(settings: FluxSettings): RecognizerDialect {
  return {
    vendor: VENDOR,
    hasTurnDetection: true,
    turnSilenceMaxMs: settings.eotTimeoutMs,
    feed: {
      openingSilenceMs: 0,
      // The value that the vendor's documents recommend.
      soundPieceMs: 80,
      // It has no KeepAlive, and a turn ends only while audio arrives; its timeout is not confirmed.
      keepAliveMs: 500,
      keepAlive: undefined,
      endMark: JSON.stringify({ type: "CloseStream" }),
    },
    target: (options) => {
      const { modelId, format, eagerTurns, keyterms } = options;
      const eagerOfAgent = eagerTurns === true ? EAGER_EOT_THRESHOLD : undefined;
      const query = new URLSearchParams({ model: modelId, encoding: deepgramEncoding(format) });
      query.set("sample_rate", String(format.sampleRateHz));
      for (const [name, value] of [
        ["eot_threshold", settings.eotThreshold],
        ["eager_eot_threshold", settings.eagerEotThreshold ?? eagerOfAgent],
        ["eot_timeout_ms", settings.eotTimeoutMs],
      ] as const) {
        if (value !== undefined) query.set(name, String(value));
      }
      appendLanguageHints(query, languagesToDetect(VENDOR, options));
      appendKeyterms(query, keyterms);
      return `/v2/listen?${query.toString()}`;
    },
    newReader: () => new FluxReader(),
    closeFault: deepgramCloseFault,
    refusalDetail: deepgramRefusal,
    refusalFault: deepgramRefusalFault,
  };
}

const wireSchema = v.looseObject({ type: v.string() });
const turnSchema = v.object({
  event: v.string(),
  audio_window_start: v.number(),
  audio_window_end: v.number(),
  transcript: v.string(),
  words: v.optional(v.array(v.object({ end: v.optional(v.number()) })), []),
  // Only of the multilingual model, the language of most words first.
  languages: v.fallback(v.optional(v.array(v.string()), []), []),
});
const wordsSchema = v.fallback(v.optional(v.string()), undefined);
const errorSchema = v.object({ code: wordsSchema, description: wordsSchema });

/** Keeps the open turn of one socket, so that no word of it is lost when the socket breaks. */
class FluxReader implements MessageReader {
  #text = "";
  #language: SpokenLanguage | undefined;
  #turnStartSec = 0;
  #heardSec = 0;

  read(text: string): readonly SttMessage[] | undefined {
    const message = tryParse(wireSchema, text)?.value;
    if (message === undefined) return undefined;
    if (message.type === "TurnInfo") return this.#readTurn(message);
    if (message.type !== "Error") return [];
    const parsed = v.safeParse(errorSchema, message);
    const { code, description } = parsed.success ? parsed.output : {};
    return [{ kind: "error", fault: "unavailable", detail: { code, message: description } }];
  }

  lost(heldFromSec: number): readonly SttMessage[] {
    const text = this.#text;
    // A turn that is replayed in full is transcribed again in full.
    if (text === "" || this.#turnStartSec >= heldFromSec) return [];
    this.#text = "";
    const sec = this.#heardSec;
    const words = { kind: "words", text, isFinal: true, speechFinal: false } as const;
    return [
      { kind: "settled", sec },
      { ...words, lastWordEndSec: sec, ...languageField(this.#language) },
    ];
  }

  #readTurn(message: unknown): readonly SttMessage[] | undefined {
    const parsed = v.safeParse(turnSchema, message);
    if (!parsed.success) return undefined;
    const { event, transcript, words, audio_window_start, audio_window_end } = parsed.output;
    const text = transcript.trim();
    const language = spokenLanguage(parsed.output.languages[0]);
    this.#text = text;
    this.#language = language;
    this.#turnStartSec = audio_window_start;
    this.#heardSec = words.at(-1)?.end ?? audio_window_end;
    const told = languageField(language);
    const base = { kind: "words", text, speechFinal: false, ...told } as const;
    const wordsMessage: SttMessage = { ...base, isFinal: false, lastWordEndSec: words.at(-1)?.end };
    switch (event) {
      case "StartOfTurn":
        return [
          { kind: "speechStarted" },
          { kind: "turn", mark: "startOfTurn", text },
          ...(text === "" ? [] : [wordsMessage]),
        ];
      case "Update":
        return text === "" ? [{ kind: "wordless" }] : [wordsMessage];
      case "EagerEndOfTurn":
        return [wordsMessage, { kind: "turn", mark: "eagerEndOfTurn", text }];
      case "TurnResumed":
        return [{ kind: "turn", mark: "turnResumed", text }];
      case "EndOfTurn":
        this.#text = "";
        return [
          { kind: "settled", sec: audio_window_end },
          { ...wordsMessage, isFinal: true },
          { kind: "turn", mark: "endOfTurn", text },
        ];
      default:
        return [];
    }
  }
}
