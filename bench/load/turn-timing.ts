import * as v from "valibot";
import type { Happening, SpokenTurn } from "./conversation.js";

const Nanoseconds = v.pipe(
  v.string(),
  v.transform((digits) => BigInt(digits)),
);
const Journal = v.array(
  v.object({
    vendor: v.string(),
    kind: v.string(),
    atNs: Nanoseconds,
    request: v.number(),
    text: v.optional(v.string(), ""),
  }),
);
export type JournalEntry = v.InferOutput<typeof Journal>[number];

/** What Parley added to one turn, in ms: the vendors' own time lies between the parts and is not in them. */
export interface TurnTiming {
  /** Last frame with speech sent by the caller, until the recognizer had it. */
  readonly audioMs: number;
  /** End of speech told by the recognizer, until the model had the question. */
  readonly questionMs: number;
  /** Last token of the first sentence sent by the model, until the voice had the sentence. */
  readonly sentenceMs: number;
  /** First byte of its audio sent by the voice (the last, where only whole sentences are sent), until the caller had some. */
  readonly playMs: number;
  readonly totalMs: number;
}

/** With the talker's group, where several agents are compared at the same time. */
export interface GroupedTiming extends TurnTiming {
  readonly group?: number;
}

interface Marks {
  readonly speechHeardNs: bigint;
  readonly speechFinalNs: bigint;
  readonly stream: number;
}

export type VoiceVendor = "openaiSpeech" | "elevenlabs" | "edge";

/** The signs of a turn on one kind of leg, the web's or the telephone's. */
export interface TurnSigns {
  /** The vendor of the agent's voice, as the journal names it. */
  readonly voice: VoiceVendor;
  /** From when on the caller could hear the sentence: the voice's first byte, or its last. */
  readonly soundsFrom: "firstByte" | "lastByte";
  /** What tells the caller to fall silent. */
  readonly stop: "audioStop" | "clear";
}

/** Finds the turns of callers again in what the vendors wrote down, by the words that occur only once. */
export class TurnTimings {
  readonly #signs: TurnSigns;
  readonly #marksByText = new Map<string, Marks>();
  readonly #requestByText = new Map<string, JournalEntry>();
  readonly #firstSentenceNs = new Map<number, bigint>();
  readonly #soundNs = new Map<number, bigint>();
  readonly #interims = new Map<number, bigint[]>();

  /** Takes the JSON of the sandbox's journal. */
  constructor(journal: unknown, signs: TurnSigns) {
    this.#signs = signs;
    const speechHeardNs = new Map<number, bigint>();
    for (const entry of v.parse(Journal, journal)) {
      const { vendor, kind, request, text, atNs } = entry;
      if (kind === "lastSpeech") speechHeardNs.set(request, atNs);
      else if (kind === "event") this.#noteEvent(entry, speechHeardNs.get(request));
      else if (kind === "firstSentence") this.#firstSentenceNs.set(request, atNs);
      else if (vendor === signs.voice && kind === signs.soundsFrom)
        this.#soundNs.set(request, atNs);
      else if (kind === "request") this.#noteRequest(`${vendor} ${lastLineOf(text)}`, entry);
    }
  }

  /** Undefined when a part was not found: the turn was cut off, or its words were not heard as one turn. */
  ofTurn(turn: SpokenTurn, events: readonly Happening[]): TurnTiming | undefined {
    const { text, firstSentence } = turn.phrase;
    const marks = this.#marksByText.get(text);
    const question = this.#requestByText.get(`openai ${text}`);
    const sentence = this.#requestByText.get(`${this.#signs.voice} ${firstSentence}`);
    if (marks === undefined || question === undefined || sentence === undefined) return undefined;
    const replied = this.#firstSentenceNs.get(question.request);
    const spoken = this.#soundNs.get(sentence.request);
    // A last byte is noted right after it has been sent: the audio may be there a moment before.
    const played = events.find(({ type, atNs }) => type === "audio" && atNs > sentence.atNs);
    if (replied === undefined || spoken === undefined || played === undefined) return undefined;
    const audioMs = msBetween(turn.utterance.endNs, marks.speechHeardNs);
    const questionMs = msBetween(marks.speechFinalNs, question.atNs);
    const sentenceMs = msBetween(replied, sentence.atNs);
    const playMs = msBetween(spoken, played.atNs);
    const totalMs = audioMs + questionMs + sentenceMs + playMs;
    return { audioMs, questionMs, sentenceMs, playMs, totalMs };
  }

  /** From the first guess at the interrupting words until the caller was told to fall silent. */
  bargeInMs(turn: SpokenTurn, events: readonly Happening[]): number | undefined {
    const { startNs, endNs } = turn.utterance;
    const stream = this.#marksByText.get(turn.phrase.text)?.stream;
    const heardNs = this.#interims.get(stream ?? -1)?.find((atNs) => atNs > startNs);
    const stopped = events.find(
      ({ type, atNs }) => type === this.#signs.stop && atNs > startNs && atNs < endNs,
    );
    if (heardNs === undefined || stopped === undefined) return undefined;
    return msBetween(heardNs, stopped.atNs);
  }

  /** Keeps a sentence's first request: one that was cut off may be said again later. */
  #noteRequest(key: string, entry: JournalEntry): void {
    if (entry.vendor === this.#signs.voice && this.#requestByText.has(key)) return;
    this.#requestByText.set(key, entry);
  }

  #noteEvent({ text, request, atNs }: JournalEntry, speechHeardNs: bigint | undefined): void {
    const [kind = "", ...words] = text.split(": ");
    if (kind === "interim") {
      const known = this.#interims.get(request);
      if (known === undefined) this.#interims.set(request, [atNs]);
      else known.push(atNs);
    } else if (kind === "speech_final" && speechHeardNs !== undefined) {
      const marks = { speechHeardNs, speechFinalNs: atNs, stream: request };
      this.#marksByText.set(words.join(": "), marks);
    }
  }
}

/** Passages of documents may stand before the caller's words, which have one line. */
function lastLineOf(text: string): string {
  return text.slice(text.lastIndexOf("\n") + 1);
}

function msBetween(fromNs: bigint, toNs: bigint): number {
  return Number(toNs - fromNs) / 1e6;
}
