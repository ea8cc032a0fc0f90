/** Decides when the caller's turn is over: open endings, dictated numbers and addresses, and how long the agent waits for more. */

import { agentEcho } from "./echo.js";
import type {
  CallerTurnEndedEvent,
  DeadlineReachedEvent,
  TranscriptEvent,
  UtteranceEndEvent,
} from "./events.js";
import { ENGLISH } from "./lexicon/en.js";
import type { Lexicon } from "./lexicon/language-lexicon.js";
import {
  COMPOSED_NUMBER,
  DATE_JOINTS,
  DAYS,
  DOUBLERS,
  GERMAN_DAY,
  isSameWords,
  JOINING_WORDS,
  LEAD_INS,
  LEXICONS,
  LIST_JOINTS,
  MAGNITUDES,
  MONTHS,
  NUMBER_JOINTS,
  REFUSALS,
  SPELLING_NAMES,
  SPELT_WORDS,
  spokenNumber,
  tablePhrases,
  tableWords,
} from "./lexicon.js";
import type { Continuation, EndOfTurnDecision, EndOfTurnWaitReason } from "./reasons.js";
import { type ConversationState, joinWords, turnOf } from "./state.js";
import { pendingText, wordCount } from "./transcript-buffer.js";

/** Only the last words show whether a sentence is open. */
const OPEN_TAIL_CHARACTERS = 80;

/** What leaves a sentence of a language open. */
interface OpenWords {
  readonly hesitations: readonly string[];
  /** Hesitations, and words that no sentence ends with. */
  readonly words: readonly string[];
  readonly connectives: readonly string[];
  readonly patterns: readonly RegExp[];
}

function openWordsOf({
  hesitations,
  openers,
  connectives,
  announcing,
  joining,
}: Lexicon): OpenWords {
  return {
    hesitations: tableWords(hesitations),
    words: [...tableWords(hesitations), ...tableWords(openers)],
    connectives: tablePhrases(connectives),
    patterns: [announcing, joining].filter((pattern) => pattern !== undefined),
  };
}

const ENGLISH_WORDS = openWordsOf(ENGLISH);
const LISTS = new Map(
  Object.entries(LEXICONS).flatMap(([language, lexicon]) =>
    lexicon.openers === undefined ? [] : [[language, openWordsOf(lexicon)]],
  ),
);
const UNSPACED = new Set(["ja", "zh"]);
/** STT that writes punctuation puts one of these marks where the voice has not fallen. */
const GOES_ON = /[\p{L}\p{N}]\s+\S*[\p{L}\p{N}]\s*(?:[,;:،、，–—-]|\.{2,}|…)$/u;

/**
 * Whether the caller seems to be thinking: the last word is a hesitation, or one that ends no sentence in that
 * language, or STT has written a mark after it that ends no sentence.
 */
export function isOpenEnded(text: string, language: string): boolean {
  const list = LISTS.get(language) ?? ENGLISH_WORDS;
  const tail = text.trim().slice(-OPEN_TAIL_CHARACTERS);
  if (GOES_ON.test(tail)) return true;
  // A question mark stays, so that a question is not open.
  const said = tail.replace(/[\s.,…。、，-]+$/u, "").toLowerCase();
  const sentence = said.slice(said.search(/[^.?!。？！]*$/u)).trim();
  if (list.patterns.some((pattern) => pattern.test(sentence))) return true;
  if (UNSPACED.has(language)) {
    return [...list.words, ...list.connectives].some((word) => said.endsWith(word));
  }
  const last = said.slice(said.lastIndexOf(" ") + 1);
  // A single word is an answer, unless it is only a sound: "well", "like" and "no" are words too.
  if (last === said) return HESITATION_ALONE.test(last);
  if (list.words.includes(last)) return true;
  // A question mark or an exclamation mark ends the text before it.
  if (!/[\p{L}\p{M}\p{N}]$/u.test(sentence)) return false;
  const clause = sentence.slice(sentence.lastIndexOf(",") + 1).trim();
  return isUnfinished(sentence, list) || (clause !== sentence && isUnfinished(clause, list));
}

/**
 * Without its hesitations the text ends with a connective, or matches one of the language's patterns for an
 * unfinished sentence.
 */
function isUnfinished(text: string, list: OpenWords): boolean {
  const plain = text.split(/[\s,;]+/).filter((word) => !list.hesitations.includes(word));
  const core = plain.join(" ");
  if (list.patterns.some((pattern) => pattern.test(core))) return true;
  return list.connectives.some((phrase) => core.endsWith(` ${phrase}`));
}

const HESITATION_ALONE = /^(?:u+h*m*|e+r*m*|e+h+m*|h+m+|ä+h*m*|ö+h*m*|e+u+h+|m{2,}|y{2,}|ı{2,})$/u;

/** Only the end of the words shows whether more will follow. */
const DICTATION_TAIL_CHARACTERS = 200;
/** This many dictated pieces in a row are a dictation, whatever the agent asked. */
const PIECES_WITHOUT_QUESTION = 4;
/** This many consecutive numbers are a run that may continue. */
const RUN_NUMBERS_MIN = 2;
/** "Seven thirty": an hour, and minutes that are said as one number. */
const HOUR_MAX = 24;
const MINUTES_MIN = 10;
const TEEN_MAX = 19;
/** The position of the last comma in a text. */
const LAST_COMMA = /[,;、，](?=[^,;、，]*$)/u;
/** A noun with its article is not longer. */
const NOUN_PIECES_MAX = 5;
/** How such a noun begins, where the words are no whole sentence. */
const NOUN_FIRST =
  /^(?:(?:and|so|und|also|et|alors|y|en|dus)\s)?(?:my|the|our|meine?|unsere?|mon|ma|notre|mi|nuestr[oa]|mijn|onze?)\s/iu;
/** The part of an e-mail address before its sign is hardly longer, with what people say before it. */
const MAIL_PIECES_MAX = 4;

/** Digits in any grouping, letters, a half address, what mixes letters and digits as an IBAN does. */
const SPELT_PIECE =
  /^(?:[+(]?\d[\d().:/-]*|\p{L}|\p{Lu}(?:-\p{Lu})+|\S*@\S*|[@._-]|\p{L}{1,3}\d[\p{L}\d-]*|\d+\p{Lu}{1,2}|\S*(?:[〇零一二三四五六七八九十百幺两]|ゼロ|キュー){2,}|\S*[\p{Script=Hiragana}\p{Script=Han}]\d{2,}|[〇零一二三四五六七八九]+)$/u;
const LETTER = /^\p{L}$/u;
/** A group of an IBAN: "NWBK". */
const CODE = /^(?!OK$)\p{Lu}{2,6}$/u;
/** "S as in Sam" is one letter. */
const LETTER_WITH_NAME =
  /(?<![\p{L}\p{N}])(\p{L})[ ,]+(?:as in|for|like|wie|comme|como|de|come|jak|als in)\s+\p{L}+/giu;

/** "On iki" is twelve, and "on" a word of other languages. */
const TURKISH_TEEN = /(?<!\p{L})on (bir|iki|üç|dört|beş|altı|yedi|sekiz|dokuz)(?!\p{L})/giu;

const SIGN = String.raw`(?:@|\s(?:at|arroba|arobase|chiocciola|małpa|klammeraffe|apenstaartje)\s)\s*`;
const STOP = String.raw`(?:\.|\b(?:dot|punto|point|punkt|ponto|kropka|nokta|punt)\s)\s*`;
const WHOLE_EMAIL = new RegExp(
  String.raw`${SIGN}\S.*?${STOP}(?:com|net|org|edu|gov|info|io|co|ai|app|dev|uk|us|ca|au|in|jp|cn|es|mx|ar|br|pt|fr|de|at|ch|it|nl|be|pl|tr|eu)[.!]?$`,
  "iu",
);
const HALF_EMAIL = new RegExp(String.raw`${SIGN}[\p{L}\p{N}-]+$`, "iu");
const SIGNED = new RegExp(SIGN, "iu");
/** "jane.doe", as a recognizer may write it. */
const STOP_INSIDE = /^[\p{L}\p{N}]+(?:[._][\p{L}\p{N}]+)+$/u;
const MAIL = /e-?mail|\bmail\b|courriel|correo|e-?posta|メール|邮箱|邮件|ईमेल/iu;
const POSTAL =
  /(?<![\p{L}\p{N}])(?:address|street|\p{L}+(?:adresse|anschrift|adres|adress)|adresse|anschrift|straße|direcci[oó]n|indirizzo|endereço|morada|adres|adresi|where do you live|where (?:should|shall|can|do) (?:we|i) (?:deliver|send|ship|bring)|wo wohnen sie|wohin (?:sollen|soll)|dónde vive|dove abita|onde mora|waar woont u)(?![\p{L}\p{N}])|où habitez|住所|地址|पता/iu;
const BIRTH =
  /date of birth|birth ?da(?:te|y)|\bborn\b|geburts(?:datum|tag)|geboren|date de naissance|fecha de nacimiento|data di nascita|data de nascimento|geboortedatum|data urodzenia|doğum|生年月日|出生日期|जन्म/iu;
/** The agent asks for a day. */
const DAY_ASKED =
  /(?<!\p{L})(?:dates?|what day|which day|when|datum|welche[nmr]? tag|wann|quel jour|quand|fecha|qué día|cuándo|che giorno|data|dia|quando|welke dag|wanneer|dzień|kiedy|tarih|hangi gün|ne zaman)(?!\p{L})|日付|何日|いつ|日期|哪天|什么时候|तारीख|कब/iu;
/** A date with its year is complete. */
const YEAR =
  /(?:^|[^\d])(?:19|20)\d\d[.!]?$|\b(?:nineteen|twenty)[ -](?:oh |hundred |zero )?[\p{L}-]+$|\btwo thousand(?: (?:and )?[\p{L}-]+)?$|(?:neunzehnhundert|zweitausend)\p{L}*$|\b(?:mil novecientos|dos mil|mille neuf cent|deux mille)(?: [\p{L}-]+)*$/iu;

/** The agent's last question asked for something that people dictate in pieces, or the caller announces it. */
const ASKED_FOR =
  /(?<![\p{L}\p{N}])(?:phone|telephone|mobile|cell|number|numbers|digits?|e-?mails?|address|spell|spelled|spelling|zip|post ?code|code|pin|card|iban|account|date of birth|reference|serial|id|plate|tracking|booking|policy|passport|cvv|cvc|vin|expiry|expiration|tel[eé]fono|n[uú]mero|correo|direcci[oó]n|deletre\w*|c[oó]digo|tarjeta|cuenta|fecha de nacimiento|t[eé]l[eé]phone|portable|num[eé]ro|courriel|adresse|[eé]pel\w*|carte|compte|date de naissance|telefonnummer|handynummer|rufnummer|kartennummer|nummer|buchstabier\w*|postleitzahl|konto\w*|geburtsdatum|telefono|carta|codice|conto|indirizzo|telefone|cart[aã]o|conta|endere[cç]o|telefoonnummer|kaart|rekening|spel|adres|numer|telefonu|karty|konta|numara\w*|telefon|kart|hesap)(?![\p{L}\p{N}])|番号|電話|号码|电话|नंबर|फ़ोन/iu;

/** The last part of compounds ("Kundennummer", "klantnummer", "asiakasnumero"), which says what the whole is. */
const COMPOUND_ASKED_FOR =
  /\p{L}(?:nummern?|nummers?|nummeret|numret|numero\p{L}{0,3}|numru|number|code|codes|kode|kod|koodi|zahl|ziffern?|cijfers?|siffror|kennung|zeichen|zeichens|kennwort|passwort|wachtwoord|adresse|adressen|adres|adress|konto|tunnus|karte|kaart|kort|kortet|szám\p{L}{0,3}|номер\p{L}{0,2}|код\p{L}{0,2})(?![\p{L}\p{N}])/iu;
const asksForPieces = (text: string): boolean =>
  ASKED_FOR.test(text) || COMPOUND_ASKED_FOR.test(text);

/**
 * Whether the caller seems to be in the middle of dictating a number, an e-mail or postal address, a date of birth or a
 * spelling, where a pause is not the end of the turn. `lastAssistantText` is what the agent said before, '' when nothing.
 */
export function isDictating(text: string, lastAssistantText: string): boolean {
  const said = text.trim().slice(-DICTATION_TAIL_CHARACTERS);
  const tail = said.replace(LETTER_WITH_NAME, "$1").replace(TURKISH_TEEN, "$1");
  // A question is complete, whatever numbers it contains.
  if (tail === "" || /[?？]$/.test(tail) || WHOLE_EMAIL.test(tail)) return false;
  const question = lastAssistantText.slice(-DICTATION_TAIL_CHARACTERS);
  const pieces = spokenPieces(tail);
  const asksMail = MAIL.test(question);
  if ((asksMail || MAIL.test(tail)) && isPartialEmailAddress(tail, pieces)) return true;
  const isAnswer = !pieces.some((piece) => REFUSALS.has(piece.toLowerCase()));
  if (isAnswer && asksMail && pieces.length <= MAIL_PIECES_MAX) return true;
  if (BIRTH.test(question)) return isHalfDate(tail, pieces);
  // A date that the agent did not ask for is complete with its year; something else may follow it.
  if (BIRTH.test(tail) && YEAR.test(tail)) return false;
  if (BIRTH.test(tail) && isHalfDate(tail, pieces)) return true;
  if (DAY_ASKED.test(question) && isHalfDay(pieces)) return true;
  if (isAnswer && !asksMail && POSTAL.test(question)) return true;
  if (isRow(pieces) || isNumberRun(pieces, tail)) return true;
  // Letters with spelling names ("S as in Sam") are a spelling, which may always continue.
  if (said.search(LETTER_WITH_NAME) >= 0 && LETTER.test(lastOf(pieces))) return true;
  return isAnnounced(tail, pieces) || isDictatedInPieces(pieces, tail, question);
}

/** "My membership number" and nothing else, or "my policy number starts with nine": the rest is still to come. */
function isAnnounced(tail: string, pieces: readonly string[]): boolean {
  if (!asksForPieces(tail)) return false;
  const isNoun = pieces.length <= NOUN_PIECES_MAX && NOUN_FIRST.test(tail);
  if (isNoun) return asksForPieces(lastOf(pieces));
  // "I do not have one" ends with a number too.
  return (spokenNumber(lastOf(pieces)) ?? 0) > 1;
}

/** Whether the text ends in several numbers one after the other, in words or digits, whatever was asked; a time of day is none. */
function isNumberRun(pieces: readonly string[], tail: string): boolean {
  const numbers: number[] = [];
  const words = pieces.map((piece) => piece.toLowerCase());
  const first = words.findLastIndex((word) => !isOfRun(word)) + 1;
  let isBehindTens = false;
  let isJoined = false;
  let isDoubled = false;
  for (const word of words.slice(first)) {
    const value = spokenNumber(word);
    if (value === undefined) {
      isBehindTens &&= NUMBER_JOINTS.has(word);
      isDoubled ||= DOUBLERS.has(word);
      isJoined ||= numbers.length > 0;
      continue;
    }
    const isRest = isBehindTens && value > 0 && value <= TEEN_MAX;
    if (!isRest) numbers.push(value, ...(isDoubled ? [value] : []));
    isDoubled = false;
    isBehindTens =
      !isRest && value > TEEN_MAX && value < 100 && value % 10 === 0 && !/\d/.test(word);
  }
  const isEnded = spokenNumber(words.at(-1) ?? "") !== undefined || isDoubled;
  const count = numbers.length + (isDoubled ? 1 : 0);
  const [hour = 0, minutes = 0] = numbers;
  const isTime = !isJoined && count === 2 && hour <= HOUR_MAX && minutes >= MINUTES_MIN;
  const behindComma = spokenPieces(tail.slice(tail.search(LAST_COMMA) + 1)).length;
  const hasComma = LAST_COMMA.test(tail) && behindComma < words.length - first;
  // "Six hundred, then": the next number is announced.
  if (hasComma && behindComma === 1 && !isEnded && LIST_JOINTS.has(words.at(-1) ?? "")) {
    return count > 0;
  }
  return isEnded && count >= RUN_NUMBERS_MIN && (!isTime || hasComma);
}

const isOfRun = (word: string): boolean =>
  spokenNumber(word) !== undefined ||
  LIST_JOINTS.has(word) ||
  NUMBER_JOINTS.has(word) ||
  MAGNITUDES.has(word) ||
  DOUBLERS.has(word);

function isPartialEmailAddress(tail: string, pieces: readonly string[]): boolean {
  if (HALF_EMAIL.test(tail)) return true;
  if (JOINING_WORDS.has(lastOf(pieces))) return true;
  // "Jane dot doe" is a name, whose host is still to come.
  const isName = pieces.slice(1).some((piece) => JOINING_WORDS.has(piece.toLowerCase()));
  return !SIGNED.test(tail) && (isName || STOP_INSIDE.test(lastOf(pieces)));
}

function isHalfDate(tail: string, pieces: readonly string[]): boolean {
  const last = lastOf(pieces);
  const isOfDate = isSpelt(last) || MONTHS.has(last) || DATE_JOINTS.has(last) || isDay(last);
  return isOfDate && !YEAR.test(tail);
}

/** "The fifth" before its month, or a month alone before its day. For an appointment people do not say the year. */
function isHalfDay(pieces: readonly string[]): boolean {
  const last = lastOf(pieces);
  if (DATE_JOINTS.has(last)) return true;
  if (pieces.some((piece) => MONTHS.has(piece.toLowerCase()))) return pieces.length === 1;
  const isAfterJoint = DATE_JOINTS.has(lastOf(pieces.slice(0, -1)));
  return isDay(last) || (isAfterJoint && isSpelt(last));
}

const isDay = (word: string): boolean =>
  DAYS.has(word) || GERMAN_DAY.test(word) || /^\d+(?:st|nd|rd|th)$/.test(word);

/** The pieces or digits at the end are enough to be a dictation by themselves, or an address that continues. */
function isRow(pieces: readonly string[]): boolean {
  const { run, digits } = rowAtEnd(pieces, isSpelt);
  if (run >= PIECES_WITHOUT_QUESTION || digits >= PIECES_WITHOUT_QUESTION) return true;
  return run > 1 && JOINING_WORDS.has(lastOf(pieces));
}

function isDictatedInPieces(given: readonly string[], tail: string, question: string): boolean {
  const pieces = given.filter((piece, at) => !isInsideNumber(piece, at, given));
  const isAsked = asksForPieces(question);
  const isPiece = (piece: string) =>
    isSpelt(piece) || (isAsked && (SPELLING_NAMES.has(piece.toLowerCase()) || CODE.test(piece)));
  const { run, digits } = rowAtEnd(pieces, isPiece);
  // "I do not have one" ends with a word of numbers too.
  if (run > 1 || digits > 0) return isAsked || asksForPieces(tail);
  const lead = pieces.slice(0, pieces.length - run);
  return isAsked && run > 0 && lead.every((piece) => LEAD_INS.has(piece.toLowerCase()));
}

/** The "et" of "vingt et un". */
function isInsideNumber(piece: string, at: number, pieces: readonly string[]): boolean {
  if (!NUMBER_JOINTS.has(piece.toLowerCase())) return false;
  const [before, after] = [pieces[at - 1], pieces[at + 1]];
  return before !== undefined && after !== undefined && isSpelt(before) && isSpelt(after);
}

function rowAtEnd(
  pieces: readonly string[],
  isPiece: (piece: string) => boolean,
): { readonly run: number; readonly digits: number } {
  const run = pieces.length - 1 - pieces.findLastIndex((piece) => !isPiece(piece));
  return { run, digits: run === 0 ? 0 : digitCount(pieces.slice(-run)) };
}

function spokenPieces(text: string): string[] {
  return text
    .split(/[\s,;、，]+/)
    .map((piece) => piece.replace(/[.!?。]+$/, ""))
    .filter((piece) => piece !== "");
}

const lastOf = (pieces: readonly string[]): string => pieces.at(-1)?.toLowerCase() ?? "";

const isSpelt = (piece: string): boolean =>
  SPELT_PIECE.test(piece) || SPELT_WORDS.has(piece.toLowerCase()) || COMPOSED_NUMBER.test(piece);

function digitCount(pieces: readonly string[]): number {
  return pieces.join("").replace(/\D/g, "").length;
}

/** After interim words, or a voice without words, STT has this long to return final ones. */
export const UNSETTLED_MAX_MS = 3_000;
/** A noise that sounds like a voice keeps a turn open for at most this long after its last words. */
const VOICE_WITHOUT_WORDS_MAX_MS = 8_000;
/** STT may return words this long after a voice; some STTs only get the audio when the voice has ended. */
const WORDS_AFTER_VOICE_MAX_MS = 3_000;

/** This many consecutive turns that end with a mark show that the STT writes punctuation. */
const MARKED_TURNS_MIN = 2;
/** Shorter turns often have no punctuation. */
const UNMARKED_WORDS_MIN = 3;
const ENDING_MARK = /[.!?。！？؟।][\s"'”’»)」』]*$/u;
/** An STT counts as slow when its words arrive this long after they ended; a quick one needs its endpointing and a network. */
const SLOW_WORDS_MIN_MS = 1_000;
/**
 * No STT is later than this, including the replay on a second connection; a longer delay belongs to other words,
 * as after a gap in the audio.
 */
const SLOW_WORDS_MAX_MS = 8_000;
/** A voice fades after the last word for less than this. */
const UNREPORTED_VOICE_MIN_MS = 700;
/** Words of a voice after the newest words have about the same delay as those. */
const WORDS_DUE_MARGIN_MS = 500;

/** The signal that the end of the caller's turn is decided on. */
export type EndOfTurnSignal =
  /** New words, which end nothing: sets how long a silence has to be. */
  | { readonly type: "words"; readonly event: TranscriptEvent; readonly text: string }
  /** The STT reports a silence with its newest words. */
  | { readonly type: "endpointing"; readonly event: TranscriptEvent }
  /** The STT reports that it heard no word for a while. */
  | { readonly type: "utteranceEnd"; readonly event: UtteranceEndEvent }
  /** The turn detection of the STT says that the turn is over. */
  | { readonly type: "vendor"; readonly event: CallerTurnEndedEvent }
  /** The server's own timer. */
  | { readonly type: "timer"; readonly event: DeadlineReachedEvent };

/** Whether the caller's turn is over, and why; if not, when to decide again. */
export function decideEndOfTurn(
  state: ConversationState,
  signal: EndOfTurnSignal,
): EndOfTurnDecision {
  switch (signal.type) {
    case "words":
      return decideOnWords(state, signal.event, signal.text);
    case "endpointing":
      return decideOnEndpointing(state, signal.event);
    case "utteranceEnd":
      return decideOnUtteranceEnd(state, signal.event);
    case "vendor":
      return decideOnTurnDetection(state, signal.event);
    case "timer":
      return decideOnTimer(state, signal.event);
  }
}

function decideOnWords(
  state: ConversationState,
  event: TranscriptEvent,
  text: string,
): EndOfTurnDecision {
  const { settings } = state;
  const { undecidedMaxMs: maxMs } = state.user;
  const { atMs } = event;
  if (maxMs !== undefined) return waitFor("turnDetection", atMs + undecidedLeftMs(event, maxMs));
  if (!event.isFinal) {
    return waitFor("interim", atMs + Math.max(UNSETTLED_MAX_MS, settings.silenceTimeoutMs));
  }
  const continuation = continuationOf(state, text);
  return waitFor(continuation ?? "silence", atMs + pauseMs(state, continuation));
}

/**
 * The STT's endpointing mark in the middle of a dictation or of a sentence is a pause, not an end; the timer
 * decides.
 */
function decideOnEndpointing(state: ConversationState, event: TranscriptEvent): EndOfTurnDecision {
  const { atMs, endedAgoMs } = event;
  // The newest interim result is in the event's own words.
  const text = joinWords(state.user.hearing.finals, event.text);
  if (text === "") return { isDone: true, reason: "endpointing" };
  const delayMs = sttDelayMs(state, event);
  const user = { ...state.user, endedAtMs: atMs - endedAgoMs, sttDelayMs: delayMs };
  const said = { ...state, user };
  const continuation = continuationOf(said, text);
  if (continuation !== undefined) {
    return waitFor(continuation, user.endedAtMs + pauseMs(state, continuation));
  }
  const lateMs = unreportedVoiceMs(said, event);
  if (lateMs >= 1) return waitFor("lateWords", atMs + lateMs);
  return { isDone: true, reason: "endpointing" };
}

/** The STT's utterance end (no word for a while) may arrive before the caller can be done. */
function decideOnUtteranceEnd(
  state: ConversationState,
  event: UtteranceEndEvent,
): EndOfTurnDecision {
  const text = pendingText(state.user.hearing);
  const continuation = continuationOf(state, text);
  const openMs = continuation === undefined ? 0 : pauseMs(state, continuation) - event.endedAgoMs;
  const lateMs = text === "" ? 0 : unreportedVoiceMs(state, event);
  const leftMs = Math.max(openMs, lateMs);
  if (leftMs <= 0) return { isDone: true, reason: "utteranceEnd" };
  const reason = continuation !== undefined && openMs >= lateMs ? continuation : "lateWords";
  return waitFor(reason, event.atMs + leftMs);
}

/** A late STT may have ended the first of two sentences without having heard the second. */
function decideOnTurnDetection(
  state: ConversationState,
  event: CallerTurnEndedEvent,
): EndOfTurnDecision {
  const lateMs = unreportedVoiceMs(state, event);
  if (lateMs < 1 || pendingText(state.user.hearing) === "")
    return { isDone: true, reason: "vendor" };
  return waitFor("lateWords", event.atMs + lateMs);
}

/** The VAD may hear a voice that STT has returned no words for: the turn waits for the end of that voice. */
function decideOnTimer(
  state: ConversationState,
  { atMs, voiceAgoMs }: DeadlineReachedEvent,
): EndOfTurnDecision {
  const text = pendingText(state.user.hearing);
  const continuation = text === "" ? undefined : continuationOf(state, text);
  if (text !== "" && voiceAgoMs !== undefined) {
    const openMs = state.user.endedAtMs + VOICE_WITHOUT_WORDS_MAX_MS - atMs;
    const isUntold = state.user.voicedAtMs > state.user.endedAtMs;
    const wordsMs = isUntold ? WORDS_AFTER_VOICE_MAX_MS : 0;
    const silenceMs = Math.max(pauseMs(state, continuation), wordsMs);
    const quietMs = (state.user.undecidedMaxMs ?? silenceMs) - voiceAgoMs;
    const speakingMs = Math.min(quietMs, openMs);
    const lateMs = unreportedVoiceMs(state, { atMs, voiceAgoMs });
    const leftMs = Math.max(speakingMs, lateMs);
    if (leftMs >= 1) {
      return waitFor(speakingMs >= lateMs ? "stillSpeaking" : "lateWords", atMs + leftMs);
    }
  }
  if (state.user.undecidedMaxMs !== undefined) return { isDone: true, reason: "vendorTimeout" };
  if (state.user.hearing.interim !== "") return { isDone: true, reason: "interimTimeout" };
  if (continuation === undefined) return { isDone: true, reason: "silenceTimeout" };
  return { isDone: true, reason: "maxEndpointingDelay", waitedFor: continuation };
}

function waitFor(reason: EndOfTurnWaitReason, recheckAtMs: number): EndOfTurnDecision {
  return { isDone: false, reason, recheckAtMs };
}

/** How long a silence has to be to end the caller's turn, if STT has not ended it. */
function pauseMs({ settings }: ConversationState, continuation: Continuation | undefined): number {
  const { silenceTimeoutMs, maxEndpointingDelayMs } = settings;
  return continuation === undefined
    ? silenceTimeoutMs
    : Math.max(maxEndpointingDelayMs, silenceTimeoutMs);
}

/**
 * How long to wait for the words of a voice that came after the newest words, from a slow STT: without them the
 * agent would answer half a sentence.
 */
function unreportedVoiceMs(
  state: ConversationState,
  { atMs, voiceAgoMs }: { readonly atMs: number; readonly voiceAgoMs?: number | undefined },
): number {
  const turn = turnOf(state);
  const { endedAtMs, sttDelayMs: delayMs } = state.user;
  // The voice may be the agent's own, from the caller's loudspeaker.
  const isSpeaking = turn !== undefined && atMs < turn.ledger.endsAtMs;
  const isSlow = delayMs >= SLOW_WORDS_MIN_MS && delayMs <= SLOW_WORDS_MAX_MS;
  if (voiceAgoMs === undefined || !isSlow || isSpeaking) return 0;
  const voicedAtMs = atMs - voiceAgoMs;
  if (voicedAtMs - endedAtMs < UNREPORTED_VOICE_MIN_MS) return 0;
  const openUntilMs = endedAtMs + delayMs + VOICE_WITHOUT_WORDS_MAX_MS;
  return Math.min(voicedAtMs + delayMs + WORDS_DUE_MARGIN_MS, openUntilMs) - atMs;
}

/**
 * The STT's delay for its newest words, counted from when it received their audio: audio that a vendor sends ahead
 * of real time is not a delay of the STT.
 */
export function sttDelayMs(state: ConversationState, event: TranscriptEvent): number {
  if (!isNewTranscript(state, event)) return state.user.sttDelayMs;
  return Math.min(event.endedAgoMs, event.arrivedAgoMs ?? event.endedAgoMs);
}

/**
 * Whether the event has other words than the newest interim result: a final result of the same words shows nothing
 * about their delay.
 */
function isNewTranscript(
  { user: { hearing } }: ConversationState,
  { text }: TranscriptEvent,
): boolean {
  return text !== "" && !isSameWords(hearing.interim, text);
}

/** Whether more words are expected after these. */
export function predictsContinuation(state: ConversationState, text: string): boolean {
  return continuationOf(state, text) !== undefined;
}

/** The agent's own words, returned as an echo, are not a sentence that the caller left open. */
function continuationOf(state: ConversationState, text: string): Continuation | undefined {
  const continuation = openBy(state, text);
  return continuation !== undefined && agentEcho(state, text) === "none" ? continuation : undefined;
}

function openBy(state: ConversationState, text: string): Continuation | undefined {
  if (isDictating(text, lastSaidByAssistant(state))) return "dictating";
  if (isOpenEnded(text, state.settings.language)) return "openEnded";
  return lacksMark(state, text) ? "missingPunctuation" : undefined;
}

/** STT has ended all earlier turns of the caller with punctuation, but not these words. */
function lacksMark({ record: { history } }: ConversationState, text: string): boolean {
  if (ENDING_MARK.test(text) || wordCount(text) < UNMARKED_WORDS_MIN) return false;
  const said = history.filter(({ role }) => role === "user").slice(-MARKED_TURNS_MIN);
  return said.length === MARKED_TURNS_MIN && said.every(({ content }) => ENDING_MARK.test(content));
}

function lastSaidByAssistant(state: ConversationState): string {
  return state.record.history.findLast((message) => message.role === "assistant")?.content ?? "";
}

/** The default of Deepgram Flux; the other STTs end a turn sooner. */
const TURN_SILENCE_MAX_MS = 5_000;
/** The vendor's end of turn arrives within this time. */
const ON_ITS_WAY_MAX_MS = 1_500;
/** New words may come from a caller whom only STT hears: the turn waits for more of them. */
const NEW_WORDS_MIN_MS = 3_000;

/** After this much silence an STT with turn detection has failed to end the turn; undefined for an STT without it. */
export function undecidedMaxMs(event: TranscriptEvent): number | undefined {
  if (event.hasTurnDetection !== true) return undefined;
  return (event.turnSilenceMaxMs ?? TURN_SILENCE_MAX_MS) + ON_ITS_WAY_MAX_MS;
}

/** An STT with turn detection reports turns several times per second, also during silence. */
export function isRepeated(
  { user: { hearing } }: ConversationState,
  event: TranscriptEvent,
): boolean {
  if (event.hasTurnDetection !== true || event.isFinal || hearing.interim === "") return false;
  return isSameWords(hearing.interim, event.text);
}

/** How long the words of an STT with turn detection may stay the last of their turn. */
export function undecidedLeftMs(event: TranscriptEvent, maxMs: number): number {
  const isTimed = event.lastWordEndMs !== undefined;
  const quietMs = isTimed ? event.endedAgoMs : (event.voiceAgoMs ?? 0);
  return Math.max(NEW_WORDS_MIN_MS, maxMs - quietMs);
}

/** An STT with turn detection has returned words of a turn that it has not ended. */
export function isUndecided({
  user: { undecidedMaxMs: maxMs, hearing },
}: ConversationState): boolean {
  return maxMs !== undefined && pendingText(hearing) !== "";
}
