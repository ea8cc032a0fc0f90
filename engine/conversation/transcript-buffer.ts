import type { Transcript } from "../vendors/contracts.js";

const CHUNK = /[\p{L}\p{N}\p{M}]+(?:['’.@_-][\p{L}\p{N}\p{M}]+)*/gu;
const HAN_AND_KANA = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]/gu;
const UNSPACED_ALPHABETS = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu;
const LATIN_ONLY = /^[^\u0250-\u{10ffff}]*$/u;

/** A Chinese or Japanese word has about two characters, a Thai one about four. */
const HAN_PER_WORD = 2;
const ALPHABETIC_PER_WORD = 4;

/** How many words a person would count; an estimate from the characters in scripts without spaces. */
export function wordCount(text: string): number {
  if (LATIN_ONLY.test(text)) return text.match(CHUNK)?.length ?? 0;
  const han = text.match(HAN_AND_KANA)?.length ?? 0;
  const alphabetic = text.match(UNSPACED_ALPHABETS)?.length ?? 0;
  const spaced = text.replace(HAN_AND_KANA, " ").replace(UNSPACED_ALPHABETS, " ");
  return (
    (spaced.match(CHUNK)?.length ?? 0) +
    Math.ceil(han / HAN_PER_WORD) +
    Math.ceil(alphabetic / ALPHABETIC_PER_WORD)
  );
}

/** The limit for a caller who never pauses: only the end of a longer turn is kept. About twenty minutes of speech. */
const TURN_TEXT_CHARACTERS_MAX = 20_000;

/** Two reports of the same word's end may differ by rounding and by the vendor's own alignment. */
const WORD_END_TOLERANCE_MS = 50;

const NOWHERE_MS = -1;

/** The caller's turn so far. Begin with EMPTY_HEARING; every state is a value. */
export interface TranscriptBuffer {
  /** The final words. */
  readonly finals: string;
  /** The newest interim words that follow them. */
  readonly interim: string;
  /** Where the newest final and interim words end on the stream's clock, -1 if there are none. */
  readonly finalEndMs: number;
  readonly interimEndMs: number;
  /** How many of the final words are in each language, as far as STT has told. */
  readonly finalLanguages: Readonly<Record<string, number>>;
  readonly interimLanguage: string | undefined;
  /** Interim words up to here already ended a turn: their final version comes too late to be another. */
  readonly answeredEndMs: number;
}

export interface TurnStep {
  readonly state: TranscriptBuffer;
  /** The whole text of the turn, present only when the turn has just ended. */
  readonly turnText?: string;
  /** The language of most words of the ended turn, by the first part of its tag; left out if STT told none. */
  readonly language?: string;
  /** Words of the turn so far, including interim ones; of the ended turn when it has ended. */
  readonly words: number;
}

export const EMPTY_TRANSCRIPT_BUFFER: TranscriptBuffer = {
  finals: "",
  interim: "",
  finalEndMs: NOWHERE_MS,
  interimEndMs: NOWHERE_MS,
  finalLanguages: {},
  interimLanguage: undefined,
  answeredEndMs: NOWHERE_MS,
};

/** What the caller has said in this turn, including interim words; '' before the first word. */
export function pendingText(state: TranscriptBuffer): string {
  return joined(state.finals, state.interim);
}

/** A result from STT. The vendor's endpointing mark (`speechFinal`) ends the turn if there are words. */
export function onTranscript(state: TranscriptBuffer, transcript: Transcript): TurnStep {
  const text = transcript.text.trim();
  const endMs = transcript.lastWordEndMs ?? NOWHERE_MS;
  if (text !== "" && isAnswered(state, endMs)) return stay(state);
  if (!transcript.isFinal && !transcript.speechFinal) {
    const interimLanguage = certainLanguage(transcript);
    return stay(
      text === "" ? state : { ...state, interim: text, interimEndMs: endMs, interimLanguage },
    );
  }
  const settled: TranscriptBuffer = {
    ...state,
    finals: joined(state.finals, text).slice(-TURN_TEXT_CHARACTERS_MAX),
    finalEndMs: text === "" ? state.finalEndMs : Math.max(state.finalEndMs, endMs),
    interim: "",
    interimEndMs: NOWHERE_MS,
    finalLanguages: withWords(state.finalLanguages, certainLanguage(transcript), text),
    interimLanguage: undefined,
  };
  return transcript.speechFinal ? endTurn(settled) : stay(settled);
}

/** The vendor reports no new word for a while. Ignored after the end of a turn, and while newer words are known. */
export function onUtteranceEnd(state: TranscriptBuffer, lastWordEndMs: number): TurnStep {
  const newestMs = Math.max(state.finalEndMs, state.interimEndMs);
  return lastWordEndMs + WORD_END_TOLERANCE_MS < newestMs ? stay(state) : endTurn(state);
}

/** The server's own timer: neither of the vendor's signals arrived in time. */
export function onSilenceTimeout(state: TranscriptBuffer): TurnStep {
  return endTurn(state);
}

/** A new connection continues the stream's time; a caller who starts again counts from zero. */
function isAnswered(state: TranscriptBuffer, endMs: number): boolean {
  return endMs !== NOWHERE_MS && endMs <= state.answeredEndMs + WORD_END_TOLERANCE_MS;
}

function stay(state: TranscriptBuffer): TurnStep {
  const text = pendingText(state);
  return { state, words: text === "" ? 0 : wordCount(text) };
}

function endTurn(state: TranscriptBuffer): TurnStep {
  const turnText = pendingText(state);
  if (turnText === "") return { state, words: 0 };
  const answeredEndMs = state.interim === "" ? state.answeredEndMs : state.interimEndMs;
  const counts = withWords(state.finalLanguages, state.interimLanguage, state.interim);
  const [most] = Object.entries(counts).toSorted(([, one], [, other]) => other - one);
  return {
    state: { ...EMPTY_TRANSCRIPT_BUFFER, answeredEndMs },
    turnText,
    words: wordCount(turnText),
    ...(most !== undefined && { language: most[0] }),
  };
}

/** A vendor that reports a lower confidence was guessing. */
const LANGUAGE_CONFIDENCE_MIN = 0.6;

function certainLanguage({ language }: Transcript): string | undefined {
  const { code, confidence = 1 } = language ?? {};
  return confidence < LANGUAGE_CONFIDENCE_MIN ? undefined : code;
}

function withWords(
  counts: Readonly<Record<string, number>>,
  language: string | undefined,
  text: string,
): Readonly<Record<string, number>> {
  if (language === undefined || text === "") return counts;
  return { ...counts, [language]: (counts[language] ?? 0) + wordCount(text) };
}

function joined(first: string, second: string): string {
  if (first === "") return second;
  return second === "" ? first : `${first} ${second}`;
}
