import * as v from "valibot";
import { durationMsOf } from "../../audio/audio-format.js";
import type { SpeechRequest, SpokenWord, VendorFault } from "../contracts.js";
import type { VoiceDialect } from "../socket-voice/socket-voice.js";
import type { Said, TurnReader } from "../socket-voice/spoken-turn.js";
import { reasonOf } from "../vendor-fault.js";
import { tryParse } from "../vendor-json.js";
import {
  faultOfAnswer,
  languageOf,
  OUTPUT_FORMATS,
  readDetail,
  VENDOR,
  type VoiceSettings,
  voiceSettingsOf,
} from "./elevenlabs-request.js";

/** The vendor closes a socket on which nothing was sent for so long; ours are let go of before that. */
const INACTIVITY_SEC = 60;
/** What an interrupted sentence still sends comes faster than it is heard, or the socket is not worth keeping. */
const DRAIN_MAX_MS = 3_000;

/** `/multi-stream-input`: each sentence is a context of its own on a kept socket. */
export function contextDialect(voiceId: string, settings: VoiceSettings): VoiceDialect {
  return {
    vendor: VENDOR,
    sentencesMax: Number.POSITIVE_INFINITY,
    drainMaxMs: DRAIN_MAX_MS,
    target: ({ modelId, language, format }) => {
      const query = new URLSearchParams({
        model_id: modelId,
        output_format: OUTPUT_FORMATS[format.encoding],
        ...languageOf(modelId, language),
        // A sentence is whole when it is sent; nothing more is to be waited for.
        auto_mode: "true",
        sync_alignment: "true",
        inactivity_timeout: String(INACTIVITY_SEC),
      });
      return `/v1/text-to-speech/${encodeURIComponent(voiceId)}/multi-stream-input?${query.toString()}`;
    },
    frames: ({ text, speed }, id) =>
      [
        { text: " ", context_id: id, voice_settings: voiceSettingsOf(settings, speed) },
        { text: `${text} `, context_id: id, flush: true },
        // What was flushed is spoken all the same, and only a closed context says that it has ended.
        { context_id: id, close_context: true },
      ].map((message) => JSON.stringify(message)),
    newReader: (id, request) => new ContextReader(id, request),
    refusalDetail: ({ body }) => readDetail(body),
    refusalFault: faultOfAnswer,
  };
}

const numbers = v.optional(v.array(v.number()));
/** The vendor's documents spell the names in two ways. */
const alignmentSchema = v.object({
  chars: v.optional(v.array(v.string()), []),
  charStartTimesMs: numbers,
  charsStartTimesMs: numbers,
  charDurationsMs: numbers,
  charsDurationsMs: numbers,
});

const messageSchema = v.object({
  contextId: v.nullish(v.string()),
  context_id: v.nullish(v.string()),
  audio: v.nullish(v.string()),
  isFinal: v.nullish(v.boolean()),
  is_final: v.nullish(v.boolean()),
  alignment: v.nullish(alignmentSchema),
  error: v.nullish(v.string()),
  code: v.nullish(v.union([v.string(), v.number()])),
});

class ContextReader implements TurnReader {
  readonly #id: string;
  readonly #format: SpeechRequest["format"];
  /** Characters of the text, without spaces, whose times are still to come. */
  #charsLeft: number;
  #receivedMs = 0;
  /** The word whose end has not come yet. */
  #word: SpokenWord | undefined;

  constructor(id: string, { format, text }: SpeechRequest) {
    this.#id = id;
    this.#format = format;
    this.#charsLeft = Array.from(text).filter((character) => character.trim() !== "").length;
  }

  text(text: string): readonly Said[] {
    const message = tryParse(messageSchema, text)?.value;
    if (message === undefined) {
      return [{ kind: "failed", fault: "badAnswer", message: "unreadable answer" }];
    }
    const { error, audio, alignment } = message;
    if (typeof error === "string") {
      const reason = reasonOf({ code: error, message: error });
      return [
        { kind: "failed", fault: faultOfError(error), message: reason || "reports an error" },
      ];
    }
    const id = message.contextId ?? message.context_id ?? this.#id;
    if (id !== this.#id) return [];
    const said: Said[] = [];
    const words = alignment ? this.#timed(alignment) : [];
    if (typeof audio === "string" && audio !== "") {
      const bytes = Buffer.from(audio, "base64");
      if (this.#format.encoding !== "mp3") this.#receivedMs += durationMsOf(bytes, this.#format);
      said.push({ kind: "audio", bytes });
    }
    said.push({ kind: "words", words });
    if (message.isFinal === true || message.is_final === true) {
      if (this.#word !== undefined) said.push({ kind: "words", words: [this.#word] });
      said.push({ kind: "done" });
    }
    return said.filter((each) => each.kind !== "words" || each.words.length > 0);
  }

  binary(): readonly Said[] {
    return [];
  }

  /** The words that have ended. Times are those of this piece of audio; what came before it is added. */
  #timed(alignment: v.InferOutput<typeof alignmentSchema>): readonly SpokenWord[] {
    const starts = alignment.charStartTimesMs ?? alignment.charsStartTimesMs ?? [];
    const durations = alignment.charDurationsMs ?? alignment.charsDurationsMs ?? [];
    const beforeMs = this.#receivedMs;
    const words: SpokenWord[] = [];
    for (const [n, character] of alignment.chars.entries()) {
      const startMs = Math.round(beforeMs + (starts[n] ?? 0));
      const endMs = Math.round(beforeMs + (starts[n] ?? 0) + (durations[n] ?? 0));
      const word = this.#word;
      if (character.trim() !== "") {
        this.#charsLeft -= 1;
        this.#word = {
          text: `${word?.text ?? ""}${character}`,
          startMs: word?.startMs ?? startMs,
          endMs,
        };
      } else if (word !== undefined) {
        words.push(word);
        this.#word = undefined;
      }
    }
    // The last word has ended with the text; nothing says so until the context ends, which may be late.
    if (this.#word !== undefined && this.#charsLeft === 0) {
      words.push(this.#word);
      this.#word = undefined;
    }
    return words;
  }
}

function faultOfError(error: string): VendorFault {
  if (error === "input_timeout_exceeded") return "disconnected";
  return faultOfAnswer(error, 400);
}
